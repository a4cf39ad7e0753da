import t, { type Test } from 'tap';
import { SERIES_FIELDS, type SeriesField } from '#acuity/contract/request.js';
import { WasmParser, LAYOUT, hasUnitError, isUnitError, summaryAt } from '#acuity/pipeline/wasmParser.js';
import { below, pick, seededRandom, type Random } from '../fixtures/random.js';
import { PERCENTILE_TOLERANCE, isHeart, statistics, type Statistics } from './reference.js';

const parser = new WasmParser({ daySamplesMax: 1000, nightSamplesMax: 1000 });

const PLACES: Readonly<Record<keyof Statistics, number>> = {
  count: LAYOUT.COUNT,
  implausible: LAYOUT.IMPLAUSIBLE,
  mean: LAYOUT.MEAN,
  sd: LAYOUT.SD,
  p10: LAYOUT.P10,
  p50: LAYOUT.P50,
  p90: LAYOUT.P90,
  slope: LAYOUT.SLOPE,
  rmssd: LAYOUT.RMSSD,
  irregularity: LAYOUT.IRREGULARITY,
  first: LAYOUT.FIRST,
  last: LAYOUT.LAST,
  nadir: LAYOUT.NADIR,
  nadirAt: LAYOUT.NADIR_AT,
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
  const bin = isHeart(field) ? PERCENTILE_TOLERANCE.heart : PERCENTILE_TOLERANCE.breath;
  const wrong = names.find((name) => {
    const isPercentile = name === 'p10' || name === 'p50' || name === 'p90';
    const scale = 1 + Math.abs(expected[name]);
    return !isClose(actual[name], expected[name], isPercentile ? bin : 1e-7 * scale);
  });
  return wrong && `${wrong} of ${field} [${series.join()}] is ${actual[wrong]}, not ${expected[wrong]}`;
}

function matches(
  t: Test,
  field: SeriesField,
  series: readonly number[],
  expected: Partial<Statistics>,
): void {
  const actual = summary(field, series);
  for (const [name, value] of Object.entries(expected) as [keyof Statistics, number][]) {
    t.ok(isClose(actual[name], value, 1e-9), `${name} is ${actual[name]}, expected ${value}`);
  }
}

t.test('a ramp, computed by hand', async (t) => {
  const series = Array.from({ length: 24 }, (_, time) => 60 + time);
  matches(t, 'HR_night', series, {
    count: 24,
    implausible: 0,
    mean: 71.5,
    sd: Math.sqrt((24 ** 2 - 1) / 12),
    slope: 24,
    rmssd: 1,
    irregularity: 12 / (24 ** 2 - 1),
    first: 63.5 - 71.5,
    last: 79.5 - 71.5,
    nadir: 60.5,
    nadirAt: 0.5 / 12,
  });
});

t.test('a constant series has no spread, no slope and no irregularity', async (t) => {
  for (const field of SERIES_FIELDS) {
    matches(t, field, Array(100).fill(33.3), {
      sd: 0,
      slope: 0,
      rmssd: 0,
      irregularity: 0,
      first: 0,
      last: 0,
    });
    const { mean, p10, p50, p90 } = summary(field, Array(100).fill(33.3));
    for (const value of [mean, p10, p50, p90]) t.equal(value, Math.fround(33.3));
  }
});

t.test('one sample', async (t) => {
  const value = 62;
  matches(t, 'HR_day_1h', [value], {
    count: 1,
    mean: value,
    sd: 0,
    p10: value,
    p50: value,
    p90: value,
    slope: 0,
    rmssd: 0,
    first: 0,
    last: 0,
    nadir: value,
    nadirAt: 11.5 / 12,
  });
});

t.test('alternating samples are as irregular as can be', async (t) => {
  const series = Array.from({ length: 1000 }, (_, time) => (time % 2 === 0 ? 14 : 16));
  matches(t, 'RR_night', series, { mean: 15, sd: 1, rmssd: 2, irregularity: 4 });
});

t.test('white noise has a von Neumann ratio of two', async (t) => {
  const random = seededRandom(3);
  const { irregularity } = summary(
    'RR_night',
    Array.from({ length: 1000 }, () => 12 + 6 * random()),
  );
  t.ok(isClose(irregularity, 2, 0.2), `${irregularity}`);
});

t.test('sentinels go first, however many, and count for nothing', async (t) => {
  const sentinels = Array.from({ length: 50 }, () => [0, -1, -2, 255, -0]).flat();
  for (const field of SERIES_FIELDS) {
    const value = isHeart(field) ? 60 : 15;
    matches(t, field, [...sentinels, value, value], {
      count: 2,
      implausible: 0,
      mean: value,
    });
    matches(t, field, sentinels, { count: 0, implausible: 0 });
  }
});

const bounds: readonly { field: SeriesField; inside: number[]; outside: number[] }[] = [
  { field: 'HR_day_1h', inside: [25, 240, 100.5], outside: [24.999, 240.001, 1, 1000, -60, 3.4e38] },
  { field: 'RR_night', inside: [3, 70, 12.25], outside: [2.999, 70.001, 900, -15, 254, 256] },
];
for (const { field, inside, outside } of bounds) {
  t.test(`plausible ends exactly at the bounds of ${field}`, async (t) => {
    for (const value of inside) matches(t, field, [value], { count: 1, implausible: 0 });
    for (const value of outside) matches(t, field, [value], { count: 0, implausible: 1 });
    matches(t, field, [Infinity, -Infinity, NaN], { count: 0, implausible: 3 });
  });
}

t.test('what was left out keeps its place in time, and joins no two neighbours', async (t) => {
  matches(t, 'HR_night', [60, 0, 62, 63, 999, 70], { count: 4, mean: 63.75, rmssd: 1 });
  const gap = [...Array(12).fill(50), ...Array(12).fill(0), ...Array(12).fill(80)] as number[];
  matches(t, 'HR_night', gap, { mean: 65, first: -15, last: 15, nadir: 50, nadirAt: 0.5 / 12 });
});

t.test('an empty third is like the whole', async (t) => {
  matches(t, 'HR_night', [...Array(12).fill(0), ...Array(24).fill(60)] as number[], { first: 0, last: 0 });
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
for (const { series, isError } of units) {
  t.test(`[${series.join()}] is ${isError ? 'a' : 'no'} unit error`, async (t) => {
    const request = parser.blank(1);
    parser.summarise(series, 'HR_night', 1);
    t.equal(isUnitError(request, 1, 'HR_night'), isError);
    t.equal(isUnitError(request, 0, 'HR_night'), false);
    t.equal(hasUnitError(request), isError);
  });
}

t.test('a unit error of a session that the request does not have is none', async (t) => {
  parser.blank(1);
  parser.summarise([1000, 1000, 1000], 'HR_night', 1);
  const request = parser.blank(0);
  t.equal(hasUnitError(request), false);
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

t.test('every summary is finite, whatever the samples', async (t) => {
  const random = seededRandom(5);
  const odd = [NaN, Infinity, -Infinity, 1e-45, -1e-45, 3.4e38, 25, 240, 3, 70, 60, 15, 0, -0, 255];
  for (let count = 0; count < 2000; count++) {
    const field = pick(random, SERIES_FIELDS);
    const series = Array.from({ length: below(random, 40) }, () => pick(random, odd));
    const values = Object.values(summary(field, series)) as number[];
    if (!values.every(Number.isFinite)) t.fail(`[${series.join()}] gives ${values.join()}`);
  }
  t.pass();
});
