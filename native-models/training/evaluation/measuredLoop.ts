import { TARGET_CENTRE, TARGET_SCALE } from '#acuity/contract/features.js';
import type { MeasuredConstants } from '#acuity/model/manifest.js';
import { LABELS, SCORES, type Context } from './context.js';
import { MeasuredPeople, type TestTaken } from './measuredPeople.js';
import { demand, fixed, signed, type Section } from './section.js';
import { mean, sd } from './statistics.js';

const PEOPLE = 300;
const DAYS = 366;
/** Tests are taken on the days before this one. */
const TESTED = 10;
const MOST_TESTS = 5;
const STAGES = [0, 1, MOST_TESTS] as const;
const WINDOWS = [
  { name: '60 days', early: [10, 25], late: [55, 70] },
  { name: '365 days', early: [10, 60], late: [300, 365] },
] as const;
const SHARE = 0.55;
/** Somebody was measured high or low from here on. */
const FAR = 20;
const STAYS = 60;
const STAYS_WITHIN = 2;
const DRIFT_MOST = 3;
const SPREAD_MOST = 0.3;
const PERSON = 79;
const LATER = [1, 3, 6, 11, 60] as const;

type Part = Pick<Section, 'demands' | 'tables' | 'notes'>;
type Value = (person: number, day: number, k: number) => number;

/** What measurements do to the closed loop: nothing, and nothing of them comes back as a past score. */
export async function measuredLoop({ world, model }: Context, constants: MeasuredConstants): Promise<Part> {
  const population = world.simulate(PEOPLE, DAYS);
  const people = await MeasuredPeople.of(world, population, model, constants);
  const as79 = target(PERSON);
  const before = await MeasuredPeople.of(world, population, model, constants, {
    forge: (day) => (day >= TESTED - MOST_TESTS && day < TESTED ? as79 : undefined),
  });
  const withTests =
    (count: number, valueOf: Value): Value =>
    (person, day, k) =>
      people.measured(
        person,
        day,
        k,
        tests(count, (taken) => valueOf(person, taken, k)),
      );
  const honest: Value = (person, day, k) => people.truth(person, day, k, SHARE);
  const stages = STAGES.map((count) => ({ count, value: withTests(count, honest) }));
  const forged = withTests(MOST_TESTS, () => 100);
  const levels = stages.flatMap(({ count, value }) =>
    WINDOWS.map((window) => levelsOf(value, count, window)),
  );
  const stays = SCORES.map((name, k) => ({ name, ...staysOf(people, withTests(MOST_TESTS, honest), k) }));
  const lastDay = (late: number): number => TESTED - 1 + late;
  const average = (value: Value, day: number, k: number): number =>
    mean(everybody((person) => value(person, day, k)));
  const said: Value = (person, day, k) => people.said(person, day, k);
  const asMeasured = withTests(MOST_TESTS, () => PERSON);
  return {
    demands: [
      demand(
        `closed loop with tests: ${WINDOWS.map(({ name }) => name).join(' and ')}, drift of every score within ±${DRIFT_MOST}, spread within ±${100 * SPREAD_MOST} %`,
        `${signed(furthest(levels.flatMap(({ drifts }) => drifts)), 2)} points, ${signed(100 * furthest(levels.flatMap(({ spreads }) => spreads.map((of) => of - 1))), 1)} %`,
        levels.every(
          ({ drifts, spreads }) =>
            drifts.every((of) => Math.abs(of) <= DRIFT_MOST) &&
            spreads.every((of) => Math.abs(of - 1) <= SPREAD_MOST),
        ),
      ),
      demand(
        `${STAYS} days after five tests, people measured ${FAR} points and more above or below 50: within ${STAYS_WITHIN} points of where they were, against how the unmeasured score moved`,
        stays.map(({ name, high, low }) => `${name} ${signed(high, 1)} / ${signed(low, 1)}`).join(', '),
        stays.every(({ high, low }) => Math.abs(high) <= STAYS_WITHIN && Math.abs(low) <= STAYS_WITHIN),
      ),
    ],
    tables: [
      {
        caption: `The closed loop with tests on the days before it (share ${SHARE}, the manifest’s reliability), ${PEOPLE} people: drift in points | spread in %; of labels the share of people in % whose label never changes`,
        header: ['tests', 'over', ...SCORES, ...LABELS],
        rows: levels.map(({ count, name, drifts, spreads, locked }) => [
          String(count),
          name,
          ...drifts.map((drift, k) => `${signed(drift, 2)} | ${signed(100 * ((spreads[k] ?? NaN) - 1), 1)}`),
          ...locked.map((share) => fixed(100 * share, 1)),
        ]),
      },
      {
        caption: `Five forged tests of 100, a day each: mean score, points`,
        header: ['days later', ...SCORES],
        rows: [1, 60, 180, 355].map((later) => [
          String(later),
          ...SCORES.map(
            (_, k) =>
              `${fixed(average(forged, lastDay(later), k), 1)} (${fixed(average(said, lastDay(later), k), 1)} without)`,
          ),
        ]),
      },
      {
        caption: `Somebody at ${PERSON} in five tests, and then own scores: mean attention of ${PEOPLE} people`,
        header: ['days later', ...LATER.map(String)],
        rows: [
          [
            `before: the tests as five past targets`,
            ...LATER.map((later) =>
              fixed(
                average((person, day, k) => before.said(person, day, k), lastDay(later), 0),
                1,
              ),
            ),
          ],
          [
            `now: five measurements of ${PERSON}`,
            ...LATER.map((later) => fixed(average(asMeasured, lastDay(later), 0), 1)),
          ],
          ['without them', ...LATER.map((later) => fixed(average(said, lastDay(later), 0), 1))],
        ],
      },
    ],
    notes: [
      'Measured scores are never past scores: what the network is told of the days before is what it said without measurements. So tests do not come back as an echo, and forged ones neither spread nor grow; but they do stay, as true ones do, and fade only with their half-life. `acuity history forget-measurements` takes them out. Five equal labels outweigh what the network says of most days: with them a label changes seldom.',
    ],
  };
}

