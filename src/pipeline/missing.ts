import { SERIES_FIELDS, SESSION_SCALARS } from '#rules/fields.js';
import { LAYOUT } from '../records/layout.js';
import { SCALAR_PLACES, summaryAt } from '../records/places.js';
import type { PredictionRequest } from '../records/request.js';

/** Where the record of the current session says that a field is known, in the order of `FIELDS_OF_A_SESSION`. */
const SERIES_COUNTS = SERIES_FIELDS.map((field) => summaryAt(0, field) + LAYOUT.COUNT);
const SCALARS = SESSION_SCALARS.map((field) => SCALAR_PLACES[field]);

/** Calls `missing` with the place in `FIELDS_OF_A_SESSION` of each field that the current session lacks. */
export function eachMissingField({ records }: PredictionRequest, missing: (field: number) => void): void {
  for (let index = 0; index < SERIES_COUNTS.length; index++) {
    if (records[SERIES_COUNTS[index]!] === 0) missing(index); // within the first record, as below
  }
  for (let index = 0; index < SCALARS.length; index++) {
    if (Number.isNaN(records[SCALARS[index]!]!)) missing(SERIES_COUNTS.length + index);
  }
}
