import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import type { Parameters } from './parameters.js';
import type { Random } from './random.js';
import type { Signal } from './signals.js';

const { daySamplesMax, nightSamplesMax } = DEFAULT_SERIES_LIMITS;
/** The series of a session, in the order of the contract: by day, then by night. */
export const SERIES = { HR_DAY: 0, RR_DAY: 1, HR_NIGHT: 2, RR_NIGHT: 3 } as const;
export type SeriesIndex = (typeof SERIES)[keyof typeof SERIES];
const SERIES_COUNT = 4;

/** How a device measures one signal. Times in minutes. */
export interface Channel {
  readonly everyMin: number;
  readonly isRegular: boolean;
  /** Each sample is the mean over this time before it. */
  readonly smoothMin: number;
  /** Number of averages in place of a series; 0 for a series. */
  readonly averages: number;
  readonly bias: number;
  readonly errorSd: number;
  readonly sentinel: number;
  readonly digits: number;
  readonly low: number;
  /** Range of motion and other artefacts. */
  readonly wild: readonly [low: number, high: number];
}

/** The series of one session as a device writes them, in buffers that the next session reuses. */
export class Samples {
  readonly values = new Float32Array(SERIES_COUNT * nightSamplesMax);
  /** Series k is `values[bounds[2k] … bounds[2k + 1])`. */
  readonly bounds = new Int32Array(SERIES_COUNT * 2);

  clear(): void {
    for (let k = 0; k < SERIES_COUNT; k++) this.bounds.fill(k * nightSamplesMax, 2 * k, 2 * k + 2);
  }

  lengthOf(k: SeriesIndex): number {
    return (this.bounds[2 * k + 1] ?? 0) - (this.bounds[2 * k] ?? 0);
  }

  /** Samples a signal: errors first, then the device's smoothing, then wild samples and gaps. */
  observe(
    k: SeriesIndex,
    { values, stepMin }: Signal,
    channel: Channel,
    p: Parameters,
    random: Random,
  ): void {
    for (let at = 0; at < values.length; at++) {
      values[at] = (values[at] ?? 0) + channel.bias + random.normal(0, channel.errorSd);
    }
    if (channel.averages > 0) this.writeAverages(k, values, channel);
    else
      this.writeSamples(
        k,
        { values: smoothed(values, channel.smoothMin / stepMin), stepMin },
        channel,
        p,
        random,
      );
  }

  /** One average of the whole time, or of each third of it. */
  private writeAverages(k: SeriesIndex, values: Float64Array, channel: Channel): void {
    const parts = Math.min(channel.averages, values.length);
    for (let part = 0; part < parts; part++) {
      const of = values.subarray((part * values.length) / parts, ((part + 1) * values.length) / parts);
      this.put(k, of.reduce((sum, value) => sum + value, 0) / of.length, channel);
    }
  }

  private writeSamples(
    k: SeriesIndex,
    signal: Signal,
    channel: Channel,
    p: Parameters,
    random: Random,
  ): void {
    const { values, stepMin } = signal;
    const missing = p.burstShareMin + (p.burstShareMax - p.burstShareMin) * random.uniform();
    const gapStart = missing / (p.burstMin * (1 - missing));
    const durationMin = values.length * stepMin;
    const [low, high] = channel.wild;
    const wild = low + random.uniform() * (high - low);
    let wildAtMin = random.chance(p.wildSeries) ? random.uniform() * durationMin : Infinity;
    let gapLeftMin = 0;
    let atMin = random.uniform() * channel.everyMin;
    while (atMin < durationMin) {
      const everyMin = channel.isRegular
        ? channel.everyMin
        : channel.everyMin * (0.3 + 1.4 * random.uniform());
      if (gapLeftMin <= 0 && random.chance(gapStart * everyMin)) {
        gapLeftMin = -p.burstMin * Math.log(1 - random.uniform());
      }
      const isWild: boolean = atMin >= wildAtMin;
      if (isWild) wildAtMin = Infinity;
      if (gapLeftMin <= 0) this.put(k, isWild ? wild : (values[Math.floor(atMin / stepMin)] ?? 0), channel);
      else if (!Number.isNaN(channel.sentinel)) this.append(k, channel.sentinel);
      gapLeftMin -= everyMin;
      atMin += everyMin;
    }
  }

  private put(k: SeriesIndex, value: number, { low, digits }: Channel): void {
    const scale = 10 ** digits;
    this.append(k, Math.round(Math.max(low, value) * scale) / scale);
  }

  private append(k: SeriesIndex, value: number): void {
    const most = k === SERIES.HR_DAY || k === SERIES.RR_DAY ? daySamplesMax : nightSamplesMax;
    if (this.lengthOf(k) >= most) return;
    const end = this.bounds[2 * k + 1] ?? 0;
    this.values[end] = value;
    this.bounds[2 * k + 1] = end + 1;
  }
}

/** Moving averages over the last `steps` values. */
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
