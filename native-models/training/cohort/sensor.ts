import { DEFAULT_SERIES_LIMITS, type SeriesField } from '#acuity/contract/request.js';
import type { SessionScalars } from '#acuity/pipeline/records.js';
import type { Day } from './day.js';
import type { Device } from './devices.js';
import type { Parameters } from './parameters.js';
import { clamp, type Person } from './person.js';
import { Random } from './random.js';
import { dayBreath, dayHeart, nightBreath, nightHeart, Stages, type Signal } from './signals.js';
import { STREAM } from './streams.js';

const { daySamplesMax, nightSamplesMax } = DEFAULT_SERIES_LIMITS;
const [HR_DAY, RR_DAY, HR_NIGHT, RR_NIGHT] = [0, 1, 2, 3] as const;
const SERIES = 4;

/** Bodies are simulated this finely where a device smooths, averages or samples no finer. */
const STEP_MIN = 1;

/** A session whose series k, `[k]`, is `samples[bounds[2k] … bounds[2k + 1])` of its recording; `[]` is empty. */
export type RecordedSession = SessionScalars & { [F in SeriesField]?: readonly number[] };

/** What the device made of a day, in the reused buffers of a `Sensor`. */
export interface Recording {
  readonly session: RecordedSession;
  readonly samples: Float32Array;
  readonly bounds: Int32Array;
}

/** What a device does to one signal. */
interface Channel {
  readonly everyMin: number;
  readonly averages: number;
  readonly bias: number;
  readonly errorSd: number;
  readonly sentinel: number;
  readonly digits: number;
  readonly low: number;
  /** Motion and other artefacts: between these. */
  readonly wild: readonly [low: number, high: number];
  readonly wildChance: number;
}

/**
 * Turns true days into sessions as wearables would deliver them. Its buffers hold until the next day. Bodies and
 * devices draw from streams of their own: with `stepMin` given, two devices look at the same heartbeats.
 */
export class Sensor {
  private readonly samples = new Float32Array(SERIES * nightSamplesMax);
  private readonly bounds = new Int32Array(SERIES * 2);
  private readonly lengths = new Int32Array(SERIES);
  private readonly random = new Random();
  private readonly body = new Random();

  constructor(
    private readonly seed: number,
    private readonly p: Parameters,
    private readonly stepMin?: number,
  ) {}

  record(person: Person, day: Day, device: Device): Recording {
    const { p, random, body, bounds } = this;
    random.reseed(this.seed, person.id, STREAM.sensor, day.index);
    body.reseed(this.seed, person.id, STREAM.body, day.index);
    const isNightLost = random.chance(p.nightLost);
    const isDayLost = random.chance(p.dayLost);
    this.lengths.fill(0);
    const sleep = this.sleepFields(day, device);
    this.writeDay(person, day, device);
    if (this.hasNight(day)) this.writeNight(person, day, device);
    const has = (k: number, isLost: boolean): [] | [number] =>
      isLost || (this.lengths[k] ?? 0) === 0 ? [] : [k];
    for (let k = 0; k < SERIES; k++) {
      bounds[2 * k] = k * nightSamplesMax;
      bounds[2 * k + 1] = k * nightSamplesMax + (this.lengths[k] ?? 0);
    }
    const session: RecordedSession = {
      HR_day_1h: has(HR_DAY, isDayLost),
      RR_day_1h: has(RR_DAY, isDayLost),
      HR_night: has(HR_NIGHT, isNightLost),
      RR_night: has(RR_NIGHT, isNightLost),
      ...(isNightLost ? {} : sleep),
      age: person.age,
      height_cm: round(person.heightCm, 0),
      weight_kg: round(person.weightKg, 1),
      sex: person.sex,
    };
    return { session, samples: this.samples, bounds };
  }

  /** A night that nobody spent in bed has no series; of one without sleep devices mostly keep none. */
  private hasNight({ asleepH, awakeH }: Day): boolean {
    const isKept = this.random.chance(this.p.sleeplessKept);
    return asleepH > 0 || (awakeH > 0 && isKept);
  }

  private writeDay(person: Person, day: Day, device: Device): void {
    const { p, body } = this;
    const heart = this.heart(device);
    this.observe(HR_DAY, dayHeart(person, day, this.step(device.hrEveryMin, device), body), heart, device);
    if (device.dayRrEveryMin === 0) return;
    const breath = this.breath(device, device.dayRrEveryMin);
    this.observe(
      RR_DAY,
      dayBreath(person, day, p, this.step(device.dayRrEveryMin, device), body),
      breath,
      device,
    );
  }

