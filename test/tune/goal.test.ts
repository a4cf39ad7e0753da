import t from 'tap';
import { compareOutcomes, judge, p99Words, type Goal, type Outcome } from '#acuity/tune/goal.js';

const THROUGHPUT: Goal = { name: 'throughput', p99Ms: undefined };
const outcome = (perSecond: number, p99Ms = 10, errors = 0): Outcome => ({ perSecond, p99Ms, errors });
const best = (goal: Goal, ...outcomes: Outcome[]) =>
  outcomes.toSorted((a, b) => compareOutcomes(goal, a, b))[0];

t.test('the goal orders: throughput, or the 99th percentile', async (t) => {
  t.strictSame(best(THROUGHPUT, outcome(100, 1), outcome(200, 9)), outcome(200, 9));
  t.strictSame(best({ ...THROUGHPUT, name: 'latency' }, outcome(100, 1), outcome(200, 9)), outcome(100, 1));
});

t.test('beyond the limit only being less late counts; faults come last', async (t) => {
  const goal: Goal = { name: 'throughput', p99Ms: 5 };
  t.strictSame(best(goal, outcome(900, 6), outcome(100, 5)), outcome(100, 5));
  t.strictSame(best(goal, outcome(900, 9), outcome(100, 8)), outcome(100, 8));
  t.strictSame(best(goal, outcome(900, 1, 1), outcome(100, 8)), outcome(100, 8));
});

t.test('a winner is recommended only if every pair agrees', async (t) => {
  const defaults = [outcome(100), outcome(100), outcome(100)];
  const clear = judge(THROUGHPUT, { winner: [outcome(120), outcome(105), outcome(130)], defaults });
  t.equal(clear.recommends, 'winner');
  const within = judge(THROUGHPUT, { winner: [outcome(120), outcome(99), outcome(130)], defaults });
  t.equal(within.recommends, 'defaults');
  t.match(
    within.sentence,
    /^The defaults are as good: the difference lies within the spread: 1.20 × \(0.99–1.30\)/,
  );
  const worse = judge(THROUGHPUT, { winner: [outcome(90), outcome(99), outcome(80)], defaults });
  t.match(worse.sentence, /^The defaults are better/);
});

t.test('too few pairs, faults and a missed limit leave the defaults', async (t) => {
  const pair = { winner: [outcome(200), outcome(200)], defaults: [outcome(100), outcome(100)] };
  t.match(judge(THROUGHPUT, pair).sentence, /^Too few pairs/);
  t.match(judge(THROUGHPUT, { winner: [], defaults: [] }).sentence, /no time left/);
  const faulty = { winner: [outcome(200, 1, 3)], defaults: [outcome(100)] };
  t.equal(judge(THROUGHPUT, faulty).recommends, 'defaults');
  const late = {
    winner: [1, 2, 3].map(() => outcome(200, 20)),
    defaults: [1, 2, 3].map(() => outcome(100, 5)),
  };
  t.equal(judge({ ...THROUGHPUT, p99Ms: 10 }, late).recommends, 'defaults');
});

t.test('without answers there is no p99', async (t) => {
  t.equal(p99Words(12.34), 'p99 12.3 ms');
  for (const none of [NaN, Infinity]) t.equal(p99Words(none), 'no p99');
});
