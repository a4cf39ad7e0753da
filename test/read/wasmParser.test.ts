import t from 'tap';
import { SERIES_FIELDS, type SeriesField } from '#rules/fields.js';
import { isUnitError } from '#acuity/read/unitErrors.js';
import { LAYOUT } from '#acuity/night/layout.js';
import { summaryAt } from '#acuity/night/places.js';
import { WasmParser } from '#acuity/read/wasmParser.js';
import { below, pick, seededRandom, type Random } from '#acuity/base/random.js';

/** The statistics of one series, computed the slow and obvious way. */
interface Statistics {
  readonly count: number;
  readonly implausible: number;
  readonly level: number;
}

/** A median is read off a histogram: it may differ by the width of a bin. */
const LEVEL_TOLERANCE = { heart: 1, breath: 0.25 };
/** From so many samples on the level is a median. */
const MEDIAN_SAMPLES_MIN = 12;

function isHeart(field: SeriesField): boolean {
  return field === 'HR_day_1h' || field === 'HR_night';
}

function statistics(field: SeriesField, series: readonly number[]): Statistics {
  const [low, high] = isHeart(field) ? [25, 240] : [3, 70];
  const samples = series.map((value) => Math.fround(value));
  const real = samples.filter((value) => ![0, -1, -2, 255].includes(value));
  const kept = real.filter((value) => value >= low && value <= high);
  const sorted = kept.toSorted((one, other) => one - other);
  const level = sorted.length < MEDIAN_SAMPLES_MIN ? trimmedMean(sorted) : median(sorted);
  return { count: kept.length, implausible: real.length - kept.length, level };
}

/** Without the extremes where five or more are left. */
function trimmedMean(sorted: readonly number[]): number {
  const inner = sorted.length < 5 ? sorted : sorted.slice(1, -1);
  return inner.reduce((sum, value) => sum + value, 0) / inner.length;
}

/** The least value that at least half of the values do not exceed. */
function median(sorted: readonly number[]): number {
  return sorted[Math.ceil(sorted.length / 2) - 1] ?? NaN;
}

const parser = new WasmParser({ daySamplesMax: 1000, nightSamplesMax: 1000 });

const PLACES: Readonly<Record<keyof Statistics, number>> = {
  count: LAYOUT.COUNT,
  implausible: LAYOUT.IMPLAUSIBLE,
  level: LAYOUT.LEVEL,
};
const NAMES = Object.keys(PLACES) as (keyof Statistics)[];

function summary(field: SeriesField, series: readonly number[]): Statistics {
  const { records } = parser.blank(0);
  parser.summarise(series, field, 0);
  const at = summaryAt(0, field);
  return Object.fromEntries(NAMES.map((name) => [name, records[at + PLACES[name]]])) as unknown as Statistics;
}

function isClose(actual: number, expected: number, tolerance: number): boolean {
  return Math.abs(actual - expected) <= tolerance;
}

/** What differs from the reference, in words; undefined where nothing does. */
function difference(field: SeriesField, series: readonly number[]): string | undefined {
  const actual = summary(field, series);
  const expected = statistics(field, series);
  const names = expected.count > 0 ? NAMES : (['count', 'implausible'] as const);
  const bin = isHeart(field) ? LEVEL_TOLERANCE.heart : LEVEL_TOLERANCE.breath;
  const tolerance = expected.count < MEDIAN_SAMPLES_MIN ? 1e-6 * expected.level : bin;
  const wrong = names.find(
    (name) => !isClose(actual[name], expected[name], name === 'level' ? tolerance : 0),
  );
  return wrong && `${wrong} of ${field} [${series.join()}] is ${actual[wrong]}, not ${expected[wrong]}`;
}

const bounds: readonly { field: SeriesField; inside: number[]; outside: number[] }[] = [
  { field: 'HR_day_1h', inside: [25, 240, 100.5], outside: [24.999, 240.001, 1, 1000, -60, 3.4e38] },
  { field: 'RR_night', inside: [3, 70, 12.25], outside: [2.999, 70.001, 900, -15, 254, 256] },
];
t.test('plausible ends exactly at the bounds', async (t) => {
  const counts = (field: SeriesField, ...series: number[]) => {
    const { count, implausible } = summary(field, series);
    return [count, implausible];
  };
  for (const { field, inside, outside } of bounds) {
    for (const value of inside) t.strictSame(counts(field, value), [1, 0], `${field} ${value}`);
    for (const value of outside) t.strictSame(counts(field, value), [0, 1], `${field} ${value}`);
    t.strictSame(counts(field, Infinity, -Infinity, NaN), [0, 3]);
  }
});

const units: readonly { series: readonly number[]; isError: boolean }[] = [
  { series: [], isError: false },
  { series: [1000, 1000], isError: false },
  { series: [1000, 1000, 1000], isError: true },
  { series: [1000, 1000, 1000, 60, 60, 60], isError: false },
  { series: [1000, 1000, 1000, 1000, 60, 60, 60], isError: true },
  { series: [1000, 1000, 1000, 0, 0, 0, 0, -1, 255], isError: true },
  { series: [0, 0, 0, 0, -1, -2, 255], isError: false },
  { series: [60, 60, 0, 0, 0, 0, 1000, 1000], isError: false },
];
t.test('a unit error: most of at least three samples are implausible', async (t) => {
  for (const { series, isError } of units) {
    const request = parser.blank(1);
    parser.summarise(series, 'HR_night', 1);
    t.equal(isUnitError(request, 1, 'HR_night'), isError, series.join());
    t.equal(isUnitError(request, 0, 'HR_night'), false);
  }
});

/** A series as wearables give them: with gaps, artefacts, steps, trends. */
function randomSeries(random: Random, field: SeriesField): number[] {
  const [low, high] = isHeart(field) ? [25, 240] : [3, 70];
  const length = random() < 0.3 ? below(random, 14) : below(random, 400);
  const decimals = pick(random, [0, 1, 1, 3]);
  const middle = low + (high - low) * random();
  const spread = random() < 0.5 ? 1 : (high - low) / 4;
  const trend = random() < 0.3 ? (spread / (length + 1)) * random() : 0;
  const gaps = random() < 0.5 ? 0.2 * random() : 0;
  return Array.from({ length }, (_, time) => {
    if (random() < gaps) return pick(random, [0, -1, -2, 255, 1e6, -40, 2.5, 241, 71]);
    const value = middle + trend * time + spread * (random() + random() - 1);
    return Number(Math.min(high, Math.max(low, value)).toFixed(decimals));
  });
}

t.test('any series has the statistics of the slow reference', async (t) => {
  const random = seededRandom(4);
  for (let count = 0; count < 3000; count++) {
    const field = pick(random, SERIES_FIELDS);
    const different = difference(field, randomSeries(random, field));
    if (different !== undefined) t.fail(different);
  }
  t.pass();
});

t.test('a series longer than it was made for is refused', async (t) => {
  t.throws(() => parser.summarise(Array(1001).fill(60), 'HR_night', 0), RangeError);
});
