import { HEART_RATE_MESSAGE, isHeartRate, sleepContradictions } from './contradictions.js';
import type { PredictionRequestBody, Session } from './contract.js';

/** A value that is most likely in another unit than the service reads. The message never holds the value. */
export class UnitError extends RangeError {
  override readonly name = 'UnitError';
}

/** Devices write these for "no reading". */
const SENTINELS: ReadonlySet<number> = new Set([0, -1, -2, 255]);

export function isReading(value: number | null | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value) && !SENTINELS.has(value);
}

export type Signal = 'heart rate' | 'respiratory rate';

interface Plausible {
  readonly unit: string;
  readonly min: number;
  readonly max: number;
  /** Where the samples lie when they are something else, and what that is. */
  readonly mistakes: readonly (readonly [min: number, max: number, what: string])[];
}

const BEAT_INTERVALS_MS = 'intervals between beats in milliseconds: heart rate is 60,000 divided by them';
const PLAUSIBLE: Readonly<Record<Signal, Plausible>> = {
  'heart rate': {
    unit: 'beats per minute',
    min: 25,
    max: 240,
    mistakes: [
      [240, 3_000, BEAT_INTERVALS_MS],
      [0.3, 2.5, 'beats per second or intervals in seconds: heart rate is beats per minute'],
      [4, 25, 'respiratory rate'],
    ],
  },
  'respiratory rate': {
    unit: 'breaths per minute',
    min: 3,
    max: 70,
    mistakes: [
      [
        200,
        3_000,
        'R-R intervals in milliseconds: "RR" means respiratory rate here, not the time between beats',
      ],
      [0.03, 1.5, 'breaths per second or R-R intervals in seconds: respiratory rate is breaths per minute'],
      [70, 200, 'heart rate'],
    ],
  },
};
const FEWEST_SUSPECT = 3;

/** @throws UnitError where most readings of a series lie where the signal can't */
export function checkUnit(signal: Signal, readings: readonly number[]): void {
  const { unit, min, max, mistakes } = PLAUSIBLE[signal];
  const suspects = readings.filter((value) => value < min || value > max);
  if (suspects.length < FEWEST_SUSPECT || suspects.length <= readings.length / 2) return;
  const likely = mistakes.find(([low, high]) => {
    const matching = readings.filter((value) => value >= low && value <= high);
    return matching.length > readings.length / 2;
  });
  const guess = likely === undefined ? 'most readings lie outside' : `these look like ${likely[2]}`;
  throw new UnitError(`${signal} is ${unit}, ${min} to ${max}; ${guess}`);
}

/**
 * What contradicts itself in a whole request; what is no session at all is left to the service.
 * @throws UnitError where the fields of a session can't all be in the units that they have
 */
export function checkRequest({ current_session: current, past_sessions: past }: PredictionRequestBody): void {
  checkSession(current, 'current_session');
  if (!Array.isArray(past)) return;
  past.forEach((session, index) => checkSession(session, `past_sessions[${index}]`));
}

/** @throws UnitError as above */
export function checkSession(session: Session | null | undefined, place: string): void {
  if (typeof session !== 'object' || session === null) return;
  for (const field of BREATHING) {
    const values = session[field];
    if (Array.isArray(values) && isHeartRate(values)) {
      throw new UnitError(`${place}.${field}: ${HEART_RATE_MESSAGE}`);
    }
  }
  const [found] = sleepContradictions(numbersOf(session));
  if (found !== undefined) throw new UnitError(`${place}.${found.field}: ${found.msg}`);
}

const BREATHING = ['RR_day_1h', 'RR_night', 'RR_night_imputed'] as const;

/** Without what callers in plain JavaScript may have put in the place of a number. */
function numbersOf(session: Session): Session {
  return Object.fromEntries(Object.entries(session).filter(([, value]) => typeof value === 'number'));
}

/** Nobody breathes nearly as often as their heart beats; a resting adult breathes once in four beats or so. */
const BREATHS_PER_BEAT_MAX = 0.7;

/** @throws UnitError where the breathing is as fast as the heart: one series was given twice, or they are swapped */
export function checkApart(heart: readonly number[], breath: readonly number[]): void {
  if (heart.length < FEWEST_SUSPECT || breath.length < FEWEST_SUSPECT) return;
  if (median(breath) <= BREATHS_PER_BEAT_MAX * median(heart)) return;
  throw new UnitError(
    'respiratory rate is about as high as heart rate; was one series given for both, or swapped?',
  );
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? NaN;
}
