import type { Span, Stage } from '../sleep.js';
import { adapter, type AdapterOptions } from '../adapt.js';
import { durations, untilNext } from '../durations.js';
import { recordsOf, refuseOthers, type Field, type Sent } from '../field.js';
import {
  beginOf,
  heartDaysOf,
  heartOfV4,
  nightlyRechargesOf,
  nightSleepsOf,
  rechargeOfV4,
  sleepOfV4,
} from './polarV4.js';
import { firstFrom, once } from '../ordered.js';
import { sleepRecords, type Records, type SentSleep, type SleepDetails } from '../records.js';
import { Series, type Sample } from '../series.js';
import { DAY_MS, MINUTE_MS } from '../zone.js';

/**
 * Polar AccessLink v3: https://www.polar.com/accesslink-api (sleep, nightly recharge, continuous heart rate),
 * 2026-11-22. Within a night the times are clock times without a date: they are dated from the sleep's beginning, in
 * its offset. Answers of v4 are read as well.
 */
export interface PolarInput extends AdapterOptions {
  /** The answer of `GET /v3/users/sleep`, or one night of it; or those of `GET /v4/data/sleeps`; or an export's nights. */
  readonly sleep?: unknown;
  /**
   * The answer of `GET /v3/users/nightly-recharge`, or one night of it, or of `/v4/data/nightly-recharge-results`,
   * for breathing.
   */
  readonly recharge?: unknown;
  /**
   * The answer of `GET /v3/users/continuous-heart-rate/{date}` or `/v4/data/continuous-samples`, with times in the
   * offset of the sleep or `zone`.
   */
  readonly heart_rate?: unknown;
}

/** By number; 5 is unknown. */
const LEVELS: readonly Stage[] = ['awake', 'rem', 'light', 'light', 'deep'];

/** The session of Polar's answers. */
export const fromPolar = /* @__PURE__ */ adapter('polar', ['sleep', 'recharge', 'heart_rate'], recordsIn);

function recordsIn(sent: Sent<PolarInput>): Records {
  const [nights, recharges] = [sent('sleep'), sent('recharge')];
  const newer = nightSleepsOf(nights);
  const older = newer ? undefined : ofV3(nights, 'nights', 'sleep_start_time', SLEEP);
  const newerRecharges = nightlyRechargesOf(recharges);
  const olderRecharges = newerRecharges ? undefined : ofV3(recharges, 'recharges', 'date', RECHARGE);
  const owner = refuseOthers('polar_user', older, olderRecharges);
  const recharged = byDate(olderRecharges, 'date', rechargeOf);
  const rechargedV4 = byDate(newerRecharges, 'sleepResultDate', rechargeOfV4);
  const begins = newer?.map(beginOf) ?? older?.map((night) => night.get('sleep_start_time')) ?? [];
  const zoneOn = sent.options.zone === undefined ? offsetsOf(begins) : () => sent.options.zone;
  const inZone = (day: Field) => day.in(zoneOn(day.get('date').text() ?? ''));
  const days = sent('heart_rate');
  return {
    owner,
    sleeps:
      sleepRecords(newer, (night) => sleepOfV4(night, rechargedV4)) ??
      sleepRecords(older, (night) => sleepOf(night, recharged)),
    heart:
      heartDaysOf(days)?.map((day) => heartOfV4(inZone(day))) ??
      ofV3(days, 'heart_rates', 'date', HEART)?.map((day) => heartOf(inZone(day))),
  };
}

const SLEEP = 'sleep, with nights, or of /v4/data/sleeps, with nightSleeps';
const RECHARGE = 'nightly-recharge, with recharges, or that of v4';
const HEART = 'continuous-heart-rate, of a day or with heart_rates, or that of v4';

/** The first of each date, read once for all nights of the date. */
function byDate<Of>(
  recharges: readonly Field[] | undefined,
  name: string,
  of: (recharge: Field) => Of,
): ReadonlyMap<string, () => Of> {
  const dated = (recharges ?? []).map((one) => [one.get(name).text() ?? '', once(() => of(one))] as const);
  return new Map(dated.toReversed());
}

/** The records of an answer of v3, or one by itself, which has the field `one`. */
function ofV3(answer: Field, list: string, one: string, what: string): Field[] | undefined {
  return recordsOf(answer, { list: [list], one, what: `the answer of /v3/users/${what}` });
}

