import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadBundle } from '#acuity/model/bundle.js';
import type { MeasuredConstants } from '#acuity/model/manifest.js';
import { measuredConstants } from '../measured.js';
import { LABELS, PEOPLE, SCORES, type Context } from './context.js';
import { measuredLoop } from './measuredLoop.js';
import { asServed } from './measuredService.js';
import { MeasuredPeople, testDays, type TestTaken } from './measuredPeople.js';
import { sleepyMeasured } from './real/sleepyMeasured.js';
import { compared } from './real/validationData.js';
import { demand, fixed, isWithin, type Demand, type Section, type Table } from './section.js';
import { auc, mean, meanAbsolute, rms, slope } from './statistics.js';

const SHARES = [0.3, 0.55, 0.75, 0.9] as const;
const TESTS = [1, 2, 5] as const;
const DAYS = 36;
const LAST = DAYS - 1;
/** On the card’s first page. */
const TOLD_SHARE = 0.75;
export const TESTS_CAPTION =
  'What tests buy: mean error of attention, points, by how much of the differences between people’s single results lasts (the reliability, sent with each test)';
const SQUARE_MOST = 1.01;
const ABSOLUTE_MOST = 1.02;
const SLOPES = [0.9, 1.1] as const;
/** Of these shares one test has to be this much better than the number itself. */
const NOISY = [0.3, 0.55] as readonly number[];
const POINT = 1;
/** Two-sided, 95 %. */
const Z = 1.96;

interface Cell {
  readonly share: number;
  readonly tests: number;
  readonly scores: readonly Judged[];
}

/** One score of everybody, with tests, beside what the tests alone say. */
interface Judged {
  readonly name: string;
  readonly measured: Errors;
  readonly plain: Errors;
  readonly shrunk: Errors;
  readonly unmeasured: Errors;
  /** Over the better rival, with its upper 95 % bound. */
  readonly square: Ratio;
  readonly absolute: Ratio;
  readonly slope: number;
}
interface Errors {
  readonly square: number;
  readonly absolute: number;
}
interface Ratio {
  readonly value: number;
  readonly most: number;
}

/** Point 17: real measurements count as much as they tell, and last. */
export async function measured(context: Context): Promise<Section> {
  const { world, model, people: judged } = context;
  const constants = await constantsOf(context.folder);
  const population = world.simulate(Math.min(PEOPLE, judged.people.length), DAYS);
  const people = await MeasuredPeople.of(world, population, model, constants);
  const said = cellsOf(people, world.seed, (share) => share);
  const silent = cellsOf(people, world.seed, () => undefined);
  const loop = await measuredLoop(context, constants);
  const real = await compared(async (folder) => [
    { name: 'SleepyBrain', finding: await sleepyMeasured(folder, model, constants) },
  ]);
  return {
    number: 17,
    title: 'Measured',
    about: 'What does a test, a questionnaire or a rating do to the scores, and how long?',
    demands: [...demandsOf(said), await asServed(world, model, constants), ...loop.demands, ...real.demands],
    tables: [
      boughtTable(said),
      errorTable(said, 'each test sent with its share as `reliability`'),
      errorTable(silent, 'sent without: the manifest’s counts'),
      labelTable(people, world.seed),
      ...loop.tables,
      ...real.tables,
    ],
    figures: [],
    decisive: { ...decisiveOf(said), ...real.decisive },
    notes: [
      `${people.count} people, 36 days each in the closed loop, judged on the last; tests on random days of the thirty before it, one test a score. A test gives what the person would have done on that day: recordings, the share that is the person’s and lasts, and what is of the day and of the test. “Plain” is the mean of the tests, “shrunk” that mean drawn towards 50 by n·a / (1 + (n − 1)·a), a the true share. A score with tests of its own does not look at the tests of others: attention measured alone is attention measured with all four.`,
      'The cohort was made with such offsets, and the arithmetic assumes them. So this point shows that the arithmetic does what it says, and that the network’s word of the day adds to the tests; it does not show that people are so.',
      ...loop.notes,
      'SleepyBrain: everybody with two tests, also where a night was not recorded. The number alone is no worse there: the network says that the short night costs more than it did (points 20 and 22). Among the same nights its word of the night can only add to the error.',
    ],
  };
}

/** The name of a decisive figure: the mean error of attention with so many tests of the share that is told. */
export function measuredError(tests: number): string {
  return `attention error after ${tests} tests`;
}

function decisiveOf(cells: readonly Cell[]): Record<string, number> {
  const told = cells.filter(({ share }) => share === TOLD_SHARE);
  return Object.fromEntries([
    ...told.map(({ tests, scores }) => [measuredError(tests), scores[0]?.measured.absolute]),
    ['attention error unmeasured', told[0]?.scores[0]?.unmeasured.absolute],
  ]) as Record<string, number>;
}

