import t from 'tap';
import { quantileOf, spreadOf } from '#acuity/load/statistics.js';

t.test('a spread is median, minimum and maximum, in any order of the values', async (t) => {
  t.strictSame(spreadOf([9, 1, 5]), { median: 5, min: 1, max: 9 });
  t.strictSame(spreadOf([10, 2, 9, 1]), { median: 5.5, min: 1, max: 10 });
  t.strictSame(spreadOf([3]), { median: 3, min: 3, max: 3 });
});

t.test('a quantile lies between its neighbours', async (t) => {
  const sorted = Float64Array.of(0, 10, 20, 30, 40);
  t.equal(quantileOf(sorted, 0), 0);
  t.equal(quantileOf(sorted, 0.5), 20);
  t.equal(quantileOf(sorted, 0.625), 25);
  t.equal(quantileOf(sorted, 1), 40);
});

t.test('numbers are sorted as numbers', async (t) => {
  t.equal(spreadOf([100, 20, 3]).median, 20);
});

t.test('nothing has no spread', async (t) => {
  t.throws(() => spreadOf([]), { name: 'RangeError' });
});
