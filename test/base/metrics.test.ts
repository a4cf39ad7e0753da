import fc from 'fast-check';
import t from 'tap';
import {
  MetricReader,
  allocateMetrics,
  bucketBound,
  bucketCount,
  labelSets,
  quantile,
  recordersIn,
  type HistogramSpec,
} from '#acuity/base/metrics.js';

const WAITS = {
  type: 'histogram',
  name: 'waits',
  help: '',
  labels: { side: ['left', 'right'] },
  minExponent: -3,
  maxExponent: 4,
  splitBits: 2,
  exportEvery: 2,
} as const satisfies HistogramSpec;

const CATALOGUE = {
  calls: {
    type: 'counter',
    name: 'calls_total',
    help: '',
    labels: { status: ['200', '503'], kind: ['a', 'b', 'c'] },
  },
  depth: { type: 'gauge', name: 'depth', help: '' },
  waits: WAITS,
  after: { type: 'counter', name: 'after_total', help: '' },
} as const;

function scene(loops = 1) {
  const memories = Array.from({ length: loops }, () => allocateMetrics(CATALOGUE));
  return {
    writers: memories.map((memory) => recordersIn(CATALOGUE, memory)),
    reader: new MetricReader(CATALOGUE, memories),
  };
}

t.test('a cell stands for one combination of label values, the last label fastest', async (t) => {
  const sets = labelSets(CATALOGUE.calls.labels);
  t.equal(sets.length, 6);
  t.strictSame(sets[0], { status: '200', kind: 'a' });
  t.strictSame(sets[4], { status: '503', kind: 'b' });
  t.strictSame(labelSets(), [{}]);
});

t.test('what the loops count is summed, and can be told apart', async (t) => {
  const { writers, reader } = scene(3);
  writers.forEach((writer, loop) => {
    writer.calls.add(4, loop + 1);
    writer.depth.set(0, 10 * loop);
    writer.depth.set(0, 10 * loop + 1);
  });
  t.equal(reader.total('calls', 4), 6);
  t.equal(reader.total('calls', 3), 0);
  t.equal(reader.ofLoop(2, 'depth'), 21);
  t.equal(reader.total('depth'), 33);
  t.equal(reader.loopCount, 3);
});

t.test('every value falls into the bucket whose bounds hold it, a bound into the one below', async (t) => {
  const value = fc.oneof(
    fc.double({ min: 0, max: 40, noNaN: true }),
    fc.integer({ min: 0, max: bucketCount(WAITS) - 2 }).map((bucket) => bucketBound(WAITS, bucket)),
  );
  fc.assert(
    fc.property(value, (raw) => {
      const exact = Math.fround(raw);
      const { writers, reader } = scene();
      writers[0]?.waits.observe(1, exact);
      const { buckets, sum } = reader.histogram('waits', 1);
      const bucket = buckets.indexOf(1);
      const below = bucket === 0 ? -1 : bucketBound(WAITS, bucket - 1);
      return sum === exact && exact > below && exact <= bucketBound(WAITS, bucket);
    }),
    { numRuns: 500 },
  );
  t.pass('over generated values and all bounds');
});

t.test('what is no duration spoils neither the sum nor a neighbour', async (t) => {
  const { writers, reader } = scene();
  const waits = writers[0]?.waits;
  for (const value of [NaN, -1, Infinity]) waits?.observe(1, value === Infinity ? 1e30 : value);
  const { buckets, sum } = reader.histogram('waits', 1);
  t.equal(buckets[0], 2);
  t.equal(buckets.at(-1), 1);
  t.equal(sum, 1e30);
  t.equal(reader.histogram('waits', 0).sum, 0);
  t.equal(reader.total('after'), 0);
});

t.test('a quantile lies within a bucket of the exact one', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.13, max: 16, noNaN: true }), { minLength: 1, maxLength: 200 }),
      fc.constantFrom(0.5, 0.9, 0.99),
      (values, q) => {
        const { writers, reader } = scene();
        for (const value of values) writers[0]?.waits.observe(0, Math.fround(value));
        const sorted = values.map(Math.fround).toSorted((a, b) => a - b);
        const exact = sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? NaN;
        const estimate = quantile(WAITS, reader.histogram('waits', 0).buckets, q);
        return estimate >= exact / 1.26 && estimate <= exact * 1.26;
      },
    ),
  );
  t.ok(Number.isNaN(quantile(WAITS, new Float64Array(bucketCount(WAITS)), 0.5)), 'none without observations');
});
