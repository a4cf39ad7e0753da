import t from 'tap';
import { readConfig } from '#acuity/config/options.js';
import { candidatesFor, defaultsFor, environmentOf, nameOf, thinned } from '#acuity/tune/candidates.js';
import { compareOutcomes, judge, p99Words, type Goal, type Outcome } from '#acuity/tune/goal.js';
import { busyMachine } from '#acuity/tune/load/statistics.js';
import { affordable, halve } from '#acuity/tune/halving.js';
import { blockOf, type TuneFindings } from '#acuity/tune/report.js';

t.test('the defaults come first, none twice, every one a configuration that the service takes', async (t) => {
  for (const cores of [1, 2, 3, 8, 64]) {
    const candidates = candidatesFor(cores);
    t.strictSame(candidates[0], defaultsFor(cores));
    t.equal(new Set(candidates.map(nameOf)).size, candidates.length);
    const machine = { cores, descriptors: 1024, workingDir: '/', packageDir: '/' };
    for (const candidate of candidates)
      t.ok(readConfig(environmentOf(candidate), machine).ok, nameOf(candidate));
    t.match(readConfig({}, machine), { ok: true, config: defaultsFor(cores) }, 'those of the configuration');
  }
  t.strictSame([thinned([0, 1, 2, 3, 4, 5, 6, 7], 4).length, thinned([0, 1, 2, 3, 4, 5, 6], 3)[0]], [4, 0]);
  t.strictSame(thinned([0, 1], 5), [0, 1]);
});

/** Candidates are numbers, the higher the better; measuring takes exactly its trial on a clock of our own. */
async function search(candidates: readonly number[], endMs: number, tookOf = (trialMs: number) => trialMs) {
  let nowMs = 0;
  const trials: number[] = [];
  const begun: string[] = [];
  const rounds = await halve<number, number>({
    candidates,
    endMs,
    nowMs: () => nowMs,
    begin: (round, planned, count) => void begun.push(`${round} of ${planned}: ${count}`),
    async measure(candidate, trialMs) {
      trials.push(trialMs);
      nowMs += tookOf(trialMs);
      return candidate;
    },
    compare: (a, b) => b - a,
  });
  return { begun, trials, rounds: rounds.map((round) => round.map(({ candidate }) => candidate)) };
}

t.test('the better half goes on for twice as long, and the time is kept', async (t) => {
  const { begun, trials, rounds } = await search([3, 8, 1, 6, 2, 7, 4, 5], 2400);
  t.strictSame(begun, ['1 of 3: 8', '2 of 3: 4', '3 of 3: 2']);
  t.strictSame(rounds, [
    [8, 7, 6, 5, 4, 3, 2, 1],
    [8, 7, 6, 5],
    [8, 7],
  ]);
  t.strictSame(trials, [...Array<number>(8).fill(100), ...Array<number>(4).fill(200), 400, 400]);
  const late = await search([1, 2, 3, 4], 400, () => 150);
  t.strictSame(late.rounds[0], [2, 1], 'of an overrun the remaining candidates are out');
  t.ok(late.trials.length <= 4);
  t.strictSame((await search([1, 2], 0)).rounds, [], 'nothing is begun without time');
  t.strictSame((await search([5], 100)).rounds, [[5]]);
  t.strictSame([affordable(12, 1e6, 1000), affordable(12, 8000, 1000), affordable(12, 10, 1000)], [12, 4, 1]);
});

const THROUGHPUT: Goal = { p99Ms: undefined };
const outcome = (perSecond: number, p99Ms = 10, errors = 0): Outcome => ({ perSecond, p99Ms, errors });
const three = (one: Outcome) => [one, one, one];

t.test('the goal orders: throughput; beyond its limit being less late; faults last', async (t) => {
  const bounded: Goal = { p99Ms: 5 };
  for (const [goal, best, other] of [
    [THROUGHPUT, outcome(200, 9), outcome(100, 1)],
    [bounded, outcome(100, 5), outcome(900, 6)],
    [bounded, outcome(100, 8), outcome(900, 9)],
    [bounded, outcome(100, 8), outcome(900, 1, 1)],
  ] as const)
    t.strictSame([other, best].toSorted((a, b) => compareOutcomes(goal, a, b))[0], best);
});

