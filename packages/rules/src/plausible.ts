/** Plausible samples of a series, and what implausible ones most likely are. */

/** Devices write these for "no reading". */
export const SENTINELS = [0, 255, -1, -2] as const;

/**
 * If at least this many samples, and more than half of them, are implausible, the series is called another
 * unit.
 */
export const SUSPECT_SAMPLES_MIN = 3;

export type Signal = 'heart rate' | 'respiratory rate';

interface Plausible {
  readonly unit: string;
  readonly min: number;
  readonly max: number;
  /** Ranges of samples of another kind, and what they are; the first that fits counts. */
  readonly mistakes: readonly (readonly [min: number, max: number, what: string])[];
}

/** Beat-to-beat intervals in milliseconds: the name "RR" invites sending them instead of breathing. */
export const INTERVALS_MS = { min: 200, max: 3_000 } as const;

export const HEART_BEATS: Plausible = {
  unit: 'beats per minute',
  min: 25,
  max: 240,
  mistakes: [
    [240, INTERVALS_MS.max, 'intervals between beats in milliseconds: heart rate is 60,000 divided by them'],
    [0.3, 2.5, 'beats per second or intervals in seconds: heart rate is beats per minute'],
    [4, 25, 'respiratory rate'],
  ],
};

export const BREATHING: Plausible = {
  unit: 'breaths per minute',
  min: 3,
  max: 70,
  mistakes: [
    [
      INTERVALS_MS.min,
      INTERVALS_MS.max,
      'R-R intervals in milliseconds: "RR" means respiratory rate here, not the time between beats',
    ],
    [0.03, 1.5, 'breaths per second or R-R intervals in seconds: respiratory rate is breaths per minute'],
    [70, 200, 'heart rate'],
  ],
};

export const PLAUSIBLE: Readonly<Record<Signal, Plausible>> = {
  'heart rate': HEART_BEATS,
  'respiratory rate': BREATHING,
};

/** Breathing is far slower than the heart: a resting adult breathes about once in four beats. */
export const BREATHS_PER_BEAT_MAX = 0.7;
