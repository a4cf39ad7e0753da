import type { Span, Stage } from '../sleep.js';
import { durations, untilNext } from '../durations.js';
import { recordsOf, type Field } from '../field.js';
import type { SentSleep, SleepDetails } from '../records.js';
import { Series } from '../series.js';
import { MINUTE_MS } from '../zone.js';

/**
 * Polar AccessLink v4 ("Dynamic API"), https://www.polar.com/polar-api-v4: its page could not be read. The names are
 * those that public clients use, unverified, 2026-11-22. Durations are those of protocol buffers, "80s". The nights of an
 * account's export are the same under other names, with durations of ISO 8601: so say public readers, 2026-11-28.
 */

/** After `SLEEP_STATE_`, without `_`. */
const STATES: Readonly<Record<string, Stage>> = {
  WAKE: 'awake',
  REM: 'rem',
  NONREM1: 'light',
  NONREM2: 'light',
  NONREM3: 'deep',
};

/** The nights of `/v4/data/sleeps`, of a list of its answers, because each covers one day, or of an export. @internal */
export function nightSleepsOf(sent: Field): Field[] | undefined {
  if (sent.isList && answersWith(sent, 'evaluation') !== undefined) return sent.items();
  const answers = answersWith(sent, 'nightSleeps');
  if (answers === undefined) return undefined;
  const nights = answers.flatMap(
    (answer) => recordsOf(answer, { list: ['nightSleeps'], what: 'the answer of /v4/data/sleeps' }) ?? [],
  );
  const full = nights.filter((night) => !night.get('sleepResult').isAbsent);
  if (full.length === 0 && nights[0] !== undefined)
    nights[0]
      .get('sleepResult')
      .fail('is missing: ask for a day with features=sleep-result and sleep-evaluation');
  return full;
}

/** The nights of `/v4/data/nightly-recharge-results`. @internal */
export function nightlyRechargesOf(sent: Field): Field[] | undefined {
  const name = 'nightlyRechargeResults';
  return answersWith(sent, name)?.flatMap((answer) => {
    const inner = answer.get(name);
    return inner.has(name) ? inner.get(name).items() : inner.items();
  });
}

/** The days of `/v4/data/continuous-samples`. @internal */
export function heartDaysOf(sent: Field): Field[] | undefined {
  const name = 'heartRateSamplesPerDay';
  return (answersWith(sent, 'continuousSamples') ?? answersWith(sent, name))?.flatMap((answer) => {
    const inner = answer.has(name) ? answer : answer.get('continuousSamples');
    return inner.get(name).items();
  });
}

/** Undefined if it is no answer of v4. */
function answersWith(sent: Field, name: string): Field[] | undefined {
  const answers = sent.oneOrItems();
  return answers.length > 0 && answers.every((answer) => answer.has(name)) ? answers : undefined;
}

/** The offset with which the sleep's start time is written. @internal */
export function beginOf(night: Field): Field {
  return night.get('sleepResult', 'hypnogram', 'sleepStart');
}

/** The recharge of a date, for its nights. @internal */
export function rechargeOfV4(
  recharge: Field,
): Pick<SleepDetails, 'heartAverage' | 'breath' | 'breathAverage'> {
  return {
    heartAverage: perMinute(recharge.get('meanNightlyRecoveryRri')),
    breath: breathOf(recharge.get('breathingRateSamples')),
    breathAverage: perMinute(recharge.get('meanNightlyRecoveryRespirationInterval')),
  };
}

/** @param recharges  by date; @internal */
export function sleepOfV4(
  field: Field,
  recharges: ReadonlyMap<string, () => ReturnType<typeof rechargeOfV4>>,
): SentSleep {
  const read = (span: Span): SleepDetails => ({
    ...stagesOf(field, span),
    ...recharges.get(field.either('sleepDate', 'night').text() ?? '')?.(),
  });
  return { field, from: beginOf(field), to: field.get('sleepResult', 'hypnogram', 'sleepEnd'), read };
}

function stagesOf(field: Field, span: Span) {
  const evaluation = field.either('sleepEvaluation', 'evaluation');
  const phases = evaluation.get('phaseDurations');
  const changes = field.get('sleepResult', 'hypnogram', 'sleepStateChanges');
  const [deep, rem, light, unknown] = ['deep', 'rem', 'light', 'unknown'].map((name) =>
    secondsOf(phases.get(name)),
  );
  const asleep = secondsOf(evaluation.get('asleepDuration'));
  const awake = secondsOf(phases.get('wake')) ?? secondsOf(evaluation.get('interruptions', 'totalDuration'));
  const pointOf = (change: Field) => {
    const state = change.either('newState', 'state');
    return {
      stage: state.as(state.text()?.replaceAll(/^SLEEP_STATE_|_/g, '')).named(STATES),
      // One at the end of the span, or after it, ends the last stretch.
      from: Math.min(span.fromMs + (secondsOf(change.get('offsetFromStart')) ?? 0) * 1000, span.toMs),
    };
  };
  const intervals = () =>
    untilNext(changes.items().map(pointOf), span.toMs).filter(({ from }) => from < span.toMs);
  const sums = { deep, rem, light, unknown, awake, asleep };
  return durations(phases.isAbsent ? evaluation : phases, span, 'seconds', sums, [changes, intervals]);
}

/** "80s", "3.000000001s", "PT7H2M"; zero may be left out. */
function secondsOf(field: Field): number | undefined {
  const text = field.text();
  if (text === undefined) return undefined;
  const found = /^(?:PT(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?|(\d+(?:\.\d+)?)s)$/.exec(text);
  if (found === null) return field.fail('expected a duration in seconds, as 80s');
  const [hours, minutes, seconds, all] = found.slice(1).map((part) => Number(part ?? 0));
  return ((hours ?? 0) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0) + (all ?? 0);
}

/** The rate per minute, in hundredths, from the mean milliseconds between two. */
function perMinute(field: Field): Field {
  const ms = field.number();
  if (ms === undefined || ms <= 0) return field.as(undefined);
  return field.as(Math.round((MINUTE_MS / ms) * 100) / 100);
}

function breathOf(field: Field): Series {
  const samples = () =>
    field.items().flatMap((run) => {
      const values = run.get('breathingRateValues').items();
      if (values.length === 0) return [];
      const fromMs = run.get('startTime').moment();
      const interval = run.get('sampleInterval');
      const stepMs = interval.required(secondsOf(interval)) * 1000;
      return values.map((value, index) => ({ at: fromMs + index * stepMs, value: value.number() }));
    });
  return new Series(field, samples);
}

/** Samples are dated in milliseconds after local midnight; those without a time are left out. @internal */
export function heartOfV4(day: Field): Series {
  const date = day.get('date');
  const list = day.get('samples');
  const samples = () => {
    const timed = list.items().filter((one) => !one.get('offsetMillis').isAbsent);
    const midnightMs = timed.length === 0 ? 0 : date.as(`${date.required(date.text())}T00:00`).moment();
    return timed.map((one) => ({
      at: midnightMs + (one.get('offsetMillis').number() ?? 0),
      value: one.get('heartRate').number(),
    }));
  };
  const device = day.get('deviceRef');
  return new Series(list, samples, device.get('deviceId').text() ?? device.get('uuid').text());
}