/** Of all cells the short of it: shown in the appendix of the card and in docs/MEASURED.md. */
function boughtTable(cells: readonly Cell[]): Table {
  return {
    caption: TESTS_CAPTION,
    header: ['reliability', 'no test', ...TESTS.map(count)],
    rows: SHARES.map((share) => {
      const of = cells.filter((cell) => cell.share === share).flatMap(({ scores }) => scores.slice(0, 1));
      const errors = [of[0]?.unmeasured, ...of.map(({ measured: with_ }) => with_)];
      return [String(share), ...errors.map((one) => fixed(one?.absolute ?? NaN, 1))];
    }),
  };
}

/** Graphs that are not bundled yet, and bundles that take no measurements, are judged by those of the shipped network. */
async function constantsOf(folder: string): Promise<MeasuredConstants> {
  const isBundled = existsSync(join(folder, 'manifest.json'));
  return (isBundled ? (await loadBundle(folder)).manifest.measured : undefined) ?? measuredConstants();
}

function cellsOf(
  people: MeasuredPeople,
  seed: number,
  reliabilityOf: (share: number) => number | undefined,
): Cell[] {
  return SHARES.flatMap((share) =>
    TESTS.map((tests) => ({ share, tests, scores: judge(people, seed, share, tests, reliabilityOf(share)) })),
  );
}

function judge(
  people: MeasuredPeople,
  seed: number,
  share: number,
  count: number,
  reliability?: number,
): Judged[] {
  const days = Array.from({ length: people.count }, (_, person) => testDays(seed, person, LAST, count));
  const shrinkage = (count * share) / (1 + (count - 1) * share);
  const columns = SCORES.map((_, k) => {
    const of = (value: (person: number) => number) =>
      Float64Array.from(days, (_days, person) => value(person));
    const tests = days.map((taken, person) =>
      taken.map((day): TestTaken => ({
        day,
        value: people.truth(person, day, k, share),
        ...(reliability === undefined ? {} : { reliability }),
      })),
    );
    const plain = of((person) => mean((tests[person] ?? []).map(({ value }) => value)));
    return {
      truth: of((person) => people.truth(person, LAST, k, share)),
      measured: of((person) => people.measured(person, LAST, k, tests[person] ?? [])),
      plain,
      shrunk: plain.map((value) => 50 + shrinkage * (value - 50)),
      unmeasured: of((person) => people.said(person, LAST, k)),
    };
  });
  return [
    ...columns.map((column, k) => judgedOf(SCORES[k] ?? '', column)),
    judgedOf('C_SCORE', composed(columns, people.constants)),
  ];
}

type Columns = Readonly<Record<'truth' | 'measured' | 'plain' | 'shrunk' | 'unmeasured', Float64Array>>;

function composed(
  [attention, memory, reasoning]: readonly Columns[],
  { composite }: MeasuredConstants,
): Columns {
  const of = (name: keyof Columns): Float64Array =>
    Float64Array.from(
      attention?.[name] ?? [],
      (value, person) =>
        composite.attention * value +
        composite.memory * (memory?.[name][person] ?? NaN) +
        composite.reasoning * (reasoning?.[name][person] ?? NaN),
    );
  return {
    truth: of('truth'),
    measured: of('measured'),
    plain: of('plain'),
    shrunk: of('shrunk'),
    unmeasured: of('unmeasured'),
  };
}

function judgedOf(name: string, { truth, measured, plain, shrunk, unmeasured }: Columns): Judged {
  const errors = (predicted: Float64Array): Errors => ({
    square: rms(truth, predicted),
    absolute: meanAbsolute(truth, predicted),
  });
  const [ofPlain, ofShrunk] = [errors(plain), errors(shrunk)];
  const distances = (predicted: Float64Array, power: number) =>
    predicted.map((value, person) => Math.abs(value - (truth[person] ?? NaN)) ** power);
  const over = (power: number, isPlainBetter: boolean): Ratio =>
    ratio(distances(measured, power), distances(isPlainBetter ? plain : shrunk, power), 1 / power);
  return {
    name,
    measured: errors(measured),
    plain: ofPlain,
    shrunk: ofShrunk,
    unmeasured: errors(unmeasured),
    square: over(2, ofPlain.square < ofShrunk.square),
    absolute: over(1, ofPlain.absolute < ofShrunk.absolute),
    slope: slope(measured, truth),
  };
}

/**
 * (mean of `over` / mean of `under`) ^ `power`, for the same people in both, and its bound by the delta method on the
 * logarithm.
 */
function ratio(over: Float64Array, under: Float64Array, power: number): Ratio {
  const [top, bottom] = [mean(over), mean(under)];
  const relative = over.map((value, person) => value / top - (under[person] ?? NaN) / bottom);
  const error = (power * rms(relative, new Float64Array(relative.length))) / Math.sqrt(relative.length);
  const value = (top / bottom) ** power;
  return { value, most: value * Math.exp(Z * error) };
}