function tests(count: number, valueOf: (day: number) => number): TestTaken[] {
  return Array.from({ length: count }, (_, back) => ({
    day: TESTED - 1 - back,
    value: valueOf(TESTED - 1 - back),
  }));
}

function everybody(value: (person: number) => number): Float64Array {
  return Float64Array.from({ length: PEOPLE }, (_, person) => value(person));
}

function levelsOf(value: Value, count: number, { name, early, late }: (typeof WINDOWS)[number]) {
  const over = ([from, to]: readonly [number, number], k: number): Float64Array => {
    const values = new Float64Array(PEOPLE * (to - from));
    let at = 0;
    for (let person = 0; person < PEOPLE; person++)
      for (let day = from; day < to; day++) values[at++] = value(person, day, k);
    return values;
  };
  const pairs = SCORES.map((_, k) => [over(early, k), over(late, k)] as const);
  return {
    count,
    name,
    drifts: pairs.map(([first, last]) => mean(last) - mean(first)),
    spreads: pairs.map(([first, last]) => sd(last) / sd(first)),
    locked: LABELS.map((_, index) => {
      const k = SCORES.length + index;
      return mean(everybody((person) => (isLocked(value, person, k, [early[0], late[1]]) ? 1 : 0)));
    }),
  };
}

function isLocked(value: Value, person: number, k: number, [from, to]: readonly [number, number]): boolean {
  const isHigh = value(person, from, k) >= 50;
  for (let day = from + 1; day < to; day++) if (value(person, day, k) >= 50 !== isHigh) return false;
  return true;
}

/** How far the mean score of those measured high, and of those measured low, moved beyond what days do by themselves. */
function staysOf(people: MeasuredPeople, measured: Value, k: number): { high: number; low: number } {
  const moved = (isChosen: (value: number) => boolean): number => {
    const chosen = [...everybody((person) => person)].filter((person) =>
      isChosen(
        mean(tests(MOST_TESTS, (day) => people.truth(person, day, k, SHARE)).map(({ value }) => value)),
      ),
    );
    const change = (value: Value): number =>
      mean(chosen.map((person) => value(person, TESTED - 1 + STAYS, k) - value(person, TESTED, k)));
    return change(measured) - change((person, day, of) => people.said(person, day, of));
  };
  return { high: moved((value) => value >= 50 + FAR), low: moved((value) => value <= 50 - FAR) };
}

function furthest(values: readonly number[]): number {
  return values.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);
}

/** The four capacities and the composite at `score`, labels as those of a calm good day. */
function target(score: number): number[] {
  const scaled = (score - TARGET_CENTRE) / TARGET_SCALE;
  return [scaled, scaled, scaled, scaled, scaled, 1, 1];
}
