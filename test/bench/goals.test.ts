import t from 'tap';
import { goalLines, type GoalLine } from '#bench/comparison/goals.js';
import type { Result } from '#bench/comparison/run.js';

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
    errors: 0,
    cpuMicrosPerRequest: 10,
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
  const slow = [
    result('fastify'),
    result('floor'),
    result('acuity', { p99Micros: 101, cpuMicrosPerRequest: 41 }),
  ];
  t.equal(line(slow, "p99 under that load over fastify's").verdict, 'falls short');
  t.equal(line(slow, 'CPU per request').verdict, 'falls short');
  const fast = [
    result('fastify'),
    result('floor'),
    result('acuity', { p99Micros: 100, cpuMicrosPerRequest: 40 }),
  ];
  t.equal(line(fast, "p99 under that load over fastify's").verdict, 'holds');
  t.equal(line(fast, 'CPU per request').verdict, 'holds');
});

t.test('one request alone is held against the floor alone', async (t) => {
  const alone = { mode: 'alone', connections: 1 } as const;
  const at = (p50Micros: number): GoalLine =>
    line(
      [result('floor', { ...alone, p50Micros: 20 }), result('acuity', { ...alone, p50Micros })],
      'one request',
    );
  t.equal(at(140).verdict, 'holds');
  t.equal(at(141).verdict, 'falls short');
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
  const short = [result('acuity', { rssBytes: [100 * MIB, 251 * MIB, 90 * MIB] })];
  t.equal(line(short, 'RSS at most', 'all').verdict, 'falls short');
  t.equal(line(short, 'RSS over', 'all').verdict, 'not measured');
  const growing = Array.from({ length: 100 }, (_, index) => (100 + index) * MIB);
  const long = (rssBytes: number[]): Result[] => [result('acuity', { seconds: 600, rssBytes })];
  t.equal(line(long(growing), 'RSS over', 'all').verdict, 'falls short');
  t.equal(line(long(growing.map(() => 100 * MIB)), 'RSS over', 'all').verdict, 'holds');
});
