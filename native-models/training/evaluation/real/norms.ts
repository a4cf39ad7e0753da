import { join } from 'node:path';
import { Life } from '../../cohort/day.js';
import { parameters } from '../../cohort/parameters.js';
import { drawPerson, type Person } from '../../cohort/person.js';
import { Random } from '../../cohort/random.js';
import { STREAM } from '../../cohort/streams.js';
import { demand, fixed, signed } from '../section.js';
import { mean, slope } from '../statistics.js';
import { numberOf, readCsv } from './csv.js';
import type { RealFinding } from './finding.js';

/** NHANES 2009–2012: resting pulse of adults. BOAS: polysomnography of adults at home. Against the cohort. */
const NHANES = 'nhanes/adults.csv';
const BOAS = 'boas/boas_nights.csv';
const PEOPLE = 6_000;
const BANDS = [
  [18, 40],
  [40, 60],
  [60, 86],
] as const;

interface Adult {
  readonly age: number;
  readonly sex: string;
  readonly bmi: number;
  readonly value: number;
}

export function nhanes(folder: string): RealFinding | undefined {
  const rows = readCsv(join(folder, NHANES));
  if (rows === undefined) return undefined;
  const real = rows
    .map((row) => ({
      age: numberOf(row, 'Age'),
      sex: row.get('Gender') === 'female' ? 'F' : 'M',
      bmi: numberOf(row, 'BMI'),
      value: numberOf(row, 'Pulse'),
    }))
    .filter((adult) => Number.isFinite(adult.value) && Number.isFinite(adult.bmi) && adult.age < 86);
  const cohort = people().map((person) => ({ ...person, value: person.restingHr }));
  const gaps = (adults: readonly Adult[]) => ({
    women: meanOf(adults, ({ sex }) => sex === 'F') - meanOf(adults, ({ sex }) => sex === 'M'),
    old: meanOf(adults, ({ age }) => age >= 60) - meanOf(adults, ({ age }) => age < 40),
    bmi: slopeOver(adults.filter(({ bmi }) => bmi > 25)),
  });
  const [data, synthetic] = [gaps(real), gaps(cohort)];
  return {
    demands: [
      demand(
        'NHANES: women’s pulse above men’s, within 2 bpm of the data',
        `${signed(synthetic.women, 1)} against ${signed(data.women, 1)}`,
        synthetic.women > 0 && Math.abs(synthetic.women - data.women) <= 2,
        'a cohort without the link: 0',
      ),
      demand(
        'NHANES: 60 and over against under 40, within 4 bpm of the data',
        `${signed(synthetic.old, 1)} against ${signed(data.old, 1)}`,
        Math.abs(synthetic.old - data.old) <= 4,
        'a cohort without the link: 0',
      ),
      demand(
        'NHANES: slope on BMI above 25, within 0.2 bpm a unit',
        `${signed(synthetic.bmi, 2)} against ${signed(data.bmi, 2)}`,
        Math.abs(synthetic.bmi - data.bmi) <= 0.2,
        'a cohort without the link: 0',
      ),
    ],
    tables: [
      {
        caption:
          'Seated pulse of NHANES against the cohort’s resting heart rate (lower, as worn devices take it at rest), bpm',
        header: ['', ...BANDS.map(([from, to]) => `${from}–${to - 1}`)],
        rows: (['F', 'M'] as const).flatMap((sex) => [
          [`${sex}, data`, ...inBands(real, sex)],
          [`${sex}, cohort`, ...inBands(cohort, sex)],
        ]),
      },
    ],
    figures: [],
  };
}

export function boas(folder: string): RealFinding | undefined {
  const rows = readCsv(join(folder, BOAS));
  if (rows === undefined) return undefined;
  const real = rows
    .map((row) => ({
      age: numberOf(row, 'age'),
      sex: row.get('sex') ?? '',
      bmi: NaN,
      value: numberOf(row, 'tst'),
    }))
    .filter(({ age, value }) => Number.isFinite(age) && Number.isFinite(value));
  const p = parameters();
  const cohort = people().map((person) => ({ ...person, value: new Life(person, 6, p).next().asleepH * 60 }));
  const perDecade = (adults: readonly Adult[]): number =>
    10 *
    slope(
      adults.map(({ age }) => age),
      adults.map(({ value }) => value),
    );
  const [data, synthetic] = [perDecade(real), perDecade(cohort)];
  return {
    demands: [
      demand(
        'BOAS: sleep shortens with age, within 5 min a decade of the data',
        `${signed(synthetic, 1)} against ${signed(data, 1)} min`,
        synthetic < 0 && Math.abs(synthetic - data) <= 5,
        'a cohort without the link: 0',
      ),
    ],
    tables: [
      {
        caption: `Minutes asleep by age, BOAS (${real.length} nights) and cohort`,
        header: ['', ...BANDS.map(([from, to]) => `${from}–${to - 1}`)],
        rows: [
          ['data', ...inBands(real)],
          ['cohort', ...inBands(cohort)],
        ],
      },
    ],
    figures: [],
  };
}

function people(): Person[] {
  const p = parameters();
  return Array.from({ length: PEOPLE }, (_, id) => drawPerson(id, new Random(6, id, STREAM.traits), p));
}

function meanOf(adults: readonly Adult[], isIn: (adult: Adult) => boolean): number {
  return mean(adults.filter(isIn).map(({ value }) => value));
}

function slopeOver(adults: readonly Adult[]): number {
  return slope(
    adults.map(({ bmi }) => bmi),
    adults.map(({ value }) => value),
  );
}

function inBands(adults: readonly Adult[], sex?: string): string[] {
  return BANDS.map(([from, to]) =>
    fixed(
      meanOf(
        adults,
        (adult) => adult.age >= from && adult.age < to && (sex === undefined || adult.sex === sex),
      ),
      1,
    ),
  );
}
