import type { SeriesField } from '#acuity/contract/request.js';
import type { SessionScalars } from '#acuity/pipeline/records.js';
import type { Day } from './day.js';
import type { Parameters } from './parameters.js';
import { clamp, type Device, type Person } from './person.js';
import { Random } from './random.js';
import { STREAM } from './day.js';

const CAPACITY = 1_024;
const SERIES = 4;
const CYCLE_MIN = 95;
const HOUR_MIN = 60;

/** Fields of a session that are not series. */
type Scalars = SessionScalars;

/** A session whose series k, `[k]`, is `samples[bounds[2k] … bounds[2k + 1])` of its recording; `[]` is empty. */
export type RecordedSession = SessionScalars & { [F in SeriesField]?: readonly number[] };

/** What the device made of a day, in the reused buffers of a `Sensor`. */
export interface Recording {
  readonly session: RecordedSession;
  readonly samples: Float32Array;
  readonly bounds: Int32Array;
}

/** Levels and rates of one signal over one stretch of time. */
interface Signal {
  readonly everyMin: number;
  readonly level: number;
  readonly noise: number;
  /** Correlation of the slow part of the noise from sample to sample a minute apart. */
  readonly persistence: number;
  readonly errorSd: number;
  readonly sentinel: number;
  readonly low: number;
  readonly digits: number;
}

/** Turns true days into sessions as wearables would deliver them. Its buffers hold until the next day. */
export class Sensor {
  private readonly samples = new Float32Array(CAPACITY * SERIES);
  private readonly bounds = new Int32Array(SERIES * 2);
  private readonly random = new Random();
  private lengths = new Int32Array(SERIES);

  constructor(
    private readonly seed: number,
    private readonly p: Parameters,
  ) {}

  record(person: Person, day: Day): Recording {
    const { p, random, bounds } = this;
    random.reseed(this.seed, person.id, STREAM.sensor, day.index);
    const isNightLost = random.chance(p.nightLost);
    const isDayLost = random.chance(p.dayLost);
    this.lengths.fill(0);
    this.writeDay(person, day);
    const sleep = this.writeNight(person, day);
    const has = (k: number, isLost: boolean): [] | [number] =>
      isLost || (this.lengths[k] ?? 0) === 0 ? [] : [k];
    for (let k = 0; k < SERIES; k++) {
      bounds[2 * k] = k * CAPACITY;
      bounds[2 * k + 1] = k * CAPACITY + (this.lengths[k] ?? 0);
    }
    const session: RecordedSession = {
      HR_day_1h: has(0, isDayLost),
      RR_day_1h: has(1, isDayLost),
      HR_night: has(2, isNightLost),
      RR_night: has(3, isNightLost),
      ...(isNightLost ? {} : sleep),
      age: person.age,
      height_cm: round(person.heightCm, 0),
      weight_kg: round(person.weightKg, 1),
      sex: person.sex,
    };
    return { session, samples: this.samples, bounds };
  }

  private writeDay(person: Person, day: Day): void {
    const { p } = this;
    const hr = person.dayHr + day.dayHrDeviation + person.hrBias;
    const rr = person.dayRr + day.dayRrDeviation + person.rrBias;
    const { device } = person;
    const noise = person.dayHrWithin * Math.exp(this.random.normal(0, 0.25));
    this.writeSteady(0, heartSignal(device, device.hrEveryMin, hr, noise, 0.85, p));
    this.writeSteady(1, breathSignal(device, device.dayRrEveryMin, rr, p.dayRrWithin, p));
  }

  private writeNight(person: Person, day: Day): Scalars {
    const { p, random } = this;
    const { device } = person;
    const durationMin = (day.asleepH + day.awakeH) * HOUR_MIN;
    const stages = new Stages(day, durationMin, random);
    // Levels are night means: the mean ratio of the stages is taken out of them.
    const hrLevel = person.sleepingHr + day.nightHrDeviation + person.hrBias;
    const rrLevel = person.nightRr + day.nightRrDeviation + person.rrBias;
    const hr = heartSignal(device, device.hrEveryMin, hrLevel, person.nightHrWithin, 0.7, p);
    const rr = breathSignal(device, device.nightRrEveryMin, rrLevel, 0.055 * rrLevel, p);
    this.writeStaged(2, hr, stages, [p.wakeHr, 1, p.lightHr, p.deepHr], p.overnightFall);
    if (durationMin < rr.everyMin) this.writeSummary(3, rr);
    else this.writeStaged(3, rr, stages, [p.wakeRr, 1, p.lightRr, p.deepRr], 0);
    return this.sleepFields(person, day);
  }

  /** A signal without stages: the hour before the prediction. */
  private writeSteady(k: number, signal: Signal): void {
    if (signal.everyMin === 0) return;
    let slow = this.random.normal();
    this.write(k, signal, HOUR_MIN, (stepMin) => {
      slow = advance(slow, signal.persistence ** stepMin, this.random);
      return signal.level + signal.noise * (0.92 * slow + 0.39 * this.random.normal());
    });
  }

  private writeStaged(
    k: number,
    signal: Signal,
    stages: Stages,
    ratios: readonly number[],
    fall: number,
  ): void {
    const scale = signal.level / stages.meanOf(ratios);
    let slow = this.random.normal();
    this.write(k, signal, stages.durationMin, (stepMin, atMin) => {
      slow = advance(slow, signal.persistence ** stepMin, this.random);
      const trend = fall * (0.5 - atMin / stages.durationMin);
      const level = scale * (ratios[stages.at(atMin)] ?? 1) + trend;
      return level + signal.noise * (0.7 * slow + 0.7 * this.random.normal());
    });
  }

