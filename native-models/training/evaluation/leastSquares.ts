import { mean, variance } from './statistics.js';

type Values = Float64Array | readonly number[];

/** The residual of `values` after the least-squares fit on a constant and `columns`. */
export function residual(values: Values, columns: readonly Values[]): Float64Array {
  const basis: Float64Array[] = [];
  for (const column of columns) basis.push(without(centred(column), basis));
  return without(centred(values), basis);
}

/** Share of the variance of `values` that `more` explains beyond `base`. */
export function addedShare(values: Values, base: readonly Values[], more: readonly Values[]): number {
  const left = variance(residual(values, base)) - variance(residual(values, [...base, ...more]));
  return left / variance(values);
}

export function correlation(x: Values, y: Values): number {
  const [left, right] = [centred(x), centred(y)];
  return dot(left, right) / Math.sqrt(dot(left, left) * dot(right, right));
}

export function centred(values: Values): Float64Array {
  const centre = mean(values);
  return Float64Array.from(values, (value) => value - centre);
}

/** `values` without their share in each direction; the directions are at right angles to each other. */
function without(values: Float64Array, directions: readonly Float64Array[]): Float64Array {
  const rest = values.slice();
  for (const direction of directions) {
    const square = dot(direction, direction);
    if (square === 0) continue; // constant: nothing to remove
    const share = dot(rest, direction) / square;
    for (let index = 0; index < rest.length; index++)
      rest[index] = (rest[index] ?? 0) - share * (direction[index] ?? 0);
  }
  return rest;
}

function dot(x: Float64Array, y: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < x.length; index++) sum += (x[index] ?? 0) * (y[index] ?? 0);
  return sum;
}
