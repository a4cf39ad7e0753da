import type { FIELDS_OF_A_SESSION } from '../contract/metrics.js';
import { SERIES_FIELDS, SESSION_SCALARS } from '../contract/request.js';
import { LAYOUT, summaryAt, type PredictionRequest } from './wasmParser.js';

/** Where the record of the current session says that a field is known, in the order of `FIELDS_OF_A_SESSION`. */
const PLACES: Readonly<Record<(typeof FIELDS_OF_A_SESSION)[number], number>> = {
  HR_day_1h: summaryAt(0, 'HR_day_1h') + LAYOUT.COUNT,
  RR_day_1h: summaryAt(0, 'RR_day_1h') + LAYOUT.COUNT,
  HR_night: summaryAt(0, 'HR_night') + LAYOUT.COUNT,
  RR_night: summaryAt(0, 'RR_night') + LAYOUT.COUNT,
  sleepTimeSeconds: LAYOUT.SLEEP_TIME,
  deepSleepSeconds: LAYOUT.DEEP,
  remSleepSeconds: LAYOUT.REM,
  lightSleepSeconds: LAYOUT.LIGHT,
  awakeSleepSeconds: LAYOUT.AWAKE,
  deepPercentage: LAYOUT.DEEP_SHARE,
  remPercentage: LAYOUT.REM_SHARE,
  lightPercentage: LAYOUT.LIGHT_SHARE,
  age: LAYOUT.AGE,
  height_cm: LAYOUT.HEIGHT,
  weight_kg: LAYOUT.WEIGHT,
  sex: LAYOUT.SEX,
};

const SERIES_COUNTS = SERIES_FIELDS.map((field) => PLACES[field]);
const SCALARS = SESSION_SCALARS.map((field) => PLACES[field]);

/** Calls `missing` with the place in `FIELDS_OF_A_SESSION` of each field that the current session lacks. */
export function eachMissingField({ records }: PredictionRequest, missing: (field: number) => void): void {
  for (let index = 0; index < SERIES_COUNTS.length; index++) {
    if (records[SERIES_COUNTS[index]!] === 0) missing(index); // within the first record, as below
  }
  for (let index = 0; index < SCALARS.length; index++) {
    if (Number.isNaN(records[SCALARS[index]!]!)) missing(SERIES_COUNTS.length + index);
  }
}
