/** No refusal that passes asks for a longer wait than this, in seconds. */
const LONGEST_S = 30;
/** Half of it is drawn: where all wait for the longest time, they still come back one by one. */
const DRAWN_MAX_S = LONGEST_S / 2;
/** Short waits are spread over so much: a `Retry-After` has whole seconds. */
const DRAWN_MIN_S = 2;

/**
 * Whole seconds for `Retry-After`, from `leastS` to 30: no less than `waitS` asks for, while that is no more than 15,
 * and a random part of at most as much again.
 *
 * @param random  uniform, 0 to 1
 */
export function jittered(
  waitS: number,
  { random, leastS = 1 }: { readonly random: () => number; readonly leastS?: number },
): number {
  const firstS = Math.max(leastS - 1, Math.min(waitS, DRAWN_MAX_S));
  const drawnS = random() * Math.min(DRAWN_MAX_S, Math.max(DRAWN_MIN_S, firstS));
  return Math.min(Math.max(LONGEST_S, leastS), 1 + Math.floor(firstS + drawnS));
}
