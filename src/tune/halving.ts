/** Successive halving: the search for the best of many candidates. */

/** The result of one candidate in one round. */
export interface Trial<C, R> {
  readonly candidate: C;
  readonly result: R;
}

export interface Halving<C, R> {
  readonly candidates: readonly C[];
  /** On the clock of `nowMs`; no measurement starts after it. */
  readonly endMs: number;
  nowMs(): number;
  /** Called before each round, which counts from 1. */
  begin(round: number, planned: number, candidates: number): void;
  /** Takes about `trialMs`, start and stop included. */
  measure(candidate: C, trialMs: number): Promise<R>;
  /** Negative if the first is better. */
  compare(a: R, b: R): number;
}

/**
 * Successive halving: every candidate is measured briefly, the better half continues and is measured for twice as
 * long, until one is left. Each round gets an equal share of the time. A candidate that a round has no time for is
 * out.
 * @returns the rounds, each with its trials, best first; the winner is the first of the last round
 */
export async function halve<C, R>(search: Halving<C, R>): Promise<Trial<C, R>[][]> {
  const { candidates, endMs, nowMs, compare } = search;
  const rounds: Trial<C, R>[][] = [];
  const planned = roundsFor(candidates.length);
  let field = [...candidates];
  while (rounds.length < planned && nowMs() < endMs) {
    search.begin(rounds.length + 1, planned, field.length);
    const roundEndMs = nowMs() + (endMs - nowMs()) / (planned - rounds.length);
    const trials = await roundOf(search, field, roundEndMs);
    if (trials.length === 0) break;
    trials.sort((a, b) => compare(a.result, b.result));
    rounds.push(trials);
    field = trials.slice(0, Math.ceil(field.length / 2)).map(({ candidate }) => candidate);
  }
  return rounds;
}

async function roundOf<C, R>(
  search: Halving<C, R>,
  field: readonly C[],
  endMs: number,
): Promise<Trial<C, R>[]> {
  const trials: Trial<C, R>[] = [];
  for (const [index, candidate] of field.entries()) {
    const leftMs = endMs - search.nowMs();
    if (leftMs <= 0) break;
    trials.push({ candidate, result: await search.measure(candidate, leftMs / (field.length - index)) });
  }
  return trials;
}

/** The most candidates, up to `count`, whose first trial still lasts `trialMs`. */
export function affordable(count: number, budgetMs: number, trialMs: number): number {
  let most = count;
  while (most > 1 && budgetMs / roundsFor(most) / most < trialMs) most--;
  return most;
}

function roundsFor(count: number): number {
  return Math.max(1, Math.ceil(Math.log2(count)));
}
