import { join } from 'node:path';
import { Life } from '../../cohort/day.js';
import { Wearer } from '../../cohort/devices.js';
import { parameters } from '../../cohort/parameters.js';
import { drawPerson } from '../../cohort/person.js';
import { Random } from '../../cohort/random.js';
import { STREAM } from '../../cohort/streams.js';
import type { ServedModel } from '../../served.js';
import { plot } from '../plot.js';
import { demand, fixed, isWithin, type Figure } from '../section.js';
import { mean, sd } from '../statistics.js';
import { groupRows, numberOf, readCsv, type Row } from './csv.js';
import type { RealFinding } from './finding.js';
import { lifesnapsScores } from './lifesnapsScores.js';

/** LifeSnaps (Yfantidou et al. 2022): 48 people, months of daily summaries of a wrist device, mood diaries. */
const FILE = 'lifesnaps/daily.csv';
const DAYS_LEAST = 10;
const SYNTHETIC_PEOPLE = 2_000;
const SYNTHETIC_DAYS = 30;

/** A signal in the data and in the cohort. People of the study are young adults: so are those compared. */
interface Signal {
  readonly name: string;
  readonly unit: string;
  readonly column: string;
  readonly plausible: readonly [number, number];
  readonly scale: number;
}
const SIGNALS: readonly Signal[] = [
  { name: 'resting heart rate', unit: 'bpm', column: 'resting_hr', plausible: [35, 120], scale: 1 },
  { name: 'sleeping heart rate', unit: 'bpm', column: 'nremhr', plausible: [35, 120], scale: 1 },
  {
    name: 'breathing asleep',
    unit: 'breaths/min',
    column: 'full_sleep_breathing_rate',
    plausible: [8, 26],
    scale: 1,
  },
  { name: 'time asleep', unit: 'h', column: 'minutesAsleep', plausible: [2, 14], scale: 1 / 60 },
];

interface Distribution {
  readonly mean: number;
  readonly between: number;
  readonly within: number;
  readonly personMeans: readonly number[];
}

export async function lifesnaps(folder: string, model: ServedModel): Promise<RealFinding | undefined> {
  const rows = readCsv(join(folder, FILE));
  if (rows === undefined) return undefined;
  const people = groupRows(rows, 'id');
  const real = SIGNALS.map((signal) =>
    distribution([...people.values()].map((days) => valuesOf(days, signal))),
  );
  const cohort = simulated();
  const scores = await lifesnapsScores(people, model);
  return {
    demands: [
      ...SIGNALS.slice(0, 3).map(({ name }, index) => meanMatches(name, real[index], cohort[index], 0.6)),
      meanMatches('time asleep', real[3], cohort[3], 0.6),
      ...SIGNALS.map(({ name }, index) => spreadMatches(name, real[index], cohort[index])),
      ...scores.demands,
    ],
    tables: [
      {
        caption: 'LifeSnaps against the cohort (aged 20 to 45): mean, spread between and within persons',
        header: ['', 'mean, data', 'cohort', 'between, data', 'cohort', 'within, data', 'cohort'],
        rows: SIGNALS.map(({ name, unit }, index) => [
          `${name}, ${unit}`,
          ...(['mean', 'between', 'within'] as const).flatMap((of) => [
            fixed(real[index]?.[of] ?? NaN, 2),
            fixed(cohort[index]?.[of] ?? NaN, 2),
          ]),
        ]),
      },
      ...scores.tables,
    ],
    figures: [cumulative(real, cohort)],
  };
}

function meanMatches(
  name: string,
  real: Distribution | undefined,
  cohort: Distribution | undefined,
  tolerance: number,
) {
  const gap = ((cohort?.mean ?? NaN) - (real?.mean ?? NaN)) / (real?.between ?? NaN);
  return demand(
    `LifeSnaps ${name}: mean within ${tolerance} of the spread between persons`,
    `${fixed(cohort?.mean ?? NaN, 2)} against ${fixed(real?.mean ?? NaN, 2)}`,
    Math.abs(gap) <= tolerance,
    'about the cohort: no predictor is judged',
  );
}