  private writeNight(person: Person, day: Day, device: Device): void {
    const { p, body, random } = this;
    const stages = new Stages(day, p, body);
    const half = random.chance(p.halfLost) ? (random.chance(0.5) ? 'first' : 'second') : 'none';
    const heart = nightHeart(person, day, stages, p, this.step(device.hrEveryMin, device), body);
    this.observe(HR_NIGHT, without(half, heart), this.heart(device), device);
    if (device.nightRrEveryMin === 0) return;
    const breath = nightBreath(person, day, stages, p, this.step(device.nightRrEveryMin, device), body);
    this.observe(RR_NIGHT, without(half, breath), this.breath(device, device.nightRrEveryMin), device);
  }

  /** How finely a body is simulated for a device. */
  private step(everyMin: number, { smoothMin, hrAverages, rrAverages }: Device): number {
    if (this.stepMin !== undefined) return this.stepMin;
    return smoothMin > 0 || hrAverages > 0 || rrAverages > 0 ? Math.min(STEP_MIN, everyMin) : everyMin;
  }

  private heart(device: Device): Channel {
    const { p } = this;
    return {
      everyMin: device.hrEveryMin,
      averages: device.hrAverages,
      bias: device.hrBias,
      errorSd: p.hrErrorSd,
      sentinel: device.hrSentinel,
      digits: device.hrDigits,
      low: 30,
      wild: [p.wildHrLeast, p.wildHrMost],
      wildChance: p.wildSeries,
    };
  }

  private breath(device: Device, everyMin: number): Channel {
    const { p } = this;
    return {
      everyMin,
      averages: device.rrAverages,
      bias: device.rrBias,
      errorSd: p.rrErrorSd,
      sentinel: device.rrSentinel,
      digits: device.rrDigits,
      low: 5,
      wild: [p.wildRrLeast, p.wildRrMost],
      wildChance: p.wildSeries,
    };
  }

  /** Samples a signal: errors first, then the device's smoothing, then wild samples and gaps. */
  private observe(k: number, signal: Signal, channel: Channel, device: Device): void {
    const { values, stepMin } = signal;
    const { random } = this;
    for (let at = 0; at < values.length; at++) {
      values[at] = (values[at] ?? 0) + channel.bias + random.normal(0, channel.errorSd);
    }
    if (channel.averages > 0) this.writeAverages(k, values, channel);
    else this.writeSamples(k, smoothed(values, device.smoothMin / stepMin), stepMin, channel, device);
  }

  /** One average of the whole time, or of each third of it. */
  private writeAverages(k: number, values: Float64Array, channel: Channel): void {
    const parts = Math.min(channel.averages, values.length);
    for (let part = 0; part < parts; part++) {
      const of = values.subarray((part * values.length) / parts, ((part + 1) * values.length) / parts);
      this.put(k, of.reduce((sum, value) => sum + value, 0) / of.length, channel);
    }
  }

  private writeSamples(
    k: number,
    values: Float64Array,
    stepMin: number,
    channel: Channel,
    device: Device,
  ): void {
    const { p, random } = this;
    const missing = p.burstShareMin + (p.burstShareMax - p.burstShareMin) * random.uniform();
    const gapStart = missing / (p.burstMin * (1 - missing));
    const durationMin = values.length * stepMin;
    const wildAtMin = random.chance(channel.wildChance) ? random.uniform() * durationMin : Infinity;
    const [wildLow, wildHigh] = channel.wild;
    const wild = wildLow + random.uniform() * (wildHigh - wildLow);
    let isWild = false;
    let gapLeftMin = 0;
    let atMin = random.uniform() * channel.everyMin;
    while (atMin < durationMin) {
      const everyMin = device.isRegular
        ? channel.everyMin
        : channel.everyMin * (0.3 + 1.4 * random.uniform());
      if (gapLeftMin <= 0 && random.chance(gapStart * everyMin)) {
        gapLeftMin = -p.burstMin * Math.log(1 - random.uniform());
      }
      const isWildNow: boolean = !isWild && atMin >= wildAtMin;
      isWild ||= isWildNow;
      const value = isWildNow ? wild : (values[Math.floor(atMin / stepMin)] ?? 0);
      if (gapLeftMin <= 0) this.put(k, value, channel);
      else if (!Number.isNaN(channel.sentinel)) this.putRaw(k, channel.sentinel);
      gapLeftMin -= everyMin;
      atMin += everyMin;
    }
  }

