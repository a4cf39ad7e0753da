import type { FIELDS_OF_A_SESSION } from './fields.js';

/**
 * Values of a field beyond these bounds are possible but unlikely: they are scored, and `explain` reports
 * them.
 */
export interface Likely {
  readonly field: (typeof FIELDS_OF_A_SESSION)[number];
  readonly least: number;
  readonly most: number;
  readonly unit: string;
  readonly of: string;
}

/**
 * Series by their level (see `features.ts`), sleep as the service normalises it; printed in docs/EXPLAIN.md.
 */
export const LIKELY: readonly Likely[] = [
  { field: 'HR_day_1h', least: 40, most: 150, unit: 'bpm', of: 'level by day' },
  { field: 'RR_day_1h', least: 8, most: 32, unit: 'breaths/min', of: 'level by day' },
  { field: 'HR_night', least: 35, most: 110, unit: 'bpm', of: 'level by night' },
  { field: 'RR_night', least: 8, most: 28, unit: 'breaths/min', of: 'level by night' },
  { field: 'sleepTimeSeconds', least: 3_600, most: 50_400, unit: 's', of: 'time asleep' },
  { field: 'deepSleepSeconds', least: 0, most: 16_200, unit: 's', of: 'deep sleep' },
  { field: 'remSleepSeconds', least: 0, most: 18_000, unit: 's', of: 'REM sleep' },
  { field: 'lightSleepSeconds', least: 0, most: 43_200, unit: 's', of: 'light sleep' },
  { field: 'awakeSleepSeconds', least: 0, most: 18_000, unit: 's', of: 'time awake' },
  { field: 'deepPercentage', least: 0, most: 0.45, unit: 'fraction', of: 'share of deep sleep' },
  { field: 'remPercentage', least: 0, most: 0.5, unit: 'fraction', of: 'share of REM sleep' },
  { field: 'lightPercentage', least: 0.2, most: 1, unit: 'fraction', of: 'share of light sleep' },
  { field: 'age', least: 10, most: 100, unit: 'years', of: 'age' },
  { field: 'height_cm', least: 130, most: 215, unit: 'cm', of: 'height' },
  { field: 'weight_kg', least: 35, most: 200, unit: 'kg', of: 'weight' },
];

/** A series with a larger share of implausible samples is reported too. */
export const IMPLAUSIBLE_SHARE_MOST = 0.1;