function spreadMatches(name: string, real: Distribution | undefined, cohort: Distribution | undefined) {
  const ratios = [
    (cohort?.between ?? NaN) / (real?.between ?? NaN),
    (cohort?.within ?? NaN) / (real?.within ?? NaN),
  ];
  return demand(
    `LifeSnaps ${name}: spreads between and within persons, ratio 0.6 to 1.6`,
    ratios.map((ratio) => fixed(ratio, 2)).join(', '),
    ratios.every((ratio) => isWithin(ratio, 0.6, 1.6)),
    'a cohort of equal people or equal days: 0',
  );
}

function valuesOf(days: readonly Row[], { column, plausible, scale }: Signal): number[] {
  return days.map((day) => numberOf(day, column) * scale).filter((value) => isWithin(value, ...plausible));
}

function distribution(byPerson: readonly (readonly number[])[]): Distribution {
  const enough = byPerson.filter((values) => values.length >= DAYS_LEAST);
  const personMeans = enough.map((values) => mean(values));
  return {
    mean: mean(personMeans),
    between: sd(personMeans),
    within: mean(enough.map((values) => sd(values))),
    personMeans,
  };
}

/** The same four signals of simulated young adults, with the error of a device. */
function simulated(): Distribution[] {
  const p = parameters();
  const byPerson: number[][][] = SIGNALS.map(() => []);
  const noise = new Random(5);
  for (let id = 0; id < SYNTHETIC_PEOPLE; id++) {
    const person = drawPerson(id, new Random(5, id, STREAM.traits), p);
    if (person.age < 20 || person.age > 45) continue;
    const life = new Life(person, 5, p);
    const days = Array.from({ length: SYNTHETIC_DAYS }, () => life.next());
    const { hrBias, rrBias, sleepBiasH } = new Wearer(person, 5, p).on(0);
    // A day's resting rate, as devices give it, rests on night and day; it moves about as much as the night does.
    byPerson[0]?.push(days.map((day) => person.restingHr + hrBias + 0.8 * day.nightHrDeviation));
    byPerson[1]?.push(days.map((day) => person.sleepingHr + hrBias + day.nightHrDeviation));
    byPerson[2]?.push(days.map((day) => person.nightRr + rrBias + day.nightRrDeviation));
    byPerson[3]?.push(days.map((day) => day.asleepH + sleepBiasH + noise.normal(0, p.sleepErrorH)));
  }
  return byPerson.map((people) => distribution(people));
}

function cumulative(real: readonly Distribution[], cohort: readonly Distribution[]): Figure {
  const steps = Array.from({ length: 21 }, (_, index) => index / 20);
  const quantiles = ({ personMeans }: Distribution): number[] => {
    const sorted = personMeans.toSorted((a, b) => a - b);
    return steps.map((step) => sorted[Math.round(step * (sorted.length - 1))] ?? NaN);
  };
  const standard = (values: readonly number[], of: Distribution): number[] =>
    values.map((v) => (v - of.mean) / of.between);
  return {
    file: 'cohort-against-real.svg',
    caption:
      'Person means of LifeSnaps and the cohort: share of people below, in SD of the real spread about the real mean',
    svg: plot({
      title: 'Cohort against LifeSnaps, person means',
      x: 'SD of the real spread about the real mean',
      y: 'share of people below',
      xRange: [-3, 3],
      series: SIGNALS.flatMap(({ name }, index) => {
        const [data, synthetic] = [real[index], cohort[index]];
        if (data === undefined || synthetic === undefined) return [];
        return [
          {
            name: `${name}, data`,
            colour: index,
            style: 'dashed' as const,
            points: standard(quantiles(data), data).map((x, i) => [x, steps[i] ?? NaN] as const),
          },
          {
            name: `${name}, cohort`,
            colour: index,
            points: standard(quantiles(synthetic), data).map((x, i) => [x, steps[i] ?? NaN] as const),
          },
        ];
      }),
    }),
  };
}
