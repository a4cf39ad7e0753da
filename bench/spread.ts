import { busyMachine, spreadOf, type Spread } from '#acuity/tune/load/statistics.js';

/** How runs interleave, and how ratios and spreads are made of them: the same for every command. */

/**
 * Measures every case once, then again, so many times: a slow minute of the machine slows all of them. The results of a
 * case stand in the order of its repetitions.
 */
export async function interleaved<Case, Result>(
  cases: readonly Case[],
  repetitions: number,
  measure: (one: Case, repetition: number) => Promise<Result>,
): Promise<Map<Case, Result[]>> {
  const results = new Map(cases.map((one): [Case, Result[]] => [one, []]));
  for (let repetition = 1; repetition <= repetitions; repetition++) {
    for (const [one, into] of results) into.push(await measure(one, repetition));
  }
  return results;
}

/** The ratio of `ours` to `theirs`, each repetition with the one beside it; undefined where one side was not measured. */
export function ratioOf<Result>(
  ours: readonly Result[],
  theirs: readonly Result[],
  valueOf: (result: Result) => number,
): Spread | undefined {
  return comparedBy(ours, theirs, (one, other) => valueOf(one) / valueOf(other));
}

/** The same for any comparison of two results measured side by side. */
export function comparedBy<Result>(
  ours: readonly Result[],
  theirs: readonly Result[],
  compare: (one: Result, other: Result) => number,
): Spread | undefined {
  if (ours.length === 0 || ours.length !== theirs.length) return undefined;
  return spreadOf(
    ours.map((one, place) => {
      const other = theirs[place];
      return other === undefined ? NaN : compare(one, other);
    }),
  );
}

/** "median (least–most)"; a dash if a value is missing. */
export function spread(values: readonly number[], digits: number): string {
  if (values.length === 0 || values.some((value) => !Number.isFinite(value))) return '–';
  return spreadText(spreadOf(values), digits);
}

export function spreadText({ median, min, max }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
}

/** Calls only what every repetition agrees on a difference. */
export function differenceWords({ min, max }: Pick<Spread, 'min' | 'max'>): string {
  if (max < 1) return 'less, in every repetition';
  return min > 1 ? 'more, in every repetition' : 'no difference beyond the spread';
}

/**
 * Why figures decide nothing: one repetition has no spread, or the machine did other work before them (its load average
 * of one minute). Undefined if they may decide.
 */
export function whyNoVerdict(repetitions: number, busy = busyMachine()): string | undefined {
  if (repetitions < 2) return 'No verdict: one repetition shows no spread; --repetitions asks for more.';
  return (
    busy && `No verdict: before the first measurement ${busy}; measure when the machine does nothing else.`
  );
}