  /** Devices that report one value a night. */
  private writeSummary(k: number, signal: Signal): void {
    this.put(k, signal.level + this.random.normal(0, 0.3), signal);
  }

  /** Samples `value` over `durationMin`, with gaps; a device writes sentinels there or leaves them out. */
  private write(
    k: number,
    signal: Signal,
    durationMin: number,
    value: (stepMin: number, atMin: number) => number,
  ): void {
    const { p, random } = this;
    const missing = p.burstShareMin + (p.burstShareMax - p.burstShareMin) * random.uniform();
    const gapStart = missing / (p.burstMin * (1 - missing));
    let gapLeftMin = 0;
    let atMin = random.uniform() * signal.everyMin;
    while (atMin < durationMin) {
      const sample = value(signal.everyMin, atMin) + random.normal(0, signal.errorSd);
      if (gapLeftMin <= 0 && random.chance(gapStart * signal.everyMin)) {
        gapLeftMin = -p.burstMin * Math.log(1 - random.uniform());
      }
      if (gapLeftMin <= 0) this.put(k, sample, signal);
      else if (!Number.isNaN(signal.sentinel)) this.putRaw(k, signal.sentinel);
      gapLeftMin -= signal.everyMin;
      atMin += signal.everyMin;
    }
  }

  private put(k: number, value: number, signal: Signal): void {
    this.putRaw(k, round(Math.max(signal.low, value), signal.digits));
  }

  private putRaw(k: number, value: number): void {
    const length = this.lengths[k] ?? 0;
    if (length >= CAPACITY) return;
    this.samples[k * CAPACITY + length] = value;
    this.lengths[k] = length + 1;
  }

  /** The night's stages as the device estimates them, worded in its own habit. */
  private sleepFields(person: Person, day: Day): Scalars {
    const { p, random } = this;
    const shrink = (share: number, centre: number): number =>
      clamp(centre + p.stageShrink * (share - centre) + random.normal(0, p.stageErrorShare), 0.005, 0.6);
    const asleepH = Math.max(0.4, day.asleepH + random.normal(0, p.sleepErrorH));
    const awakeH = clamp(day.awakeH - 0.4 * (asleepH - day.asleepH) + random.normal(0, 0.08), 0.02, 6);
    const deep = shrink(day.deepShare, 0.15);
    const rem = shrink(day.remShare, 0.2);
    const deepS = Math.round(asleepH * deep * 60) * 60;
    const remS = Math.round(asleepH * rem * 60) * 60;
    const lightS = Math.round(asleepH * (1 - deep - rem) * 60) * 60;
    const awakeS = Math.round(awakeH * 60) * 60;
    const totalS = deepS + remS + lightS;
    const unit = person.percentPoints ? 100 : 1;
    return {
      sleepTimeSeconds: totalS + (person.totalWithAwake ? awakeS : 0),
      deepSleepSeconds: deepS,
      remSleepSeconds: remS,
      lightSleepSeconds: lightS,
      awakeSleepSeconds: awakeS,
      deepPercentage: round((unit * deepS) / totalS, 3),
      remPercentage: round((unit * remS) / totalS, 3),
      lightPercentage: round((unit * lightS) / totalS, 3),
    };
  }
}

const AWAKE = 0;
const REM = 1;
const LIGHT = 2;
const DEEP = 3;

/** A night in cycles: deep sleep early in the cycle and the night, REM late, awake in scattered bouts. */
class Stages {
  private readonly byBin: Uint8Array;
  private readonly shares = [0, 0, 0, 0];

  constructor(
    day: Day,
    readonly durationMin: number,
    random: Random,
  ) {
    const bins = Math.max(4, Math.round(durationMin / 5));
    this.byBin = new Uint8Array(bins);
    const cycles = Math.max(1, durationMin / CYCLE_MIN);
    const asleepShare = day.asleepH / (day.asleepH + day.awakeH);
    const phase = random.uniform() * 0.2;
    for (let bin = 0; bin < bins; bin++) {
      const position = ((bin + 0.5) / bins) * cycles;
      const inCycle = (position + phase) % 1;
      const late = position / cycles;
      const deep = day.deepShare * 2 * (1 - late);
      const rem = day.remShare * 2 * late;
      let stage = LIGHT;
      if (inCycle > 0.15 && inCycle < 0.15 + deep) stage = DEEP;
      else if (inCycle > 1 - rem) stage = REM;
      if (random.uniform() > asleepShare) stage = AWAKE;
      this.byBin[bin] = stage;
      this.shares[stage] = (this.shares[stage] ?? 0) + 1 / bins;
    }
  }

  at(minute: number): number {
    return this.byBin[Math.floor((minute / this.durationMin) * this.byBin.length)] ?? LIGHT;
  }

  /** Mean of a ratio by stage over the night. */
  meanOf(ratios: readonly number[]): number {
    return ratios.reduce((sum, ratio, stage) => sum + ratio * (this.shares[stage] ?? 0), 0);
  }
}

function advance(state: number, rho: number, random: Random): number {
  return rho * state + Math.sqrt(1 - rho * rho) * random.normal();
}

function heartSignal(
  device: Device,
  everyMin: number,
  level: number,
  noise: number,
  persistence: number,
  p: Parameters,
): Signal {
  return {
    everyMin,
    level,
    noise,
    persistence,
    errorSd: p.hrErrorSd,
    sentinel: device.hrSentinel,
    low: 30,
    digits: 0,
  };
}

function breathSignal(device: Device, everyMin: number, level: number, noise: number, p: Parameters): Signal {
  return { everyMin, level, noise, persistence: 0.7, errorSd: p.rrErrorSd, sentinel: device.rrSentinel, low: 5, digits: 1 }; // prettier-ignore
}

function round(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}
