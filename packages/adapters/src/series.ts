import { SUSPECT_SAMPLES_MIN, type Signal } from '#rules/plausible.js';
import { checkUnit, isReading } from './unitChecks.js';
import type { Field } from './field.js';
import { firstFrom, grouped, once } from './ordered.js';
import type { Span } from './sleep.js';

/** One sample of a wearable, at a moment in milliseconds since 1970. @internal */
export interface Sample {
  readonly at: number;
  /** No-readings (null, 0, −1, −2, 255) are left out. */
  readonly value: number | null | undefined;
}

/** A sample that is a reading. @internal */
export interface Reading extends Sample {
  readonly value: number;
}

/**
 * Samples of one signal. They are read once, and only if a night or an hour may have some of them; those of a
 * span are looked up. So a series may belong to any number of sleeps. @internal
 */
export class Series {
  /** The readings, oldest first; of one moment in the order in which they were sent. */
  readonly readings: () => readonly Reading[];

  /**
   * @param field  named if the samples can't be right
   * @param source  the device or provider of the samples; without one they fit every sleep
   * @param device  tells apart the devices of one source
   */
  constructor(
    readonly field: Field,
    samples: () => readonly Sample[],
    readonly source?: string,
    readonly device: unknown = source,
  ) {
    this.readings = once(() => {
      const readings = samples().filter((one): one is Reading => isReading(one.value));
      const isOrdered = readings.every(
        ({ at }, index) => index === 0 || at >= (readings[index - 1]?.at ?? 0),
      );
      return isOrdered ? readings : readings.toSorted((a, b) => a.at - b.at);
    });
  }

  /** Reads it, and holds no more of what it came in. */
  detached(): Series {
    const readings = this.readings();
    return new Series(this.field.detached(), () => readings, this.source, this.device);
  }
}

/**
 * Samples of a list of objects; those without a value are left out.
 * @param at  reads the time of one, or is the name of the field that has it
 * @param value  the same of its value
 * @internal
 */
export function series(
  field: Field,
  items: readonly Field[],
  at: string | ((item: Field) => number),
  value: string | ((item: Field) => number | undefined),
  source?: string,
  device?: unknown,
): Series {
  const atMs = typeof at === 'string' ? (item: Field) => item.get(at).moment() : at;
  const valueOf = typeof value === 'string' ? (item: Field) => item.get(value).number() : value;
  const samples = () => {
    const found: Reading[] = [];
    for (const item of items) {
      const number = item.isAbsent ? undefined : valueOf(item);
      if (number !== undefined) found.push({ at: atMs(item), value: number });
    }
    return found;
  };
  return new Series(field, samples, source, device);
}

/** More than one person wears. Each costs time and memory, however few samples it has. */
const DEVICES_MAX = 256;

/**
 * Items by their device or app.
 * @throws AdapterError if there are too many of these
 * @internal
 */
export function byDevice<Item, Device>(
  field: Field,
  items: readonly Item[],
  deviceOf: (item: Item) => Device,
): Map<Device, Item[]> {
  const groups = grouped(items, deviceOf);
  return groups.size <= DEVICES_MAX ? groups : field.fail(`has more than ${DEVICES_MAX} devices`);
}

/** The same, a series for each device or app: samples of two are no night of either. @internal */
export function seriesOfEach(
  field: Field,
  items: readonly Field[],
  at: Parameters<typeof series>[2],
  value: Parameters<typeof series>[3],
  sourceOf: (item: Field) => string | undefined,
): Series[] {
  return [...byDevice(field, items, sourceOf)].map(([source, own]) => series(field, own, at, value, source));
}

/**
 * The readings of a series within spans, which are in order: each once.
 * @throws UnitError if most of them are impossible for the signal
 * @internal
 */
export function within(spans: readonly Span[], series: Series | undefined, signal: Signal): Reading[] {
  if (series === undefined) return [];
  const readings = series.readings();
  const found: Reading[] = [];
  const untilMs = spans.at(-1)?.toMs ?? -Infinity;
  const first = firstFrom(spans[0]?.fromMs ?? Infinity, readings, ({ at }) => at);
  // There may be tens of thousands of series with a sample each, and dozens of spans.
  for (
    let index = first, one = readings[index];
    one !== undefined && one.at <= untilMs;
    one = readings[++index]
  ) {
    const span = spans[firstFrom(one.at, spans, ({ toMs }) => toMs)];
    if (span !== undefined && span.fromMs <= one.at) found.push(one);
  }
  if (found.length >= SUSPECT_SAMPLES_MIN)
    series.field.located(() => checkUnit(signal, found.map(({ value }) => value))); // prettier-ignore
  return found;
}

/**
 * The readings of one device within spans: those of `source` if it has some, else those of the device with the most.
 * A series without a source belongs to every device. @internal
 */
export function ofDevice(
  signal: Signal,
  spans: readonly Span[],
  series: readonly Series[],
  source: string | undefined,
): readonly Reading[] {
  const devices = new Map<unknown, { readonly source: string | undefined; readonly samples: Reading[] }>();
  for (const one of series) {
    const found = within(spans, one, signal);
    if (found.length === 0) continue;
    const known = devices.get(one.device);
    if (known === undefined) devices.set(one.device, { source: one.source, samples: found });
    else for (const sample of found) known.samples.push(sample);
  }
  const general = devices.get(undefined)?.samples ?? [];
  devices.delete(undefined);
  const all = [...devices.values()].toSorted((a, b) => b.samples.length - a.samples.length);
  const most = all.find((one) => one.source === source) ?? all[0];
  return [...general, ...(most?.samples ?? [])];
}
