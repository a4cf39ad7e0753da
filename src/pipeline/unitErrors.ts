import { SERIES_FIELDS, isHeart, type SeriesField } from '../contract/fields.js';
import { LAYOUT, summaryAt, type PredictionRequest } from './wasmParser.js';

/** Series that are most likely in another unit. */

/** From this many implausible samples on, more than half of a series is called a unit error. */
const UNIT_ERROR_SAMPLES_MIN = 3;

/** Plausible values, in the words of a refusal; the parser's own bounds are in `assembly/series.ts`. */
const HEART_EXPECTED = 'Expected beats per minute, 25 to 240';
const BREATH_EXPECTED = 'Expected breaths per minute, 3 to 70';

/** Breathing in the hundreds is most likely beat-to-beat intervals in milliseconds. */
const INTERVALS_MS = { min: 200, max: 3_000 };
const HEART_RATES = { min: 40, max: 240 };

/** Most samples of the series lie where no such signal can: another unit, most likely. */
export function isUnitError({ records }: PredictionRequest, session: number, field: SeriesField): boolean {
  const summary = summaryAt(session, field);
  const implausible = records[summary + LAYOUT.IMPLAUSIBLE] ?? 0;
  return implausible >= UNIT_ERROR_SAMPLES_MIN && implausible > (records[summary + LAYOUT.COUNT] ?? 0);
}

export function hasUnitError(request: PredictionRequest): boolean {
  for (let session = 0; session <= request.pastCount; session++) {
    for (const field of SERIES_FIELDS) if (isUnitError(request, session, field)) return true;
  }
  return false;
}

/** What a caller is told of a series that is most likely in another unit. */
export function unitMessage(field: SeriesField, values: ArrayLike<number>): string {
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
