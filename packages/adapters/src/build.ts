import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import type { Signal } from '#rules/plausible.js';
import type { Night } from './choose.js';
import { durationsOf, type Part } from './joined.js';
import type { Left, SleepDetails } from './records.js';
import { ofDevice, within, type Reading, type Series } from './series.js';
import type { Session } from './session.js';
import { sleepFields, type Span } from './sleep.js';
import { checkApart, checkSession, checkUnit, isReading, UnitError } from './unitChecks.js';

/** Samples of both signals besides those of sleeps. @internal */
export type Beside = Readonly<Record<'heart' | 'breath', readonly Series[]>>;

/** Both signals, and the bounds of an average of a night. */
const SIGNALS = [
  { of: 'heart', average: 'heartAverage', signal: 'heart rate', least: 25, most: 150, what: 'beats' },
  { of: 'breath', average: 'breathAverage', signal: 'respiratory rate', least: 3, most: 40, what: 'breaths' },
] as const;

/** The limits of a service with default settings. */
const { daySamplesMax, nightSamplesMax } = DEFAULT_SERIES_LIMITS;

/**
 * The series of the time awake in the hour before the moment to score.
 * @param source  the device of the night
 * @throws UnitError if values are most likely in another unit
 * @internal
 */
export function daySession(awake: readonly Span[], beside: Beside, source: string | undefined): Session {
  const readings = SIGNALS.map(({ of, signal }) => ofDevice(signal, awake, beside[of], source));
  const [HR_day_1h, RR_day_1h] = seriesOf(readings, daySamplesMax);
  return checkSession({ HR_day_1h, RR_day_1h });
}

/**
 * The fields of the night. Of each signal the sleep's own series, else its average, else the series of another device.
 * @throws AdapterError or UnitError if it can't be scored
 * @internal
 */
export function nightSession(night: Night, beside: Beside): { session: Session; left: readonly Left[] } {
  const { field, source } = night.parts[0];
  const parts = night.parts.map((record) => ({ record, details: record.read() }));
  const { stages, asleepS, why } = durationsOf(parts, night);
  const left = [...parts.flatMap(({ details }) => details.left ?? []), ...why.map(told)];
  const averages = SIGNALS.map((signal) => averageOf(parts, (details) => average(details, signal)));
  const readings = SIGNALS.map(({ of, signal }, index) => {
    const own = parts.flatMap(({ record, details }) => within([record], details[of], signal));
    if (own.length > 0) return own;
    const same = beside[of].filter((one) => one.source === undefined || one.source === source);
    const ofSame = ofDevice(signal, night.parts, same, source);
    if (ofSame.length > 0 || averages[index] !== undefined) return ofSame;
    const others = ofDevice(signal, night.parts, beside[of], source);
    if (others.length > 0 && source !== undefined) left.push(told(otherDevice(signal)));
    return others;
  });
  const session = field.located(() => {
    const [HR_night, RR_night] = seriesOf(readings, nightSamplesMax);
    const fields = sleepFields(stages);
    if (fields.sleepTimeSeconds === undefined && asleepS !== undefined)
      fields.sleepTimeSeconds = Math.round(asleepS);
    return checkSession({ HR_night, RR_night, ...fields });
  });
  const [heart, breath] = averages;
  if (session.HR_night?.length === 0 && heart !== undefined) session.HR_night = [heart];
  if (session.RR_night?.length === 0 && breath !== undefined) session.RR_night = [breath];
  return { session, left };

  function told(why: string): Left {
    return { what: field.place, why };
  }
}

function otherDevice(signal: Signal): string {
  return `no ${signal} of its own device: that of another was taken`;
}

/** The mean over the parts that have one, weighted by their lengths; in hundredths if there are several. */
function averageOf(
  parts: readonly Part[],
  of: (details: SleepDetails) => number | undefined,
): number | undefined {
  const known = parts.flatMap(({ record, details }) => {
    const value = of(details);
    return value === undefined ? [] : [{ value, ms: record.toMs - record.fromMs }];
  });
  if (known.length <= 1) return known[0]?.value;
  const ms = known.reduce((sum, one) => sum + one.ms, 0);
  return Math.round((known.reduce((sum, one) => sum + one.value * one.ms, 0) / ms) * 100) / 100;
}

function average(details: SleepDetails, signal: (typeof SIGNALS)[number]): number | undefined {
  const field = details[signal.average];
  const value = field?.quotedNumber();
  if (field === undefined || !isReading(value)) return undefined;
  const { what, least, most } = signal;
  if (value >= least && value <= most) return value;
  throw new UnitError(`expected ${what} per minute on average, ${least} to ${most}`, field.path);
}

function seriesOf(readings: readonly (readonly Reading[])[], samplesMax: number): [number[], number[]] {
  const [beats = [], breaths = []] = readings.map((of) => valuesOf(of, samplesMax));
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
  const step = Math.ceil(last.length / samplesMax);
  return last.map(({ value }) => value).filter((_, index) => step <= 1 || index % step === 0);
}
