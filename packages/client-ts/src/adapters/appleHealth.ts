import type { Stage, StageInterval } from '../sleep.js';
import { Field } from './field.js';
import { adapt, stretches } from './night.js';
import type { Adapted, AdapterOptions, Series, SleepRecord } from './night.js';
import { isReading } from '../unitChecks.js';

/**
 * Apple Health export: `export.xml` of the Health app; types and values as in
 * https://developer.apple.com/documentation/healthkit/hkcategoryvaluesleepanalysis, 2026-11-22. The form of the file
 * is not documented beyond the DTD that it begins with.
 */
export interface AppleHealthInput extends AdapterOptions {
  /** The text of `export.xml`, in one piece or in several: large ones can be read in pieces. */
  readonly export: string | Iterable<string>;
}

const SLEEP = 'HKCategoryTypeIdentifierSleepAnalysis';
const HEART = 'HKQuantityTypeIdentifierHeartRate';
const BREATH = 'HKQuantityTypeIdentifierRespiratoryRate';
/** After `HKCategoryValueSleepAnalysis`. "InBed" is no sleep, and lies over the others. */
const VALUES: Readonly<Record<string, Stage | 'asleep'>> = {
  AsleepDeep: 'deep',
  AsleepREM: 'rem',
  AsleepCore: 'light',
  Awake: 'awake',
  Asleep: 'asleep',
  AsleepUnspecified: 'asleep',
};
const PER_MINUTE: Readonly<Record<string, number>> = { 'count/min': 1, 'count/s': 60 };
/** Sleep that goes on after a longer pause is another sleep. */
const PAUSE_MAX_MS = 3_600_000;

type Stretch = Omit<StageInterval, 'stage'> & {
  stage: Stage | 'asleep';
  from: number;
  to: number;
};

/** The session of what the Health app exported. */
export function fromAppleHealth({ export: pieces, ...options }: AppleHealthInput): Adapted {
  const found: Record<string, Field[]> = { [SLEEP]: [], [HEART]: [], [BREATH]: [] };
  for (const record of recordsOf(typeof pieces === 'string' ? [pieces] : pieces))
    found[record.get('type').text() ?? '']?.push(record);
  const sleeps = sleepsOf(found[SLEEP] ?? []);
  return adapt(options, sleeps, seriesOf(HEART, found[HEART]), seriesOf(BREATH, found[BREATH]));
}

function* recordsOf(pieces: Iterable<string>): Generator<Field> {
  let rest = '';
  let count = 0;
  for (const piece of pieces) {
    rest += piece;
    const end = rest.lastIndexOf('>') + 1;
    for (const [, attributes = ''] of rest.slice(0, end).matchAll(/<Record\s([^>]*)>/g)) {
      const named = [...attributes.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', text = '']) => [
        name,
        text,
      ]);
      yield new Field(Object.fromEntries(named), `export.Record[${count++}]`);
    }
    rest = rest.slice(end);
  }
}

/** Devices overlap: of each only its own stretches are put together, and the longest sleep counts. */
function sleepsOf(records: readonly Field[]): SleepRecord[] {
  const bySource = new Map<string, [Field, Stretch][]>();
  const seen = new Set<string>();
  for (const record of records) {
    const stage = VALUES[record.get('value').text()?.replace('HKCategoryValueSleepAnalysis', '') ?? ''];
    if (stage === undefined) continue;
    const source = record.get('sourceName').text() ?? '';
    const stretch = { stage, from: record.get('startDate').moment(), to: record.get('endDate').moment() };
    const key = `${source}\n${stage} ${stretch.from} ${stretch.to}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const ofSource = bySource.get(source) ?? [];
    ofSource.push([record, stretch]);
    bySource.set(source, ofSource);
  }
  return [...bySource.values()].flatMap(sleepsOfSource);
}

function sleepsOfSource(stretchesOfSource: readonly [Field, Stretch][]): SleepRecord[] {
  const sorted = stretchesOfSource.toSorted(([, a], [, b]) => a.from - b.from);
  const sleeps: [Field, Stretch][][] = [];
  let untilMs = -Infinity;
  for (const one of sorted) {
    if (one[1].from - untilMs > PAUSE_MAX_MS) sleeps.push([]);
    sleeps.at(-1)?.push(one);
    untilMs = Math.max(untilMs, one[1].to);
  }
  return sleeps.flatMap((parts) => {
    const [first] = parts;
    if (first === undefined) return [];
    const intervals = parts.map(([, stretch]) => stretch);
    const span = { fromMs: first[1].from, toMs: Math.max(...intervals.map(({ to }) => to)) };
    return [{ field: first[0], ...span, isNap: false, read: () => stretches(first[0], span, intervals) }];
  });
}

function seriesOf(type: string, records: readonly Field[] = []): Series[] {
  const samples = records.map((record) => {
    const unit = record.get('unit').text() ?? '';
    const factor = PER_MINUTE[unit] ?? record.get('unit').fail('expected count/min');
    const value = Number(record.get('value').text());
    return { at: record.get('startDate').moment(), value: isReading(value) ? value * factor : undefined };
  });
  return [{ field: new Field(undefined, `export.${type}`), samples }];
}
