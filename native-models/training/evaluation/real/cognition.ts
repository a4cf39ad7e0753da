import { join } from 'node:path';
import type { Session } from '#acuity/contract/request.js';
import type { ServedModel } from '../../served.js';
import { scoreColumn, SCORES } from '../context.js';
import { addedShare, correlation, residual } from '../leastSquares.js';
import { demand, interval } from '../section.js';
import { bootstrap, type Estimate } from '../statistics.js';
import { numberOf, readCsv, type Row } from './csv.js';
import type { RealFinding } from './validationData.js';

/** NHANES 2011–2014, people of 60 and over: three tests of cognition beside the pulse and hours slept as told. */
const FILE = 'nhanes/cognition.csv';

/** A test, and the score that is nearest to it. The pairs were chosen before any correlation was seen. */
const TESTS = [
  { name: 'digit symbol', column: 'dsst', score: 'attention' },
  { name: 'delayed recall', column: 'cerad_delayed', score: 'memory' },
  { name: 'animal fluency', column: 'animal_fluency', score: 'reasoning' },
] as const;

interface Adult {
  readonly result: number;
  readonly age: number;
  readonly woman: number;
  readonly pulse: number;
  readonly hours: number;
  /** The score that the test is held against. */
  readonly score: number;
}

export async function cognition(folder: string, model: ServedModel): Promise<RealFinding | undefined> {
  const rows = readCsv(join(folder, FILE));
  if (rows === undefined) return undefined;
  const tested = [];
  for (const test of TESTS) tested.push({ ...test, adults: await adultsOf(rows, test, model) });
  return {
    demands: tested.map(({ name, score, adults }) => {
      const found = over(adults, (chosen) => partial(chosen, (adult) => adult.score));
      const hours = over(adults, (chosen) => partial(chosen, (adult) => adult.hours));
      return demand(
        `NHANES 60+: ${score} from pulse and hours slept goes with ${name} beyond age and sex (correlation, interval above 0)`,
        interval(found, 2),
        found.low > 0,
        `coin 0; hours slept ${interval(hours, 2)}`,
      );
    }),
    tables: [
      {
        caption:
          'NHANES 60+, share of a test beyond age and sex, percent of its variance [95 %, over people]',
        header: ['test', 'people', 'pulse and hours slept', 'score, of the same two'],
        rows: tested.map(({ name, score, adults }) => [
          name,
          String(adults.length),
          interval(over(adults, (chosen) => shareOf(chosen, bothOf)), 1), // prettier-ignore
          `${score} ${interval(
            over(adults, (chosen) => shareOf(chosen, scoreOf)),
            1,
          )}`,
        ]),
      },
    ],
    decisive: Object.fromEntries(
      tested.flatMap(({ name, adults }) => [
        [`NHANES ${name}`, shareOf(adults, bothOf)],
        [`NHANES ${name}, score`, shareOf(adults, scoreOf)],
      ]),
    ),
  };
}

async function adultsOf(
  rows: readonly Row[],
  test: (typeof TESTS)[number],
  model: ServedModel,
): Promise<Adult[]> {
  const adults: Adult[] = [];
  for (const row of rows) {
    const [result, age, pulse, hours, education] = [test.column, 'age', 'pulse', 'sleep_hours', 'education'].map((name) => numberOf(row, name)) as [number, number, number, number, number]; // prettier-ignore
    if (![result, age, pulse, hours, education].every(Number.isFinite)) continue;
    const sex = row.get('sex') === 'F' ? 'F' : 'M';
    const current_session: Session = { HR_day_1h: [pulse], sleepTimeSeconds: 3_600 * hours, age, sex };
    const scores = await model.score({ current_session });
    const score = scores[scoreColumn(SCORES.indexOf(test.score))] ?? NaN;
    adults.push({ result, age, woman: sex === 'F' ? 1 : 0, pulse, hours, score });
  }
  return adults;
}

/** A line and its square: too little and too much may both be bad. */
function bent(values: readonly number[]): number[][] {
  return [[...values], values.map((value) => value ** 2)];
}

const baseOf = (adults: readonly Adult[]) => [
  ...bent(adults.map(({ age }) => age)),
  adults.map(({ woman }) => woman),
];
const bothOf = (adults: readonly Adult[]) => [
  adults.map(({ pulse }) => pulse),
  ...bent(adults.map(({ hours }) => hours)),
];
const scoreOf = (adults: readonly Adult[]) => [adults.map(({ score }) => score)];

/** In percent of the variance of the test, beyond age and sex. */
function shareOf(adults: readonly Adult[], more: (adults: readonly Adult[]) => number[][]): number {
  return 100 * addedShare(adults.map(({ result }) => result), baseOf(adults), more(adults)); // prettier-ignore
}

/** Correlation of `value` with the test beyond age and sex. */
function partial(adults: readonly Adult[], value: (adult: Adult) => number): number {
  const base = baseOf(adults);
  return correlation(residual(adults.map(value), base), residual(adults.map(({ result }) => result), base)); // prettier-ignore
}

function over(adults: readonly Adult[], statistic: (chosen: readonly Adult[]) => number): Estimate {
  return bootstrap(adults.length, (chosen) => statistic([...chosen].flatMap((index) => adults[index] ?? [])));
}
