import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadBundle } from '#acuity/model/bundle.js';
import type { MeasuredConstants } from '#acuity/model/manifest.js';
import { measuredConstants } from '../measured.js';
import { PEOPLE, SCORES, type Context } from './context.js';
import { MeasuredPeople, testDays } from './measuredPeople.js';
import { asServed } from './measuredService.js';
import { sleepyMeasured } from './real/sleepyMeasured.js';
import { compared } from './real/validationData.js';
import { demand, fixed, isWithin, type Demand, type Section, type Table } from './section.js';
import { mean, meanAbsolute, rms, slope } from './statistics.js';

const SHARES = [0.3, 0.55, 0.75, 0.9] as const;
const TESTS = [1, 2, 5] as const;
const DAYS = 36;
const LAST = DAYS - 1;
/** On the card's first page. */
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

/** One score of everybody with tests, beside what the tests alone say and what is said without them. */
interface Judged {
  readonly name: string;
  readonly share: number;
  readonly tests: number;
  /** Mean error in points. */
  readonly measured: number;
  readonly unmeasured: number;
  /** Root mean square error, and mean error, over the better rival, with the upper 95 % bound. */
  readonly square: Ratio;
  readonly absolute: Ratio;
  /** Root mean square error of the tests' plain mean, less that with them. */
  readonly gain: number;
  readonly slope: number;
}
interface Ratio {
  readonly value: number;
  readonly most: number;
}

/** Point 17: real measurements count as much as they tell. */
export async function measured({ world, model, people: judged, folder }: Context): Promise<Section> {
  const constants = await constantsOf(folder);
  const population = world.simulate(Math.min(PEOPLE, judged.people.length), DAYS);
  const people = await MeasuredPeople.of(world, population, model, constants);
  const cells = SHARES.flatMap((share) => TESTS.flatMap((tests) => judge(people, world.seed, share, tests)));
  const real = await compared(async (data) => [
    { name: 'SleepyBrain', finding: await sleepyMeasured(data, model, constants) },
  ]);
  const attention = cells.filter(({ name }) => name === 'attention');
  return {
    number: 17,
    title: 'Measured',
    why: `What does a test, a questionnaire or a rating do to the scores? ${people.count} people, ${DAYS} days each in the closed loop, judged on the last; tests on random days of the thirty before it, each sent with its share as \`reliability\`. The cohort was made with such lasting differences and the arithmetic assumes them: this shows that the arithmetic does what it says, not that people are so.`,
    demands: [...demandsOf(cells), await asServed(world, model, constants), ...real.demands],
    tables: [boughtTable(attention), ratioTable(cells), ...real.tables],
    decisive: {
      ...Object.fromEntries(
        attention
          .filter(({ share }) => share === TOLD_SHARE)
          .map(({ tests, measured: error }) => [measuredError(tests), error]),
      ),
      'attention error unmeasured': attention.find(({ share }) => share === TOLD_SHARE)?.unmeasured ?? NaN,
      ...real.decisive,
    },
  };
}

/** The name of a decisive figure: the mean error of attention with so many tests of the share that is told. */
export function measuredError(tests: number): string {
  return `attention error after ${tests} tests`;
}

/** Graphs that are not bundled yet, and bundles that take no measurements, are judged by those of the shipped network. */
async function constantsOf(folder: string): Promise<MeasuredConstants> {
  const isBundled = existsSync(join(folder, 'manifest.json'));
  return (isBundled ? (await loadBundle(folder)).manifest.measured : undefined) ?? measuredConstants();
}