/** The offset of a day: that of the sleep whose start, as it is written, is nearest to its early morning. */
function offsetsOf(begins: readonly Field[]): (date: string) => string | undefined {
  const known = begins.flatMap((begin) => {
    const [, clock = '', offset] = /^(.*?)(Z|[+-]\d\d:?\d\d)$/.exec(begin.text() ?? '') ?? [];
    return offset === undefined ? [] : [{ ms: Date.parse(`${clock}Z`), offset }];
  });
  return (date) => {
    const ms = Date.parse(`${date}T03:00Z`);
    let nearest = known[0];
    for (const one of known) if (Math.abs(one.ms - ms) < Math.abs((nearest?.ms ?? NaN) - ms)) nearest = one;
    return nearest?.offset;
  };
}

function rechargeOf(recharge: Field) {
  return {
    heartAverage: recharge.get('heart_rate_avg'),
    breath: new ClockSamples(recharge.get('breathing_samples')),
    breathAverage: recharge.get('breathing_rate_avg'),
  };
}

function sleepOf(
  field: Field,
  recharges: ReadonlyMap<string, () => ReturnType<typeof rechargeOf>>,
): SentSleep {
  const from = field.get('sleep_start_time');
  const begin = from.text() ?? '';
  const read = (span: Span): SleepDetails => {
    const recharge = recharges.get(field.get('date').text() ?? '')?.();
    return {
      ...stagesOf(field, span, begin),
      heart: new ClockSamples(field.get('heart_rate_samples')).series(span, begin),
      ...(recharge && { ...recharge, breath: recharge.breath.series(span, begin) }),
    };
  };
  return { field, from, to: field.get('sleep_end_time'), read };
}

function stagesOf(field: Field, span: Span, begin: string) {
  const hypnogram = field.get('hypnogram');
  const sums = {
    deep: field.get('deep_sleep').number(),
    rem: field.get('rem_sleep').number(),
    light: field.get('light_sleep').number(),
    awake: field.get('total_interruption_duration').number(),
    unknown: field.get('unrecognized_sleep_stage').number(),
  };
  const levels = () => {
    const points = new ClockSamples(hypnogram).dated(span.fromMs, Infinity, begin);
    const begins = points.map(({ at, value }) => ({ stage: LEVELS[value ?? -1], from: at }));
    return untilNext(begins, span.toMs);
  };
  return durations(field, span, 'seconds', sums, [hypnogram, levels]);
}

/** `{"23:39": 58, "00:04": 56}`: read once, and dated for each night, because several may have the date of one. */
class ClockSamples {
  private readonly byClock: () => readonly Sample[];

  constructor(private readonly field: Field) {
    this.byClock = once(() => {
      const samples = field
        .entries()
        .map(([clock, value]) => ({ at: clockMs(clock, value), value: value.number() }));
      return samples.toSorted((a, b) => a.at - b.at);
    });
  }

  series({ fromMs, toMs }: Span, begin: string): Series {
    return new Series(this.field, () => this.dated(fromMs, toMs, begin));
  }

  /** Each at the first time at or after `fromMs` that has its time of the clock, in order, up to `toMs`. */
  dated(fromMs: number, toMs: number, begin: string): Sample[] {
    const [, hour = '0', minute = '0', second = '0'] = /T(\d\d):(\d\d)(?::(\d\d))?/.exec(begin) ?? [];
    const midnightMs = fromMs - ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000;
    const samples = this.byClock();
    // Samples carry whole minutes: one of the minute that the sleep began in is of the same day.
    const first = firstFrom(fromMs - midnightMs - MINUTE_MS, samples, ({ at }) => at);
    const found: Sample[] = [];
    for (let index = first; index < first + samples.length; index++) {
      const { at = NaN, value } = samples[index % samples.length] ?? {};
      const ms = midnightMs + at + (index < samples.length ? 0 : DAY_MS);
      if (!(ms <= toMs)) break;
      found.push({ at: Math.max(ms, fromMs), value });
    }
    return found;
  }
}

function clockMs(clock: string, field: Field): number {
  const found = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/.exec(clock);
  if (found === null) field.fail('expected a time of the clock, as 23:39');
  return ((Number(found[1]) * 60 + Number(found[2])) * 60 + Number(found[3] ?? 0)) * 1000;
}

function heartOf(day: Field): Series {
  const date = day.get('date').text() ?? day.get('date').fail('is missing');
  const list = day.get('heart_rate_samples');
  const samples = () =>
    list.items().map((one) => {
      const clock = one.get('sample_time');
      const at = clock.as(`${date}T${clock.text()}`).moment();
      return { at, value: one.get('heart_rate').number() };
    });
  return new Series(list, samples);
}
