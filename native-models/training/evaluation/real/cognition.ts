import { join } from 'node:path';
import { FEATURE_COUNT, FEATURE_INDEX } from '#acuity/contract/features.js';
import type { ServedModel } from '../../served.js';
import type { Population } from '../../cohort/population.js';
import { Random } from '../../cohort/random.js';
import { columnOf } from '../rollout.js';
import { scoreColumn, SCORES, type Context } from '../context.js';
import { addedShare, correlation, residual } from '../leastSquares.js';
import { demand, fixed, interval, type Demand, type Table } from '../section.js';
import { bootstrap, mean, PERCENTILE_VARIANCE, variance, type Estimate } from '../statistics.js';
import { numberOf, readCsv, type Row } from './csv.js';
import type { RealFinding } from './finding.js';

/** NHANES 2011–2014, people of 60 and over: three tests of cognition beside the pulse and hours slept as told. */
const FILE = 'nhanes/cognition.csv';
/** The data set says 80 for everybody older. */
const AGES = { ageMin: 60, ageMax: 80 } as const;
const SIMULATED = { people: 4_000, days: 9 } as const;
/** For comparison, pulse and hours of other people, drawn this many times. */
const SHUFFLES = 20;
const SEED = 29;

/** A test, and the score that is nearest to it. The pairs were chosen before any correlation was seen. */
const TESTS = [
  { name: 'digit symbol', column: 'dsst', score: 'attention' },
  { name: 'delayed recall', column: 'cerad_delayed', score: 'memory' },
  { name: 'animal fluency', column: 'animal_fluency', score: 'reasoning' },
] as const;
type Test = (typeof TESTS)[number];

interface Adult {
  readonly result: number;
  readonly age: number;
  readonly woman: number;
  readonly education: number;
  readonly pulse: number;
  readonly hours: number;
  readonly scores: Float32Array;
}

export async function cognition(folder: string, context: Context): Promise<RealFinding | undefined> {
  const rows = readCsv(join(folder, FILE));
  if (rows === undefined) return undefined;
  const assumed = assumedShares(context);
  const tested = await Promise.all(
    TESTS.map(async (test) => ({ test, adults: await adultsOf(rows, test, context.model) })),
  );
  return {
    demands: tested.map(({ test, adults }) => goesWith(test, adults)),
    tables: [sharesTable(tested, assumed)],
    figures: [],
    decisive: Object.fromEntries(
      tested.flatMap(({ test, adults }) => [
        [`NHANES ${test.name}`, shareOf(adults, both)],
        [`NHANES ${test.name}, score`, shareOf(adults, (chosen) => [chosen.map(scoreOf(test))])],
      ]),
    ),
  };
}

async function adultsOf(rows: readonly Row[], test: Test, model: ServedModel): Promise<Adult[]> {
  const adults: Adult[] = [];
  for (const row of rows) {
    const known = {
      result: numberOf(row, test.column),
      age: numberOf(row, 'age'),
      woman: row.get('sex') === 'F' ? 1 : 0,
      education: numberOf(row, 'education'),
      pulse: numberOf(row, 'pulse'),
      hours: numberOf(row, 'sleep_hours'),
    };
    if (Object.values(known).every(Number.isFinite))
      adults.push({ ...known, scores: (await model.score({ current_session: sessionOf(known) })).slice() });
  }
  return adults;
}

function sessionOf({ age, woman, pulse, hours }: Omit<Adult, 'scores'>) {
  const sex = woman === 1 ? ('F' as const) : ('M' as const);
  return { HR_day_1h: [pulse], sleepTimeSeconds: 3_600 * hours, age, sex };
}

const columns = {
  base: (adults: readonly Adult[]) => [
    adults.map(({ age }) => age),
    adults.map(({ age }) => age ** 2),
    adults.map(({ woman }) => woman),
  ],
  pulse: (adults: readonly Adult[]) => [adults.map(({ pulse }) => pulse)],
  hours: (adults: readonly Adult[]) => bent(adults.map(({ hours }) => hours)),
  education: (adults: readonly Adult[]) => bent(adults.map(({ education }) => education)),
} as const;

/** A line and its square: too little and too much may both be bad. */
function bent(values: readonly number[]): number[][] {
  return [[...values], values.map((value) => value ** 2)];
}

type Columns = (adults: readonly Adult[]) => number[][];
const both: Columns = (adults) => [...columns.pulse(adults), ...columns.hours(adults)];

