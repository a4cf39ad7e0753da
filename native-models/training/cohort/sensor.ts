import type { SeriesField } from '#rules/fields.js';
import type { SessionFrame } from '#acuity/contract/request.js';
import type { Day } from './day.js';
import type { Device } from './devices.js';
import type { Parameters } from './parameters.js';
import type { Person } from './person.js';
import { Random } from './random.js';
import { Samples, SERIES, type Channel, type SeriesIndex } from './sampling.js';
import { dayBreath, dayHeart, nightBreath, nightHeart, Stages, type Signal } from './signals.js';
import { sleepFields } from './sleepFields.js';
import { STREAM } from './streams.js';

/** The step of the body simulation if a device smooths or averages. */
const STEP_MIN = 1;

/** A session whose series k, `[k]`, is `samples[bounds[2k] … bounds[2k + 1])` of its recording; `[]` is empty. */
export type RecordedSession = SessionFrame & { [F in SeriesField]?: readonly number[] };

/** A device's recording of a day, in the reused buffers of a `Sensor`. */
export interface Recording {
  readonly session: RecordedSession;
  readonly samples: Float32Array;
  readonly bounds: Int32Array;
}

/**
 * Turns true days into sessions as wearables would deliver them. Its buffers are valid until the next day. Bodies and
 * devices have separate random streams: with `stepMin` given, two devices see the same heartbeats.
 */
export class Sensor {
  private readonly samples = new Samples();
  private readonly random = new Random();
  private readonly body = new Random();

  constructor(
    private readonly seed: number,
    private readonly p: Parameters,
    private readonly stepMin?: number,
    /** Another number draws new errors and losses of the device, for the same days and bodies. */
    private readonly take = 0,
  ) {}

  record(person: Person, day: Day, device: Device): Recording {
    const { p, random, body, samples } = this;
    const retake = this.take === 0 ? [] : [this.take];
    random.reseed(this.seed, person.id, STREAM.sensor, day.index, ...retake);
    body.reseed(this.seed, person.id, STREAM.body, day.index);
    const isNightLost = random.chance(p.nightLost);
    const isDayLost = random.chance(p.dayLost);
    const isNightHrLost = random.chance(p.nightHrLost);
    samples.clear();
    const sleep = sleepFields(day, device, p, random);
    this.writeDay(person, day, device);
    if (this.hasNight(day)) this.writeNight(person, day, device);
    const has = (k: SeriesIndex, isLost: boolean): [] | [number] =>
      isLost || samples.lengthOf(k) === 0 ? [] : [k];
    const session: RecordedSession = {
      HR_day_1h: has(SERIES.HR_DAY, isDayLost),
      RR_day_1h: has(SERIES.RR_DAY, isDayLost),
      HR_night: has(SERIES.HR_NIGHT, isNightLost || isNightHrLost),
      RR_night: has(SERIES.RR_NIGHT, isNightLost),
      ...(isNightLost ? {} : sleep),
      age: person.age,
      height_cm: Math.round(person.heightCm),
      weight_kg: Math.round(person.weightKg * 10) / 10,
      sex: person.sex,
    };
    return { session, samples: samples.values, bounds: samples.bounds };
  }

  /** A night not spent in bed has no series; for a night awake in bed most devices keep none. */
  private hasNight({ asleepH, awakeH }: Day): boolean {
    const isKept = this.random.chance(this.p.sleeplessKept);
    return asleepH > 0 || (awakeH > 0 && isKept);
  }

  private writeDay(person: Person, day: Day, device: Device): void {
    const { p, body } = this;
    const { hrEveryMin, dayRrEveryMin } = device;
    this.observe(SERIES.HR_DAY, dayHeart(person, day, p, this.step(hrEveryMin, device), body), device);
    if (dayRrEveryMin === 0) return;
    this.observe(SERIES.RR_DAY, dayBreath(person, day, p, this.step(dayRrEveryMin, device), body), device);
  }

  private writeNight(person: Person, day: Day, device: Device): void {
    const { p, body, random } = this;
    const { hrEveryMin, nightRrEveryMin } = device;
    const stages = new Stages(day, p, body);
    const half = random.chance(p.halfLost) ? (random.chance(0.5) ? 'first' : 'second') : 'none';
    const heart = nightHeart(person, day, stages, p, this.step(hrEveryMin, device), body);
    this.observe(SERIES.HR_NIGHT, without(half, heart), device);
    if (nightRrEveryMin === 0) return;
    const breath = nightBreath(person, day, stages, p, this.step(nightRrEveryMin, device), body);
    this.observe(SERIES.RR_NIGHT, without(half, breath), device);
  }

  /** The simulation step for a device. */
  private step(everyMin: number, { smoothMin, hrAverages, rrAverages }: Device): number {
    if (this.stepMin !== undefined) return this.stepMin;
    return smoothMin > 0 || hrAverages > 0 || rrAverages > 0 ? Math.min(STEP_MIN, everyMin) : everyMin;
  }

  private observe(k: SeriesIndex, signal: Signal, device: Device): void {
    const { p, random } = this;
    const isHeart = k === SERIES.HR_DAY || k === SERIES.HR_NIGHT;
    const everyMin = k === SERIES.RR_DAY ? device.dayRrEveryMin : device.nightRrEveryMin;
    const channel = isHeart ? heart(device, p) : breath(device, everyMin, p);
    this.samples.observe(k, signal, channel, p, random);
  }
}

function heart(device: Device, p: Parameters): Channel {
  return {
    everyMin: device.hrEveryMin,
    isRegular: device.isRegular,
    smoothMin: device.smoothMin,
    averages: device.hrAverages,
    bias: device.hrBias,
    errorSd: p.hrErrorSd,
    sentinel: device.hrSentinel,
    digits: device.hrDigits,
    low: 30,
    wild: [p.wildHrLeast, p.wildHrMost],
  };
}

function breath(device: Device, everyMin: number, p: Parameters): Channel {
  return {
    everyMin,
    isRegular: device.isRegular,
    smoothMin: device.smoothMin,
    averages: device.rrAverages,
    bias: device.rrBias,
    errorSd: p.rrErrorSd,
    sentinel: device.rrSentinel,
    digits: device.rrDigits,
    low: 5,
    wild: [p.wildRrLeast, p.wildRrMost],
  };
}

type Half = 'none' | 'first' | 'second';

/** Half of a night is lost: the device was empty or fell off. */
function without(half: Half, { stepMin, values }: Signal): Signal {
  if (half === 'none') return { stepMin, values };
  const middle = Math.ceil(values.length / 2);
  return { stepMin, values: half === 'first' ? values.subarray(middle - 1) : values.subarray(0, middle) };
}
