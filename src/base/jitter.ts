/** Waits of refusals, spread at random. */

/** Upper bound for the wait of a temporary refusal, in seconds. */
const LONGEST_S = 30;
/** Half of it is random, so that even callers with the longest wait come back spread out. */
const DRAWN_MAX_S = LONGEST_S / 2;
/** Short waits are spread over this many seconds, since `Retry-After` has whole seconds. */
const DRAWN_MIN_S = 2;

/**
 * Whole seconds for `Retry-After`, from `leastS` to 30: at least `waitS` (as long as that is at most 15), plus a
 * random part of at most the same size.
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
