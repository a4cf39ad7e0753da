import type { Person } from '../cohort/person.js';
import { lastDayScores, type Context } from './context.js';
import { demand, fixed, interval, isWithin, signed, type Section } from './section.js';
import { mean, meanEstimate } from './statistics.js';

const PEOPLE = 2_000;
const DAYS = 6;
const RISE_BPM = 8;
const STRESS = 3;

/** Point 4: the same heart rate is judged against the person's own. */
export async function ownBaseline({ world, model }: Context): Promise<Section> {
  const today = { addDayHr: RISE_BPM, addNightHr: RISE_BPM };
  const plain = world.simulate(PEOPLE, DAYS, { isComplete: true });
  const raised = world.simulate(PEOPLE, DAYS, {
    isComplete: true,
    intervene: (day) => (day === DAYS - 1 ? today : {}),
  });
  const usual = world.simulate(PEOPLE, DAYS, { isComplete: true, change: withHigherHeartRate });
  const [before, above, where] = [
    await lastDayScores(model, plain),
    await lastDayScores(model, raised),
    await lastDayScores(model, usual),
  ];
  const rise = meanEstimate(difference(above[STRESS], before[STRESS]));
  const same = meanEstimate(difference(where[STRESS], before[STRESS]));
  const expected = mean(difference(lastExpected(raised), lastExpected(plain)));
  return {
    number: 4,
    title: 'Judged against one’s own baseline',
    about: 'Is a fast heart judged against the person’s own?',
    demands: [
      demand(
        `${RISE_BPM} bpm above one’s own five sessions: stress +3 to +12`,
        interval(rise, 2),
        isWithin(rise.value, 3, 12),
      ),
      demand(
        'the same heart rate where it is usual: at most a third of that',
        interval(same, 2),
        Math.abs(same.value) <= rise.value / 3,
      ),
    ],
    tables: [],
    figures: [],
    notes: [
      `The cohort itself expects ${signed(expected, 2)} points for the rise; the network sees it through a noisy sensor and five sessions only, so it answers with ${fixed(rise.value, 2)}.`,
    ],
  };
}

function withHigherHeartRate(person: Person): Person {
  return {
    ...person,
    restingHr: person.restingHr + RISE_BPM,
    sleepingHr: person.sleepingHr + RISE_BPM,
    dayHr: person.dayHr + RISE_BPM,
  };
}

function lastExpected({
  expected,
  days,
  people,
}: {
  expected: Float32Array;
  days: number;
  people: readonly Person[];
}) {
  return Float64Array.from(people, (_, index) => expected[((index + 1) * days - 1) * 6 + STRESS] ?? NaN);
}

const none: Float64Array = new Float64Array(0);

function difference(left: Float64Array = none, right: Float64Array = none): Float64Array {
  return Float64Array.from(left, (value, index) => value - (right[index] ?? NaN));
}
