import t from 'tap';
import { measurementOf } from '#bench/load/oha.js';
import { settingsOf, verdictOn, type Tried } from '#bench/load/verdict.js';
import { comparedBy, interleaved, ratioOf, spread } from '#bench/spread.js';

const SETTINGS = settingsOf([1, 2], [1, 2]);
const ASKED = { rate: 1_000, isRateMeasured: true, cores: 2 };

/** A setting with these p99 at the asked rate, and how much of it was answered. */
function tried(index: number, p99Ms: readonly number[], perSecond = 1_000, errors = 0): Tried {
  const setting = SETTINGS[index];
  if (setting === undefined) throw new RangeError('no such setting');
  const atRates = [{ p99Ms, perSecond: p99Ms.map(() => perSecond) }];
  return { setting, saturated: [2_000, 2_100], atRates, errors };
}

const VERDICTS = [
  {
    what: 'the lowest p99 among those that keep up',
    found: [tried(0, [9, 10, 11]), tried(1, [4, 5, 6]), tried(2, [1, 1, 1], 700)],
    says: /1 worker × 2 threads has a p99 of 5\.0 ms .*Set ACUITY_WORKERS=1 ACUITY_INTRA_OP_THREADS=2\.$/,
  },
  {
    what: 'within the spread the fewest threads',
    found: [tried(0, [5, 6, 9]), tried(3, [4, 5, 6])],
    says: /1 worker × 1 thread has a p99 of 6\.0 ms/,
  },
  {
    what: 'not one whose best run alone is as low as the lowest',
    found: [tried(0, [12, 12, 12]), tried(1, [11, 16, 35]), tried(2, [10, 11, 11])],
    says: /2 workers × 1 thread has a p99 of 11\.0 ms \(10\.0–11\.0\)/,
  },
  {
    what: 'one with errors never',
    found: [tried(0, [9, 10, 11]), tried(1, [1, 1, 1], 1_000, 3)],
    says: /1 worker × 1 thread/,
  },
  {
    what: 'none keeps up',
    found: [tried(0, [90, 90], 600), tried(1, [80, 80], 800)],
    says: /^No setting keeps up with 1000 .* 1 worker × 2 threads comes nearest with 800/,
  },
];

t.test('the verdict', async (t) => {
  for (const { what, found, says } of VERDICTS) t.match(verdictOn(found, ASKED), says, what);
  t.match(verdictOn([tried(0, [5])], { ...ASKED, isRateMeasured: false }), /^Fixed rates were not measured/);
});

t.test('oha: requests under way at the end are no errors, others are', async (t) => {
  const output = {
    summary: { total: 2 },
    latencyPercentiles: { p50: 0.001, p99: 0.002, 'p99.9': null },
    statusCodeDistribution: { '200': 90, '503': 4 },
    errorDistribution: { 'aborted due to deadline': 7, 'connection closed': 1 },
  };
  const { requests, p99Micros, p999Micros, errors } = measurementOf(output);
  t.strictSame([requests, p99Micros, p999Micros, errors], [94, 2_000, NaN, 5]);
});

t.test('cases take turns, and a ratio compares neighbours', async (t) => {
  const order: string[] = [];
  const found = await interleaved(['a', 'b'], 2, async (one, repetition) => {
    order.push(`${one}${repetition}`);
    return one === 'a' ? repetition : 10 * repetition;
  });
  t.strictSame(order, ['a1', 'b1', 'a2', 'b2']);
  const [a = [], b = []] = [found.get('a'), found.get('b')];
  const itself = (value: number): number => value;
  t.strictSame(ratioOf(b, a, itself), { median: 10, min: 10, max: 10 });
  t.equal(comparedBy(a, [], itself), undefined, 'not measured side by side');
  t.equal(spread([3, 1, 2], 1), '2.0 (1.0–3.0)');
  t.equal(spread([1, NaN], 1), '–');
});
