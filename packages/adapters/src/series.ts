import { SUSPECT_SAMPLES_MIN, type Signal } from '#rules/plausible.js';
import { checkUnit, isReading } from './unitChecks.js';
import type { Field } from './field.js';
import type { Reading, Series } from './records.js';
import type { Span } from './sleep.js';

/** Samples of a list of objects; those without a time or a value are left out. @internal */
export function series(
  field: Field,
  items: readonly Field[],
  atMs: (item: Field) => number,
  value: (item: Field) => number | undefined,
  source?: string,
): Series {
  const samples: Reading[] = [];
  for (const item of items) {
    const number = item.isAbsent ? undefined : value(item);
    if (number !== undefined) samples.push({ at: atMs(item), value: number });
  }
  return { field, samples, source };
}

/** The same of objects that have a time and a number under these names. @internal */
export function namedSeries(
  field: Field,
  items: readonly Field[],
  at: string,
  value: string,
  source?: string,
): Series {
  const atMs = (item: Field) => item.get(at).moment();
  return series(field, items, atMs, (item) => item.get(value).number(), source);
}

/**
 * The readings of a series within a span.
 * @throws UnitError if most of them are impossible for the signal
 * @internal
 */
export function within({ fromMs, toMs }: Span, series: Series | undefined, signal: Signal): Reading[] {
  if (series === undefined) return [];
  const found = series.samples.filter(
    (sample): sample is Reading => sample.at >= fromMs && sample.at <= toMs && isReading(sample.value),
  );
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
  const bySource = new Map<string | undefined, Reading[]>();
  for (const one of series) {
    const found = spans.flatMap((span) => within(span, one, signal));
    if (found.length === 0) continue;
    const samples = bySource.get(one.source);
    if (samples === undefined) bySource.set(one.source, found);
    else for (const sample of found) samples.push(sample);
  }
  const general = bySource.get(undefined) ?? [];
  bySource.delete(undefined);
  const own = source === undefined ? [] : (bySource.get(source) ?? []);
  const [most = []] = [...bySource.values()].toSorted((a, b) => b.length - a.length);
  return [...general, ...(own.length > 0 ? own : most)];
}
