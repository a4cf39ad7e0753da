import { quantileOf } from '#acuity/tune/load/statistics.js';
import { Random } from '../cohort/random.js';

type Values = Float64Array | readonly number[];

export function mean(values: Values): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

export function variance(values: Values): number {
  const centre = mean(values);
  let sum = 0;
  for (const value of values) sum += (value - centre) ** 2;
  return sum / values.length;
}

export const sd = (values: Values): number => Math.sqrt(variance(values));

/** The quantile `share` of the values, interpolated between the two nearest. */
export function quantile(values: Values, share: number): number {
  return quantileOf(Float64Array.from(values).toSorted(), share);
}

/** Root of the mean squared difference. */
export function rms(left: Values, right: Values): number {
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += ((left[index] ?? 0) - (right[index] ?? 0)) ** 2;
  return Math.sqrt(sum / left.length);
}

export function meanAbsolute(left: Values, right: Values): number {
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += Math.abs((left[index] ?? 0) - (right[index] ?? 0));
  return sum / left.length;
}

/** Slope of the least-squares line of `y` on `x`. */
export function slope(x: Values, y: Values): number {
  const centreX = mean(x);
  const centreY = mean(y);
  let product = 0;
  let square = 0;
  for (let index = 0; index < x.length; index++) {
    const deviation = (x[index] ?? 0) - centreX;
    product += deviation * ((y[index] ?? 0) - centreY);
    square += deviation * deviation;
  }
  return product / square;
}

/**
 * Share of the variance of a percentile that a prediction explains, measured with the expected percentile:
 * unpredictable noise is integrated out, so that small differences show.
 */
export function explained(expected: Values, predicted: Values): number {
  return (variance(expected) - rms(expected, predicted) ** 2) / PERCENTILE_VARIANCE;
}
/** Of a uniform distribution on 0 … 100. */
export const PERCENTILE_VARIANCE = 10_000 / 12;

/** A number with its 95 % interval. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 200;

/** Bootstrap over people: `statistic` of the chosen people, everybody's once for the value itself. */
export function bootstrap(people: number, statistic: (chosen: Int32Array) => number): Estimate {
  const everybody = Int32Array.from({ length: people }, (_, index) => index);
  const random = new Random(people, RESAMPLES);
  const drawn: number[] = [];
  const chosen = new Int32Array(people);
  for (let round = 0; round < RESAMPLES; round++) {
    for (let index = 0; index < people; index++) chosen[index] = Math.floor(random.uniform() * people);
    drawn.push(statistic(chosen));
  }
  drawn.sort((a, b) => a - b);
  return {
    value: statistic(everybody),
    low: drawn[Math.floor(0.025 * RESAMPLES)] ?? NaN,
    high: drawn[Math.ceil(0.975 * RESAMPLES) - 1] ?? NaN,
  };
}

export function take(values: Float64Array, chosen: Int32Array): Float64Array {
  const taken = new Float64Array(chosen.length);
  for (let index = 0; index < chosen.length; index++) taken[index] = values[chosen[index] ?? 0] ?? NaN;
  return taken;
}

/** The same over `items`, people or pairs of sessions, drawn as often as there are. */
export function bootstrapOf<T>(items: readonly T[], statistic: (drawn: readonly T[]) => number): Estimate {
  return bootstrap(items.length, (chosen) =>
    statistic([...chosen].flatMap((index) => items.slice(index, index + 1))),
  );
}

/** Bootstrap of the mean of `values`. */
export function meanEstimate(values: Float64Array): Estimate {
  return bootstrap(values.length, (chosen) => mean(take(values, chosen)));
}

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