function demandsOf(cells: readonly Cell[]): Demand[] {
  const all = cells.flatMap(({ share, tests, scores }) =>
    scores.map((one) => ({ ...one, where: `${one.name}, share ${share}, ${count(tests)}`, share, tests })),
  );
  const largest = (of: (one: (typeof all)[number]) => number) =>
    all.reduce((worst, one) => (of(one) > of(worst) ? one : worst));
  const [square, absolute] = [largest((one) => one.square.most), largest((one) => one.absolute.most)];
  const steepest = largest(({ slope: of }) => Math.abs(of - 1));
  const single = all.filter(
    ({ share, tests, name }) => tests === 1 && NOISY.includes(share) && name !== 'C_SCORE',
  );
  const least = single.reduce((worst, one) => (gain(one) < gain(worst) ? one : worst));
  return [
    demand(
      `root mean square error at most ${SQUARE_MOST} × the better of the plain and the shrunk mean of the tests, upper 95 % bound, every score and cell`,
      `at most ${fixed(square.square.most, 4)} (${square.where}; ${fixed(square.square.value, 4)})`,
      square.square.most <= SQUARE_MOST,
    ),
    demand(
      `mean error at most ${ABSOLUTE_MOST} × the better of the two, upper 95 % bound, every score and cell`,
      `at most ${fixed(absolute.absolute.most, 4)} (${absolute.where}; ${fixed(absolute.absolute.value, 4)})`,
      absolute.absolute.most <= ABSOLUTE_MOST,
    ),
    demand(
      `one test of share ${NOISY.join(' or ')}: a point below the test alone`,
      `at least ${fixed(gain(least), 1)} (${least.where})`,
      gain(least) >= POINT,
    ),
    demand(
      `slope of the truth on the score between ${SLOPES.join(' and ')}, every score and cell`,
      `furthest ${fixed(steepest.slope, 3)} (${steepest.where})`,
      all.every((one) => isWithin(one.slope, ...SLOPES)),
    ),
  ];
}

function gain({ plain, measured }: Judged): number {
  return plain.square - measured.square;
}

function count(tests: number): string {
  return tests === 1 ? '1 test' : `${tests} tests`;
}

function errorTable(cells: readonly Cell[], how: string): Table {
  const names = cells[0]?.scores.map(({ name }) => name) ?? [];
  return {
    caption: `Error of a day’s percentile, ${how}: root mean square with tests | plain | shrunk | without tests; mean error in the same order; slope`,
    header: ['share', 'tests', ...names],
    rows: cells.map(({ share, tests, scores }) => [
      String(share),
      String(tests),
      ...scores.map(({ measured: with_, plain, shrunk, unmeasured, slope: of }) =>
        [
          ...(['square', 'absolute'] as const).map((error) =>
            [with_, plain, shrunk, unmeasured].map((errors) => fixed(errors[error], 1)).join(' | '),
          ),
          fixed(of, 2),
        ].join('; '),
      ),
    ]),
  };
}

/** Of a person's labels on two days, where `share` of the variance below them is the person's. */
function correlationOfLabels(share: number): number {
  return (2 / Math.PI) * Math.asin(share);
}

/** Labels: demanded of nothing, since a rating of the day before says more of a mood than of a person. */
function labelTable(people: MeasuredPeople, seed: number): Table {
  const shares = [0.3, 0.55] as const;
  const ks = LABELS.map((_, index) => SCORES.length + index);
  const figures = (k: number, share: number, tests: number, isMeasured: boolean): string => {
    const truth = new Float64Array(people.count);
    const chance = new Float64Array(people.count);
    for (let person = 0; person < people.count; person++) {
      truth[person] = people.truth(person, LAST, k, share) / 100;
      const taken = testDays(seed, person, LAST, tests).map((day) => ({
        day,
        value: people.truth(person, day, k, share),
        reliability: correlationOfLabels(share),
      }));
      chance[person] = people.measured(person, LAST, k, isMeasured ? taken : []) / 100;
    }
    return `${fixed(auc(chance, truth), 3)} | ${fixed(rms(chance, truth) ** 2, 4)} | ${fixed(slope(chance, truth), 2)}`;
  };
  return {
    caption:
      'Labels of a day, with labels of days before it: area under the ROC curve | mean square of the probability’s error | slope',
    header: ['share', 'labels', ...LABELS],
    rows: shares.flatMap((share) =>
      [0, ...TESTS].map((tests) => [
        String(share),
        String(tests),
        ...ks.map((k) => figures(k, share, Math.max(tests, 1), tests > 0)),
      ]),
    ),
  };
}
