import { FIELDS_OF_A_SESSION, FIELDS_WITH_EFFECT, SERIES_FIELDS, SESSION_SCALARS } from '#rules/fields.js';
import { LAYOUT } from './layout.js';
import { SCALAR_PLACES, summaryAt } from './places.js';
import type { PredictionRequest } from './request.js';
import { HOUR_FIELDS, isAtRest } from './rest.js';

/**
 * Calls `missing` with the index in `FIELDS_OF_A_SESSION` of each field that the current session lacks, or that
 * counts as missing because its hour was not at rest.
 */
export function eachMissingField({ records }: PredictionRequest, missing: (field: number) => void): void {
  const isLeftOut = !isAtRest(records, 0);
  for (let index = 0; index < SERIES_COUNTS.length; index++) {
    // Within the first record, as below.
    if (records[SERIES_COUNTS[index]!] === 0 || (isLeftOut && IS_OF_HOUR[index]!)) missing(index);
  }
  for (const [place, field] of SCALARS) if (Number.isNaN(records[place]!)) missing(field);
}

/** Where the current session's record says whether a field is known, in the order of `FIELDS_OF_A_SESSION`. */
const SERIES_COUNTS = SERIES_FIELDS.map((field) => summaryAt(0, field) + LAYOUT.COUNT);
const IS_OF_HOUR = SERIES_FIELDS.map((field) => HOUR_FIELDS.includes(field));
/** The same of its scalars, each with its index there. */
const SCALARS = SESSION_SCALARS.filter((field) => FIELDS_WITH_EFFECT.includes(field)).map(
  (field) => [SCALAR_PLACES[field], FIELDS_OF_A_SESSION.indexOf(field)] as const,
);
