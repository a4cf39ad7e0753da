import t from 'tap';
import { goalLines, type GoalLine } from '#bench/comparison/goals.js';
import type { Result } from '#bench/comparison/result.js';

const MIB = 1024 * 1024;

function result(peer: string, changes: Partial<Result> = {}): Result {
  return {
    peer,
    mode: 'saturation',
    payload: 'baseline',
    connections: 64,
    repetition: 1,
    requests: 1_000,
    seconds: 1,
    p50Micros: 100,
    p99Micros: 1_000,
    p999Micros: 2_000,
    errors: 0,
    cpuMicrosPerRequest: 10,
    mainCpuMicrosPerRequest: 8,
    rssBytes: [100 * MIB],
    answersChecked: 10,
    ...changes,
  };
}

function line(results: readonly Result[], goal: string, payload = 'baseline'): GoalLine {
  const found = goalLines(results).find((one) => one.goal.startsWith(goal) && one.payload === payload);
  if (found === undefined) throw new Error(`no goal ${goal}`);
  return found;
}

t.test('a throughput goal holds from its limit on', async (t) => {
  const verdictAt = (requests: number): string =>
    line([result('fastify'), result('acuity', { requests })], 'throughput over fastify').verdict;
  t.equal(verdictAt(6_000), 'holds');
  t.equal(verdictAt(5_999), 'falls short');
});

t.test('the median of the repetitions decides, and the spread is shown', async (t) => {
  const results = [5_000, 7_000, 6_500].flatMap((requests, index) => [
    result('fastify', { repetition: index + 1 }),
    result('acuity', { repetition: index + 1, requests }),
  ]);
  const { verdict, reached } = line(results, 'throughput over fastify');
  t.equal(verdict, 'holds');
  t.equal(reached, '6.50 × (5.00–7.00)');
});

t.test('latency and processor time must stay below their limits', async (t) => {
  const beside = [result('fastify', { cpuMicrosPerRequest: 154 }), result('floor')];
  const slow = [...beside, result('acuity', { p99Micros: 2_001, cpuMicrosPerRequest: 22.1 })];
  t.equal(line(slow, 'p99 at saturation').verdict, 'falls short');
  t.equal(line(slow, "CPU per request over the floor's").verdict, 'falls short');
  t.equal(line(slow, "CPU per request over fastify's").verdict, 'falls short');
  const fast = [...beside, result('acuity', { p99Micros: 2_000, cpuMicrosPerRequest: 22 })];
  t.equal(line(fast, 'p99 at saturation').verdict, 'holds');
  t.equal(line(fast, "CPU per request over the floor's").verdict, 'holds');
  t.equal(line(fast, "CPU per request over fastify's").verdict, 'holds');
  t.equal(line(fast, "CPU per request over fastify's").wanted, '≤ 0.143×');
});

t.test('the tail at a fixed rate counts beyond the floor', async (t) => {
  const at = (p999Micros: number): GoalLine =>
    line([result('floor', { mode: 'share' }), result('acuity', { mode: 'share', p999Micros })], 'p99.9');
  t.equal(at(5_000).verdict, 'holds');
  t.equal(at(5_100).verdict, 'falls short');
});

t.test('one request alone is held against the floor alone', async (t) => {
  const alone = { mode: 'alone', connections: 1 } as const;
  const at = (p50Micros: number): GoalLine =>
    line(
      [result('floor', { ...alone, p50Micros: 20 }), result('acuity', { ...alone, p50Micros })],
      'one request',
    );
  t.equal(at(60).verdict, 'holds');
  t.equal(at(61).verdict, 'falls short');
});

t.test('of the Rust peers the fastest counts', async (t) => {
  const results = [
    result('rust', { requests: 500 }),
    result('rust-2', { requests: 900 }),
    result('acuity', { requests: 1_080 }),
  ];
  t.match(line(results, 'throughput over the best Rust peer'), { reached: /^1\.20/, verdict: 'falls short' });
  t.equal(line(results.slice(2), 'throughput over the best Rust peer').verdict, 'not measured');
});

t.test('a form is held against the payload that it is a form of', async (t) => {
  const form = result('acuity', { payload: 'history:pretty', cpuMicrosPerRequest: 15 });
  const history = result('acuity', { payload: 'history' });
  t.match(line([form, history], 'CPU per request of pretty', 'history'), { verdict: 'falls short' });
  t.equal(line([form, result('acuity')], 'CPU per request of pretty', 'history').verdict, 'not measured');
  t.throws(() => line([form], 'CPU per request of pretty', 'baseline'), 'said of history alone');
});

t.test('what was refused is no goodput', async (t) => {
  const crowd = { mode: 'crowd' } as const;
  const at = (refused: number): GoalLine =>
    line(
      [result('acuity', crowd), result('acuity', { ...crowd, connections: 2_000, refused })],
      'goodput at 2,000 connections over 64, default',
    );
  t.equal(at(100).verdict, 'holds');
  t.equal(at(101).verdict, 'falls short');
});

t.test('a refusal is paid by the event loop', async (t) => {
  const refusal = { mode: 'refusal', connections: 1_000 } as const;
  const at = (mainCpuMicrosPerRequest: number): GoalLine =>
    line(
      [result('floor', refusal), result('acuity-busy', { ...refusal, mainCpuMicrosPerRequest })],
      "main thread's CPU per 503",
    );
  t.equal(at(14.4).verdict, 'holds');
  t.equal(at(14.5).verdict, 'falls short');
  // A loop with little to do finds its caches cold: a floor with as little to do says what that costs.
  const matched = { mode: 'matched', connections: 1_000, mainCpuMicrosPerRequest: 20 } as const;
  const atSameRate = (mainCpuMicrosPerRequest: number): GoalLine =>
    line(
      [result('floor', matched), result('acuity-busy', { ...refusal, mainCpuMicrosPerRequest })],
      "main thread's CPU per 503 over the floor's per answer, as many",
    );
  t.equal(atSameRate(36).verdict, 'holds');
  t.equal(atSameRate(36.1).verdict, 'falls short');
});

t.test('what was not measured is not judged', async (t) => {
  t.equal(line([result('acuity')], 'throughput over fastify').verdict, 'not measured');
  const others = [result('fastify', { connections: 16 }), result('acuity', { connections: 16 })];
  t.equal(line(others, 'throughput over fastify').verdict, 'not measured');
  t.equal(
    line([result('fastify'), result('acuity')], 'throughput over fastify', 'history').verdict,
    'not measured',
  );
});

t.test('memory is judged by its most, and its growth only over a long run', async (t) => {
  const short = [result('acuity', { rssBytes: [100 * MIB, 171 * MIB, 90 * MIB] })];
  t.equal(line(short, 'RSS at most', 'all').verdict, 'falls short');
  t.equal(line(short, 'RSS over', 'all').verdict, 'not measured');
  const growing = Array.from({ length: 100 }, (_, index) => (50 + index) * MIB);
  const long = (rssBytes: number[]): Result[] => [result('acuity', { mode: 'long', seconds: 600, rssBytes })];
  t.equal(line(long(growing), 'RSS over', 'all').verdict, 'falls short');
  t.equal(line(long(growing.map(() => 100 * MIB)), 'RSS over', 'all').verdict, 'holds');
});
