/**
 * The ranks of `values` from `from` to `to`, less their mean, as shares of the number of known values; ties share
 * their mean rank. A missing value (NaN) gets 0, the middle. Written to the same indices of `into`.
 */
export function centredRanks(values: Float64Array, from: number, to: number, into: Float64Array): void {
  const sorted = values.subarray(from, to).toSorted(); // NaN goes last
  let known = sorted.length;
  while (known > 0 && Number.isNaN(sorted[known - 1])) known--;
  const middle = (known - 1) / 2;
  for (let place = from; place < to; place++) {
    const value = values[place] ?? NaN;
    if (Number.isNaN(value)) {
      into[place] = 0;
      continue;
    }
    const first = firstAt(sorted, known, value, false);
    const last = firstAt(sorted, known, value, true) - 1;
    into[place] = ((first + last) / 2 - middle) / known;
  }
}

/** The first index in `sorted` with a value not below `value`; or, with `isAfter`, the first one above it. */
function firstAt(sorted: Float64Array, length: number, value: number, isAfter: boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = sorted[middle] ?? NaN;
    if (at < value || (isAfter && at === value)) low = middle + 1;
    else high = middle;
  }
  return low;
}
