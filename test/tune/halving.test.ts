import t from 'tap';
import { affordable, halve } from '#acuity/tune/halving.js';

/** Candidates are numbers, the higher the better; measuring takes exactly its trial on a clock of our own. */
function search(candidates: readonly number[], endMs: number, tookOf = (trialMs: number) => trialMs) {
  let nowMs = 0;
  const trials: [number, number][] = [];
  return {
    trials,
    rounds: halve<number, number>({
      candidates,
      endMs,
      nowMs: () => nowMs,
      async measure(candidate, trialMs) {
        trials.push([candidate, trialMs]);
        nowMs += tookOf(trialMs);
        return candidate;
      },
      compare: (a, b) => b - a,
    }),
  };
}

t.test('the better half goes on, for twice as long, until the best is left', async (t) => {
  const { trials, rounds } = search([3, 8, 1, 6, 2, 7, 4, 5], 2400);
  const order = (await rounds).map((trials) => trials.map(({ candidate }) => candidate));
  t.strictSame(order, [
    [8, 7, 6, 5, 4, 3, 2, 1],
    [8, 7, 6, 5],
    [8, 7],
  ]);
  t.strictSame(
    trials.map(([, trialMs]) => trialMs),
    [...Array.from({ length: 8 }, () => 100), ...Array.from({ length: 4 }, () => 200), 400, 400],
  );
});

t.test(
  'the time is kept when a measurement overruns: the remaining candidates of that round are out',
  async (t) => {
    const { trials, rounds } = search([1, 2, 3, 4], 400, () => 150);
    const first = (await rounds)[0] ?? [];
    t.strictSame(
      first.map(({ candidate }) => candidate),
      [2, 1],
    );
    t.ok(trials.length <= 4);
  },
);

t.test('nothing is begun without time', async (t) => {
  t.strictSame(await search([1, 2], 0).rounds, []);
});

t.test('one candidate is measured once', async (t) => {
  t.strictSame(await search([5], 100).rounds, [[{ candidate: 5, result: 5 }]]);
});

t.test('only so many candidates are taken on as get a trial worth having', async (t) => {
  t.equal(affordable(12, 1_000_000, 1000), 12);
  t.equal(affordable(12, 8000, 1000), 4);
  t.equal(affordable(12, 10, 1000), 1);
});
