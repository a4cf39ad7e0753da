/** Plausible samples of a series, and what implausible ones most likely are. */

/** Devices write these for "no reading". */
export const SENTINELS: readonly number[] = [0, 255, -1, -2];

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
const INTERVALS_MS = { min: 200, max: 3_000 } as const;

const TIMES = 'times, in seconds or milliseconds since 1970, not samples';
/** The years 1990 to 2060. */
const MOMENTS = [
  [6.3e8, 2.9e9, TIMES],
  [6.3e11, 2.9e12, TIMES],
] as const;

export const HEART_BEATS: Plausible = {
  unit: 'beats per minute',
  min: 25,
  max: 240,
  mistakes: [
    ...MOMENTS,
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
    ...MOMENTS,
    [
      INTERVALS_MS.min,
      INTERVALS_MS.max,
      'R-R intervals in milliseconds: "RR" means respiratory rate here, not the time between beats',
    ],
    [0.03, 1.5, 'breaths per second or R-R intervals in seconds: respiratory rate is breaths per minute'],
    [70, HEART_BEATS.max, 'heart rate'],
  ],
};

export const PLAUSIBLE: Readonly<Record<Signal, Plausible>> = {
  'heart rate': HEART_BEATS,
  'respiratory rate': BREATHING,
};

/** Whether a series with so many samples of each kind, without no-readings, is most likely in another unit. */
export function isAnotherUnit(implausible: number, plausible: number): boolean {
  return implausible >= SUSPECT_SAMPLES_MIN && implausible > plausible;
}

/** The most likely cause of such a series, as the end of a sentence without a value. */
export function unitGuess({ mistakes }: Plausible, samples: ArrayLike<number>): string {
  const readings = samples.length - countOf(samples, (value) => SENTINELS.includes(value));
  const mistake = mistakes.find(
    ([min, max]) => 2 * countOf(samples, (value) => value >= min && value <= max) > readings,
  );
  return mistake === undefined ? 'most samples lie outside' : `these look like ${mistake[2]}`;
}

function countOf(samples: ArrayLike<number>, isOne: (value: number) => boolean): number {
  let count = 0;
  for (let index = 0; index < samples.length; index++) if (isOne(samples[index] ?? NaN)) count++;
  return count;
}

/** Breathing is far slower than the heart: a resting adult breathes about once in four beats. */
export const BREATHS_PER_BEAT_MAX = 0.7;