  private put(k: number, value: number, channel: Channel): void {
    this.putRaw(k, round(Math.max(channel.low, value), channel.digits));
  }

  private putRaw(k: number, value: number): void {
    const length = this.lengths[k] ?? 0;
    if (length >= (k === HR_DAY || k === RR_DAY ? daySamplesMax : nightSamplesMax)) return;
    this.samples[k * nightSamplesMax + length] = value;
    this.lengths[k] = length + 1;
  }

  /** The night's stages as the device estimates them, worded in its own habit. */
  private sleepFields(day: Day, device: Device): SessionScalars {
    const { p, random } = this;
    const shrink = (share: number, centre: number, bias: number): number =>
      clamp(
        centre + bias + p.stageShrink * (share - centre) + random.normal(0, p.stageErrorShare),
        0.005,
        0.6,
      );
    const error = device.sleepBiasH + random.normal(0, p.sleepErrorH);
    const awakeError = random.normal(0, 0.08);
    const deep = shrink(day.deepShare, 0.15, device.deepBias);
    const rem = shrink(day.remShare, 0.2, device.remBias);
    if (day.asleepH === 0) return this.sleeplessFields(day);
    // Of a short night a device can't be wrong by more than the night.
    const asleepH = Math.max(0.1, day.asleepH + error * Math.min(1, day.asleepH / 3));
    const napH = device.countsNaps ? day.napH : 0;
    const awakeH = clamp(day.awakeH - 0.4 * (asleepH - day.asleepH) + awakeError, 0.02, 8);
    const deepS = Math.round(asleepH * deep * 60) * 60;
    const remS = Math.round(asleepH * rem * 60) * 60;
    const lightS = Math.round((asleepH * (1 - deep - rem) + napH) * 60) * 60;
    const awakeS = Math.round(awakeH * 60) * 60;
    const totalS = deepS + remS + lightS;
    const unit = device.hasPercentPoints ? 100 : 1;
    return {
      sleepTimeSeconds: totalS + (device.isTotalWithAwake ? awakeS : 0),
      deepSleepSeconds: deepS,
      remSleepSeconds: remS,
      lightSleepSeconds: lightS,
      awakeSleepSeconds: awakeS,
      deepPercentage: round((unit * deepS) / totalS, 3),
      remPercentage: round((unit * remS) / totalS, 3),
      lightPercentage: round((unit * lightS) / totalS, 3),
    };
  }

  /** Zeros, with the time in bed as time awake or without it; now and then nothing at all. */
  private sleeplessFields(day: Day): SessionScalars {
    const { p, random } = this;
    if (random.chance(p.sleeplessUnsaid)) return {};
    // Of a night awake in bed some devices keep all, some a part, some nothing.
    const keptH = day.awakeH * clamp(1.6 * random.uniform() - 0.3, 0, 1);
    const awakeS = Math.round(keptH * 60) * 60;
    return {
      sleepTimeSeconds: 0,
      deepSleepSeconds: 0,
      remSleepSeconds: 0,
      lightSleepSeconds: 0,
      awakeSleepSeconds: awakeS,
    };
  }
}

type Half = 'none' | 'first' | 'second';

/** A device that ran out or fell off leaves half of a night. */
function without(half: Half, { stepMin, values }: Signal): Signal {
  if (half === 'none') return { stepMin, values };
  const middle = Math.ceil(values.length / 2);
  return { stepMin, values: half === 'first' ? values.subarray(middle - 1) : values.subarray(0, middle) };
}

/** Moving averages over so many steps up to each. */
function smoothed(values: Float64Array, steps: number): Float64Array {
  const width = Math.round(steps);
  if (width <= 1) return values;
  const averages = new Float64Array(values.length);
  let sum = 0;
  for (let at = 0; at < values.length; at++) {
    sum += (values[at] ?? 0) - (at >= width ? (values[at - width] ?? 0) : 0);
    averages[at] = sum / Math.min(width, at + 1);
  }
  return averages;
}

function round(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}