t.test('a winner is recommended only if every pair agrees', async (t) => {
  const defaults = three(outcome(100));
  const of = (...perSecond: number[]) =>
    judge(THROUGHPUT, { winner: perSecond.map((one) => outcome(one)), defaults });
  t.equal(of(120, 105, 130).recommends, 'winner');
  t.equal(of(120, 99, 130).recommends, 'defaults');
  t.match(of(120, 99, 130).sentence, /^The defaults are as good: .* within the spread: 1.20 × \(0.99–1.30\)/);
  t.match(of(90, 99, 80).sentence, /^The defaults are better/);
  t.match(judge(THROUGHPUT, { winner: [outcome(200)], defaults: [outcome(100)] }).sentence, /^Too few pairs/);
  t.match(judge(THROUGHPUT, { winner: [], defaults: [] }).sentence, /^Too few pairs [^:]*\.$/);
  const faulty = { winner: three(outcome(200, 1, 3)), defaults };
  t.equal(judge(THROUGHPUT, faulty).recommends, 'defaults');
  const late = { winner: three(outcome(200, 20)), defaults: three(outcome(100, 5)) };
  t.match(judge({ p99Ms: 10 }, late), { recommends: 'defaults', sentence: /p99 within 10 ms first/ });
  t.equal(judge({ p99Ms: 10 }, { winner: late.defaults, defaults: late.winner }).recommends, 'winner');
  for (const both of [
    { winner: three(outcome(200, 1, 1)), defaults: three(outcome(100, 1, 1)) },
    { winner: three(outcome(200, 11)), defaults: three(outcome(100, 12)) },
  ])
    t.match(judge({ p99Ms: 10 }, both), {
      recommends: 'defaults',
      sentence: /^The setting that was found is better, but/,
    });
  t.strictSame([12.34, NaN, Infinity].map(p99Words), ['p99 12.3 ms', 'no p99', 'no p99']);
});

const DEFAULTS = {
  httpThreads: 1,
  workers: 1,
  intraOpThreads: 1,
  interOpThreads: 1,
  spinning: false,
  batchMax: 32,
};
const FOUND = { ...DEFAULTS, httpThreads: 2, workers: 2 };

/** Invented findings: no measurement. */
const FINDINGS: TuneFindings = {
  goal: { p99Ms: 20 },
  busy: undefined,
  rounds: [
    [
      { candidate: FOUND, result: { ...outcome(120, 9), generatorBusy: 0.5 } },
      { candidate: DEFAULTS, result: { ...outcome(100, 8), generatorBusy: 0.5 } },
    ],
  ],
  winner: FOUND,
  defaults: DEFAULTS,
  duel: {
    winner: [outcome(120, 9), outcome(125, 9), outcome(118, 10)],
    defaults: [outcome(100, 8), outcome(101, 8), outcome(99, 9)],
  },
  verdict: { recommends: 'winner', sentence: 'Better than the defaults in every pair.' },
};

t.test('the block says which setting is better, and can be pasted as it is', async (t) => {
  const sentence = 'The defaults are better in every pair.';
  const kept = { ...FINDINGS, verdict: { ...FINDINGS.verdict, recommends: 'defaults', sentence } } as const;
  for (const findings of [FINDINGS, kept])
    for (const line of blockOf(findings).split('\n'))
      t.match(line, /^# \S|^ACUITY_[A-Z_]+=(\d+|true|false)$/);
  t.match(blockOf(FINDINGS), /^# acuity tune: Better than the defaults[^]*^ACUITY_HTTP_THREADS=2$/m);
  t.match(blockOf(kept), /^ACUITY_HTTP_THREADS=1$/m, 'the defaults, where they are better');
  const busy = busyMachine([3.2], 2);
  t.match(blockOf({ ...FINDINGS, busy }), /^# The machine was busy: .* was 3\.2 on 2 cores/m);
});
