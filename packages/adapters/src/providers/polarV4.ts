import type { Span, Stage } from '../sleep.js';
import { durations, stretches, untilNext } from '../durations.js';
import { recordsOf, timesOf, type Field } from '../field.js';
import type { SleepDetails, SleepRecord } from '../records.js';
import { Series } from '../series.js';

/**
 * Polar AccessLink v4 ("Dynamic API"), https://www.polar.com/polar-api-v4: its page could not be read. The names are
 * those that public clients use, unverified, 2026-11-22. Durations are those of protocol buffers, "80s".
 */

const STATES: Readonly<Record<string, Stage>> = {
  SLEEP_STATE_WAKE: 'awake',
  SLEEP_STATE_REM: 'rem',
  SLEEP_STATE_NON_REM1: 'light',
  SLEEP_STATE_NON_REM2: 'light',
  SLEEP_STATE_NON_REM3: 'deep',
};
const MINUTE_MS = 60_000;

/** The nights of `/v4/data/sleeps`, or of a list of its answers, because each covers one day. @internal */
export function nightSleepsOf(sent: Field): Field[] | undefined {
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

/** What the recharge of a date says of its nights. @internal */
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
export function recordOfV4(
  field: Field,
  recharges: ReadonlyMap<string, () => ReturnType<typeof rechargeOfV4>>,
): SleepRecord {
  const hypnogram = field.get('sleepResult', 'hypnogram');
  const span = timesOf(beginOf(field), hypnogram.get('sleepEnd'));
  const read = (): SleepDetails => ({
    ...stagesOf(field, hypnogram, span),
    ...recharges.get(field.get('sleepDate').text() ?? '')?.(),
  });
  return { field, ...span, read };
}

function stagesOf(field: Field, hypnogram: Field, span: Span) {
  const evaluation = field.get('sleepEvaluation');
  const phases = evaluation.get('phaseDurations');
  const asleep = secondsOf(evaluation.get('asleepDuration'));
  const awake = secondsOf(phases.get('wake')) ?? secondsOf(evaluation.get('interruptions', 'totalDuration'));
  if (!phases.isAbsent || hypnogram.get('sleepStateChanges').isAbsent) {
    const [deep, rem, light] = ['deep', 'rem', 'light'].map((name) => secondsOf(phases.get(name)));
    return durations(phases.isAbsent ? evaluation : phases, span, 'seconds', { deep, rem, light, awake, asleep }); // prettier-ignore
  }
  const changes = hypnogram.get('sleepStateChanges').items();
  const points = changes.map((change) => ({
    stage: change.get('newState').named(STATES),
    // One at the end of the span, or after it, ends the last stretch.
    from: Math.min(span.fromMs + (secondsOf(change.get('offsetFromStart')) ?? 0) * 1000, span.toMs),
  }));
  const intervals = untilNext(points, span.toMs).filter(({ from, to }) => to > from);
  return stretches(hypnogram.get('sleepStateChanges'), span, intervals, { asleep, awake });
}

/** "80s", "3.000000001s"; zero may be left out. */
function secondsOf(field: Field): number | undefined {
  const text = field.text();
  if (text === undefined) return undefined;
  const found = /^(\d+(?:\.\d+)?)s$/.exec(text);
  return found === null ? field.fail('expected a duration in seconds, as 80s') : Number(found[1]);
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
