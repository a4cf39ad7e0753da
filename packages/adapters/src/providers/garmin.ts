import { adapter, type AdapterOptions } from '../adapt.js';
import { durations, type Stretch } from '../durations.js';
import { recordsOf, refuseOthers, type Field, type Sent } from '../field.js';
import { sleepRecords, type Records, type SentSleep, type SleepDetails } from '../records.js';
import { Series } from '../series.js';
import { STAGES, type Span } from '../sleep.js';

/**
 * Garmin Health API, unverified: its specification is for partners. The names are those of public samples and
 * libraries, 2026-11-22. Times and durations are seconds; samples are dated in seconds after the beginning of their
 * summary.
 */
export interface GarminInput extends AdapterOptions {
  /** Sleep summaries: the list, or a notification with `sleeps`. */
  readonly sleep?: unknown;
  /** Daily summaries, which have heart rate: the list, or a notification with `dailies`. */
  readonly daily?: unknown;
  /** Respiration summaries: the list, or a notification with `allDayRespiration`. */
  readonly respiration?: unknown;
}

/** Tentative summaries come first, final ones some time later. */
const STATES: Readonly<Record<string, SentSleep['state']>> = {
  AUTO_TENTATIVE: 'tentative',
  ENHANCED_TENTATIVE: 'tentative',
  ENHANCED_FINAL: 'final',
};

/** The session of Garmin's summaries. */
export const fromGarmin = /* @__PURE__ */ adapter('garmin', ['sleep', 'daily', 'respiration'], recordsIn);

function recordsIn(sent: Sent<GarminInput>): Records {
  const days = summariesOf(sent('daily'), 'dailies');
  const breaths = summariesOf(sent('respiration'), 'allDayRespiration');
  const sleeps = summariesOf(sent('sleep'), 'sleeps');
  const owner = refuseOthers('userId', sleeps, days, breaths);
  return {
    owner,
    sleeps: sleepRecords(sleeps, sleepOf, (time) => time.unixSeconds()),
    heart: days?.map((day) => offsetSeries(day, 'timeOffsetHeartRateSamples')),
    breath: breaths?.map((one) => offsetSeries(one, 'timeOffsetEpochToBreaths')),
  };
}

function summariesOf(sent: Field, name: string): Field[] | undefined {
  const what = `the list of summaries, or a notification with ${name}`;
  return recordsOf(sent, { list: [name], isList: true, what });
}

function sleepOf(field: Field): SentSleep {
  const from = field.get('startTimeInSeconds');
  const stages = {
    deep: field.get('deepSleepDurationInSeconds').number(),
    rem: field.either('remSleepInSeconds', 'remSleepDurationInSeconds').number(),
    light: field.get('lightSleepDurationInSeconds').number(),
    awake: field.get('awakeDurationInSeconds').number(),
  };
  const sleepS = (stages.deep ?? 0) + (stages.rem ?? 0) + (stages.light ?? 0);
  // In most samples the duration is that of sleep, in some it has the time awake in it: the sleep ends where both fit.
  const durationS = field.get('durationInSeconds').number() ?? 0;
  const unmeasuredS = field.get('unmeasurableSleepInSeconds').number() ?? 0;
  const stagedS = sleepS + (stages.awake ?? 0) + unmeasuredS;
  const levels = sleepS > 0 ? [] : levelsOf(field.get('sleepLevelsMap'));
  const lastMs = levels.reduce((last, { to }) => Math.max(last, to), 0);
  const toMs = Math.max(from.unixSeconds() + Math.max(durationS, stagedS) * 1000, lastMs);
  const asleep = sleepS > 0 || levels.length > 0 ? undefined : durationS;
  const staged = [field.get('sleepLevelsMap'), () => levels] as const;
  const read = (span: Span): SleepDetails => ({
    unmeasuredS,
    ...durations(field, span, 'seconds', asleep === undefined ? stages : { asleep }, staged),
    breath: offsetSeries(field, 'timeOffsetSleepRespiration'),
  });
  const validation = field.get('validation');
  return {
    field,
    from,
    to: from.as(toMs / 1000),
    eastMs: (ms) => field.get('startTimeOffsetInSeconds').offset(ms),
    unusable: validation.text() === 'OFF_WRIST' ? 'the watch was off the wrist' : undefined,
    state: validation.named(STATES),
    read,
  };
}

/** `{"deep": [{"startTimeInSeconds": …, "endTimeInSeconds": …}], …}` */
function levelsOf(field: Field): Stretch[] {
  return field.entries().flatMap(([level, ranges]) =>
    ranges.items().map((one) => ({
      stage: STAGES.find((stage) => stage === level),
      from: one.get('startTimeInSeconds').unixSeconds(),
      to: one.get('endTimeInSeconds').unixSeconds(),
    })),
  );
}

/** `{"0": 62, "15": 61}`: seconds after the beginning of the summary. */
function offsetSeries(summary: Field, name: string): Series {
  const field = summary.get(name);
  const samples = () => {
    if (field.isAbsent) return [];
    const fromMs = summary.get('startTimeInSeconds').unixSeconds();
    return field.entries().map(([seconds, value]) => {
      if (!/^\d+$/.test(seconds)) value.fail('expected seconds after the beginning');
      return { at: fromMs + Number(seconds) * 1000, value: value.number() };
    });
  };
  return new Series(field, samples);
}
