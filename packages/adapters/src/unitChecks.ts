import { HEART_RATE_MESSAGE, isHeartRate, sleepContradictions } from '#rules/contradictions.js';
import {
  BREATHS_PER_BEAT_MAX,
  PLAUSIBLE,
  SENTINELS,
  SUSPECT_SAMPLES_MIN,
  isAnotherUnit,
  unitGuess,
  type Signal,
} from '#rules/plausible.js';
import { placeOf, type Path } from './adapterError.js';
import type { Session } from './session.js';

/** A value that is most likely in another unit than the service expects. The message never holds the value. */
export class UnitError extends RangeError {
  override readonly name = 'UnitError';
  readonly type = 'unit_error';

  constructor(
    /** The message without the field. */
    readonly sentence: string,
    /** Empty if it is not about one field. */
    readonly path: Path = [],
  ) {
    super(path.length === 0 ? sentence : `${placeOf(path)}: ${sentence}`);
  }
}

/** @internal */
export function isReading(value: number | null | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value) && !SENTINELS.includes(value);
}

/**
 * @throws UnitError if most readings of a series are impossible for the signal
 * @internal
 */
export function checkUnit(signal: Signal, readings: readonly number[]): void {
  const plausible = PLAUSIBLE[signal];
  const { unit, min, max } = plausible;
  const within = readings.filter((value) => value >= min && value <= max).length;
  if (!isAnotherUnit(readings.length - within, within)) return;
  throw new UnitError(`${signal} is ${unit}, ${min} to ${max}; ${unitGuess(plausible, readings)}`);
}

/**
 * @returns the session
 * @throws UnitError if its fields can't all be in the units that they have
 * @internal
 */
export function checkSession(session: Session): Session {
  for (const field of ['RR_day_1h', 'RR_night'] as const)
    if (isHeartRate(session[field] ?? [])) throw new UnitError(`session.${field}: ${HEART_RATE_MESSAGE}`);
  const [found] = sleepContradictions(session);
  if (found !== undefined) throw new UnitError(`session.${found.field}: ${found.msg}`);
  return session;
}

/**
 * @throws UnitError if breathing is as fast as the heart: one series was given twice, or the two were swapped
 * @internal
 */
export function checkApart(heart: readonly number[], breath: readonly number[]): void {
  if (heart.length < SUSPECT_SAMPLES_MIN || breath.length < SUSPECT_SAMPLES_MIN) return;
  if (median(breath) <= BREATHS_PER_BEAT_MAX * median(heart)) return;
  throw new UnitError(
    'respiratory rate is about as high as heart rate; was one series given for both, or swapped?',
  );
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? NaN;
}
