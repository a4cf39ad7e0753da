import type { NumberField } from '#rules/fields.js';

/** One night and the hour before the moment to score. Leave out unknown values, or give null. */
export interface Session extends Partial<Record<NumberField, number | null>> {
  /** Beats per minute over the hour before, oldest first. */
  HR_day_1h?: number[] | null;
  /** Breaths per minute over the hour before; not R-R intervals. */
  RR_day_1h?: number[] | null;
  /** Beats per minute during the night's sleep. */
  HR_night?: number[] | null;
  /** Breaths per minute during the night's sleep. */
  RR_night?: number[] | null;
  /** Another name for `HR_night`; give one of the two. */
  HR_night_imputed?: number[] | null;
  /** Another name for `RR_night`. */
  RR_night_imputed?: number[] | null;
  /** All three shares are fractions, or all are percent points. */
  deepPercentage?: number | null;
  sex?: 'M' | 'F' | null;
}
