/** One night and the hour before the moment to score. Leave out unknown values, or give null. */
export interface Session {
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
  sleepTimeSeconds?: number | null;
  deepSleepSeconds?: number | null;
  remSleepSeconds?: number | null;
  lightSleepSeconds?: number | null;
  awakeSleepSeconds?: number | null;
  /** Fractions or percent points, one scale for all three. */
  deepPercentage?: number | null;
  remPercentage?: number | null;
  lightPercentage?: number | null;
  age?: number | null;
  height_cm?: number | null;
  weight_kg?: number | null;
  sex?: 'M' | 'F' | null;
}
