import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { personFields, type Person } from './person.js';
import type { Reading } from './series.js';
import type { Session } from './session.js';
import { sleepFields, type StageDurations } from './sleep.js';
import { checkApart, checkSession, checkUnit } from './unitChecks.js';

/** The readings of both signals within a span, in any order. @internal */
export interface Readings {
  readonly heart: readonly Reading[];
  readonly breath: readonly Reading[];
}

/** The limits of a service with default settings. */
const { daySamplesMax, nightSamplesMax } = DEFAULT_SERIES_LIMITS;

/**
 * The fields of the person, and of the hour before the moment to score.
 * @throws UnitError if values are most likely in another unit
 * @internal
 */
export function daySession(atMs: number, person: Person, readings: Readings): Session {
  const [HR_day_1h, RR_day_1h] = seriesOf(readings, daySamplesMax);
  return checkSession({ HR_day_1h, RR_day_1h, ...personFields(person, atMs) });
}

/**
 * The fields of the night.
 * @throws UnitError as above
 * @internal
 */
export function nightSession(stages: StageDurations, readings: Readings): Session {
  const fields = sleepFields(stages);
  const [HR_night, RR_night] = seriesOf(readings, nightSamplesMax);
  return checkSession({ HR_night, RR_night, ...fields });
}

function seriesOf({ heart, breath }: Readings, samplesMax: number): [heart: number[], breath: number[]] {
  const [beats, breaths] = [valuesOf(heart, samplesMax), valuesOf(breath, samplesMax)];
  checkUnit('heart rate', beats);
  checkUnit('respiratory rate', breaths);
  checkApart(beats, breaths);
  return [beats, breaths];
}

/**
 * Oldest first; of several readings at one moment, as in overlapping downloads, the last counts. If there are more than
 * the service takes, every second, third, …: the spacing stays even.
 */
function valuesOf(readings: readonly Reading[], samplesMax: number): number[] {
  const ordered = readings.toSorted((a, b) => a.at - b.at);
  const last = ordered.filter(({ at }, index) => at !== ordered[index + 1]?.at);
  const values = last.map(({ value }) => value);
  const step = Math.ceil(values.length / samplesMax);
  return step <= 1 ? values : values.filter((_, index) => index % step === 0);
}