/** In percent of the variance of the test, beyond age and sex. */
function shareOf(adults: readonly Adult[], more: Columns): number {
  return 100 * addedShare(adults.map(({ result }) => result), columns.base(adults), more(adults)); // prettier-ignore
}

function over(adults: readonly Adult[], statistic: (chosen: readonly Adult[]) => number): Estimate {
  return bootstrap(adults.length, (chosen) => statistic([...chosen].flatMap((index) => adults[index] ?? [])));
}

/** What other people's pulse and hours explain: above 0, since a fit always finds something. */
function coinShare(adults: readonly Adult[]): number {
  const random = new Random(SEED);
  const shares = Array.from({ length: SHUFFLES }, () => {
    const order = adults.map((adult) => ({ adult, at: random.uniform() })).toSorted((a, b) => a.at - b.at);
    const mixed = adults.map((adult, index) => {
      const other = order[index]?.adult ?? adult;
      return { ...adult, pulse: other.pulse, hours: other.hours };
    });
    return shareOf(mixed, both);
  });
  return mean(shares);
}

/** Correlation of `value` with the test beyond age and sex. */
function partial(adults: readonly Adult[], value: (adult: Adult) => number): number {
  const base = columns.base(adults);
  return correlation(residual(adults.map(value), base), residual(adults.map(({ result }) => result), base)); // prettier-ignore
}

function scoreOf({ score }: Test): (adult: Adult) => number {
  return ({ scores }) => scores[scoreColumn(SCORES.indexOf(score))] ?? NaN;
}

function goesWith(test: Test, adults: readonly Adult[]): Demand {
  const found = over(adults, (chosen) => partial(chosen, scoreOf(test)));
  const hours = over(adults, (chosen) => partial(chosen, (adult) => adult.hours));
  return demand(
    `NHANES 60+: ${test.score} from pulse and hours slept goes with ${test.name} beyond age and sex (correlation, interval above 0)`,
    interval(found, 2),
    found.low > 0,
    `coin 0; hours slept ${interval(hours, 2)}`,
  );
}

function sharesTable(
  tested: readonly { readonly test: Test; readonly adults: readonly Adult[] }[],
  assumed: Readonly<Record<Test['score'], number>>,
): Table {
  return {
    caption:
      'NHANES 60+, share of a test beyond age and sex, percent of its variance [95 %, over people]; the cohort’s share is of the score named, people of the same ages',
    header: [
      'test',
      'people',
      'pulse and hours slept',
      'pulse and hours of others (coin)',
      'hours slept alone',
      'score, of the same two',
      'education',
      'the cohort assumes',
    ],
    rows: tested.map(({ test, adults }) => {
      const share = (more: Columns): string => interval(over(adults, (chosen) => shareOf(chosen, more)), 1); // prettier-ignore
      const value = scoreOf(test);
      return [
        test.name,
        String(adults.length),
        share(both),
        fixed(coinShare(adults), 1),
        share(columns.hours),
        `${test.score} ${share((chosen) => [chosen.map(value)])}`,
        share(columns.education),
        `${test.score} ${fixed(assumed[test.score], 1)}`,
      ];
    }),
  };
}

/** The same shares of the cohort’s own percentiles: one day’s heart rate, and hours asleep as a mean of days. */
function assumedShares({ world }: Context): Record<Test['score'], number> {
  const population = world.simulate(SIMULATED.people, SIMULATED.days, { isComplete: true, parameters: AGES });
  const last = SIMULATED.days - 1;
  const pulse = feature(population, 'hr_day', last);
  const nights = Array.from({ length: SIMULATED.days }, (_, day) => feature(population, 'sleep_time', day));
  const hours = Array.from(pulse, (_, person) => mean(nights.map((night) => night[person] ?? NaN)));
  const ages = population.people.map(({ age }) => age);
  const base = [ages, ages.map((age) => age ** 2), population.people.map(({ sex }) => (sex === 'F' ? 1 : 0))];
  const share = (score: Test['score']): number => {
    const expected = columnOf(population.expected, 6, SCORES.indexOf(score), population, last);
    const explained = addedShare(expected, base, [pulse, ...bent(hours)]) * variance(expected);
    return (100 * explained) / PERCENTILE_VARIANCE; // of the whole percentile, chance included
  };
  return { attention: share('attention'), memory: share('memory'), reasoning: share('reasoning') };
}

function feature(population: Population, name: string, day: number): Float64Array {
  return columnOf(population.rows, FEATURE_COUNT, FEATURE_INDEX.get(name) ?? NaN, population, day);
}
