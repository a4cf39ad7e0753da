import { isHeart, type SeriesField } from '#rules/fields.js';
import { BREATHING, HEART_BEATS, isAnotherUnit, unitGuess } from '#rules/plausible.js';
import { LAYOUT } from '../night/layout.js';
import { summaryAt } from '../night/places.js';
import type { PredictionRequest } from '../night/request.js';

/** Series that are most likely in another unit. */

/** Whether most samples of a series lie outside the range of such a signal. */
export function isUnitError({ records }: PredictionRequest, session: number, field: SeriesField): boolean {
  const summary = summaryAt(session, field);
  const implausible = records[summary + LAYOUT.IMPLAUSIBLE] ?? 0;
  return isAnotherUnit(implausible, records[summary + LAYOUT.COUNT] ?? 0);
}

/** The message to the caller about a series that is most likely in another unit. */
export function unitMessage(field: SeriesField, samples: ArrayLike<number>): string {
  const expected = isHeart(field) ? HEART_BEATS : BREATHING;
  const { unit, min, max } = expected;
  return `Expected ${unit}, ${min} to ${max}; ${unitGuess(expected, samples)}`;
}