function judge(people: MeasuredPeople, seed: number, share: number, tests: number): Judged[] {
  const days = Array.from({ length: people.count }, (_, person) => testDays(seed, person, LAST, tests));
  const of = (value: (person: number) => number) => Float64Array.from(days, (_, person) => value(person));
  const shrinkage = (tests * share) / (1 + (tests - 1) * share);
  return SCORES.map((name, k) => {
    const taken = days.map((own, person) =>
      own.map((day) => ({ day, value: people.truth(person, day, k, share), reliability: share })),
    );
    const truth = of((person) => people.truth(person, LAST, k, share));
    const measured_ = of((person) => people.measured(person, LAST, k, taken[person] ?? []));
    const plain = of((person) => mean((taken[person] ?? []).map(({ value }) => value)));
    const shrunk = plain.map((value) => 50 + shrinkage * (value - 50));
    const misses = (values: Float64Array, power: number) =>
      values.map((value, person) => Math.abs(value - (truth[person] ?? NaN)) ** power);
    const over = (power: number): Ratio => {
      const [first, second] = [misses(plain, power), misses(shrunk, power)];
      return ratio(misses(measured_, power), mean(first) < mean(second) ? first : second, 1 / power);
    };
    return {
      name,
      share,
      tests,
      measured: meanAbsolute(truth, measured_),
      unmeasured: meanAbsolute(truth, of((person) => people.said(person, LAST, k))), // prettier-ignore
      square: over(2),
      absolute: over(1),
      gain: rms(truth, plain) - rms(truth, measured_),
      slope: slope(measured_, truth),
    };
  });
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

function demandsOf(cells: readonly Judged[]): Demand[] {
  const where = ({ name, share, tests }: Judged): string => `${name}, share ${share}, ${count(tests)}`;
  const largest = (of: (one: Judged) => number, among = cells): Judged => {
    const [first] = among.toSorted((a, b) => of(b) - of(a));
    if (first === undefined) throw new Error('nothing judged');
    return first;
  };
  const [square, absolute] = [largest((one) => one.square.most), largest((one) => one.absolute.most)];
  const steepest = largest((one) => Math.abs(one.slope - 1));
  const least = largest((one) => -one.gain, cells.filter(({ share, tests }) => tests === 1 && NOISY.includes(share))); // prettier-ignore
  return [
    demand(
      `root mean square error at most ${SQUARE_MOST} × the better of the plain and the shrunk mean of the tests, upper 95 % bound, every score and cell`,
      `at most ${fixed(square.square.most, 4)} (${where(square)})`,
      square.square.most <= SQUARE_MOST,
    ),
    demand(
      `mean error at most ${ABSOLUTE_MOST} × the better of the two, upper 95 % bound, every score and cell`,
      `at most ${fixed(absolute.absolute.most, 4)} (${where(absolute)})`,
      absolute.absolute.most <= ABSOLUTE_MOST,
    ),
    demand(
      `one test of share ${NOISY.join(' or ')}: a point below the test alone`,
      `at least ${fixed(least.gain, 1)} (${where(least)})`,
      least.gain >= POINT,
    ),
    demand(
      `slope of the truth on the score between ${SLOPES.join(' and ')}, every score and cell`,
      `furthest ${fixed(steepest.slope, 3)} (${where(steepest)})`,
      isWithin(steepest.slope, ...SLOPES),
    ),
  ];
}

function count(tests: number): string {
  return tests === 1 ? '1 test' : `${tests} tests`;
}

/** The short of it: shown in the appendix of the card and in docs/MEASURED.md. */
function boughtTable(attention: readonly Judged[]): Table {
  return {
    caption: TESTS_CAPTION,
    header: ['reliability', 'no test', ...TESTS.map(count)],
    rows: SHARES.map((share) => {
      const of = attention.filter((one) => one.share === share);
      const errors = [of[0]?.unmeasured, ...of.map(({ measured: error }) => error)];
      return [String(share), ...errors.map((error) => fixed(error ?? NaN, 1))];
    }),
  };
}

function ratioTable(cells: readonly Judged[]): Table {
  return {
    caption: 'Mean error with tests, points (root mean square error over the better rival’s)',
    header: ['share', 'tests', ...SCORES],
    rows: SHARES.flatMap((share) =>
      TESTS.map((tests) => [
        String(share),
        String(tests),
        ...cells
          .filter((one) => one.share === share && one.tests === tests)
          .map(({ measured: error, square }) => `${fixed(error, 1)} (${fixed(square.value, 3)})`),
      ]),
    ),
  };
}
