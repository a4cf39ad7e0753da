import { SCORES, type Judged } from './context.js';
import { asServed, MeasuredPeople, testDays } from './measuredPeople.js';
import { demand, fixed, isWithin, type Demand, type Section, type Table } from './section.js';
import { bootstrap, mean, meanAbsolute, slope, take, type Estimate } from './statistics.js';

const PEOPLE = 24_000;
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

/** One score of everybody with tests, beside what the tests alone say and what is said without them. */
interface Cell {
  readonly name: string;
  readonly share: number;
  readonly tests: number;
  /** Mean error in points. */
  readonly measured: number;
  readonly unmeasured: number;
  /** Root mean square error, and mean error, over the better rival. */
  readonly square: Estimate;
  readonly absolute: Estimate;
  readonly slope: number;
}

/** Point 17: real measurements count as much as they tell. */
export async function measured({ world, model, bundle }: Judged, count = PEOPLE): Promise<Section> {
  const constants = bundle.manifest.measured;
  if (constants === undefined) throw new Error('the bundle takes no measurements');
  const people = await MeasuredPeople.of(world, world.simulate(count, DAYS), model, constants);
  const cells = SHARES.flatMap((share) => TESTS.flatMap((tests) => judge(people, world.seed, share, tests)));
  const told = cells.filter(({ name, share }) => name === 'attention' && share === TOLD_SHARE);
  return {
    number: 17,
    title: 'Measured',
    why: `What does a test, a questionnaire or a rating do to the scores? ${people.count} people, ${DAYS} days each in the closed loop, judged on the last; tests on random days of the thirty before it, each sent with its share as \`reliability\`. The cohort was made with such lasting differences: this shows that the arithmetic does what it says, not that people are so.`,
    demands: [...demandsOf(cells), await asServed(world, model, constants)],
    tables: [boughtTable(cells.filter(({ name }) => name === 'attention'))],
    figures: [
      [
        `Mean error of attention, points, with no test of the person, ${TESTS.join(', ')} (reliability ${TOLD_SHARE}, simulated people)`,
        [told[0]?.unmeasured, ...told.map(({ measured: error }) => error)]
          .map((error) => fixed(error ?? NaN, 1))
          .join(', '),
      ],
    ],
  };
}

function judge(people: MeasuredPeople, seed: number, share: number, tests: number): Cell[] {
  const days = Array.from({ length: people.count }, (_, person) => testDays(seed, person, LAST, tests));
  const of = (value: (person: number) => number) => Float64Array.from(days, (_, person) => value(person));
  const shrinkage = (tests * share) / (1 + (tests - 1) * share);
  return SCORES.map((name, k) => {
    const taken = days.map((own, person) =>
      own.map((day) => ({ day, value: people.truth(person, day, k, share), reliability: share })),
    );
    const truth = of((person) => people.truth(person, LAST, k, share));
    const scores = of((person) => people.measured(person, LAST, k, taken[person] ?? []));
    const plain = of((person) => mean((taken[person] ?? []).map(({ value }) => value)));
    const shrunk = plain.map((value) => 50 + shrinkage * (value - 50));
    /** Mean of the errors to the power, over that of the better rival. */
    const over = (power: number): Estimate => {
      const misses = (values: Float64Array) =>
        values.map((value, person) => Math.abs(value - (truth[person] ?? NaN)) ** power);
      const [own, ofPlain, ofShrunk] = [misses(scores), misses(plain), misses(shrunk)];
      const rival = mean(ofPlain) < mean(ofShrunk) ? ofPlain : ofShrunk;
      return bootstrap(
        people.count,
        (chosen) => (mean(take(own, chosen)) / mean(take(rival, chosen))) ** (1 / power),
      );
    };
    return {
      name,
      share,
      tests,
      measured: meanAbsolute(truth, scores),
      unmeasured: meanAbsolute(
        truth,
        of((person) => people.said(person, LAST, k)),
      ),
      square: over(2),
      absolute: over(1),
      slope: slope(scores, truth),
    };
  });
}

function demandsOf(cells: readonly Cell[]): Demand[] {
  const worst = (
    what: string,
    of: (one: Cell) => number,
    digits: number,
    holds: (value: number) => boolean,
  ): Demand => {
    const [cell] = cells.toSorted((a, b) => of(b) - of(a));
    if (cell === undefined) throw new Error('nothing judged');
    return demand(
      what,
      `${fixed(of(cell), digits)} (${cell.name}, share ${cell.share}, ${count(cell.tests)})`,
      holds(of(cell)),
    );
  };
  return [
    worst(
      `root mean square error at most ${SQUARE_MOST} × the better of the plain and the shrunk mean of the tests, upper 95 % bound, every score and cell`,
      (one) => one.square.high,
      4,
      (value) => value <= SQUARE_MOST,
    ),
    worst(
      `mean error at most ${ABSOLUTE_MOST} × the better of the two, upper 95 % bound, every score and cell`,
      (one) => one.absolute.high,
      4,
      (value) => value <= ABSOLUTE_MOST,
    ),
    worst(
      `slope of the truth on the score between ${SLOPES.join(' and ')}, every score and cell (distance from 1)`,
      (one) => Math.abs(one.slope - 1),
      3,
      (value) => isWithin(1 + value, ...SLOPES),
    ),
  ];
}

function count(tests: number): string {
  return tests === 1 ? '1 test' : `${tests} tests`;
}

function boughtTable(cells: readonly Cell[]): Table {
  return {
    caption: TESTS_CAPTION,
    header: ['reliability', 'no test', ...TESTS.map(count)],
    rows: SHARES.map((share) => {
      const of = cells.filter((one) => one.share === share);
      return [
        String(share),
        ...[of[0]?.unmeasured, ...of.map(({ measured: error }) => error)].map((error) =>
          fixed(error ?? NaN, 1),
        ),
      ];
    }),
  };
}
