import { BREATHS_MEDIAN_MAX } from '#rules/contradictions.js';
import { SERIES_FIELDS, isHeart, type SeriesField } from '#rules/fields.js';
import { BREATHING, HEART_BEATS, INTERVALS_MS, SUSPECT_SAMPLES_MIN } from '#rules/plausible.js';
import { LAYOUT } from '../records/layout.js';
import { summaryAt } from '../records/places.js';
import type { PredictionRequest } from '../records/request.js';

/** Series that are most likely in another unit. */

const HEART_EXPECTED = expected(HEART_BEATS);
const BREATH_EXPECTED = expected(BREATHING);

/** Times of the years 1990 to 2060, counted since 1970: in seconds, and in milliseconds. */
const MOMENTS = [
  { min: 6.3e8, max: 2.9e9 },
  { min: 6.3e11, max: 2.9e12 },
];

/** Too fast for breathing, plausible as heart rate. */
const HEART_RATES = { min: BREATHS_MEDIAN_MAX, max: HEART_BEATS.max };

/**
 * Whether most samples lie outside the range of such a signal, and the unit is therefore most likely wrong.
 */
export function isUnitError({ records }: PredictionRequest, session: number, field: SeriesField): boolean {
  const summary = summaryAt(session, field);
  const implausible = records[summary + LAYOUT.IMPLAUSIBLE] ?? 0;
  return implausible >= SUSPECT_SAMPLES_MIN && implausible > (records[summary + LAYOUT.COUNT] ?? 0);
}

export function hasUnitError(request: PredictionRequest): boolean {
  for (let session = 0; session <= request.pastCount; session++) {
    for (const field of SERIES_FIELDS) if (isUnitError(request, session, field)) return true;
  }
  return false;
}

/** The message to the caller about a series that is most likely in another unit. */
export function unitMessage(field: SeriesField, values: ArrayLike<number>): string {
  if (MOMENTS.some((range) => areMostlyWithin(values, range))) {
    const expected = isHeart(field) ? HEART_EXPECTED : BREATH_EXPECTED;
    return `${expected}; these look like times, in seconds or milliseconds since 1970, not samples`;
  }
  if (isHeart(field)) return `${HEART_EXPECTED}; most samples lie outside`;
  if (areMostlyWithin(values, INTERVALS_MS)) {
    return `${BREATH_EXPECTED}; these look like R-R intervals in milliseconds, not respiratory rate`;
  }
  return areMostlyWithin(values, HEART_RATES)
    ? `${BREATH_EXPECTED}; these look like heart rate`
    : `${BREATH_EXPECTED}; most samples lie outside`;
}

function areMostlyWithin(values: ArrayLike<number>, { min, max }: { min: number; max: number }): boolean {
  let within = 0;
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!; // index < length
    if (value >= min && value <= max) within++;
  }
  return within > values.length / 2;
}

function expected({ unit, min, max }: { unit: string; min: number; max: number }): string {
  return `Expected ${unit}, ${min} to ${max}`;
}
