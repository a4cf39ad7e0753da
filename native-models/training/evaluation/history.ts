import { FEATURE_COUNT, FEATURE_INDEX, FEATURES, TARGET_COUNT } from '#acuity/contract/features.js';
import { PAST_MAX } from '#rules/fields.js';
import type { Inputs } from '#acuity/worker/session.js';
import { dayColumn, expectedOf, SCORES, type Context } from './context.js';
import { plot } from './plot.js';
import { scoreDay, truthTargets } from './rollout.js';
import { demand, fixed, type Demand, type Section } from './section.js';
import { distanceAfter } from './nightsTable.js';
import { sendingsTable } from './sendings.js';
import { mean, meanAbsolute, rms } from './statistics.js';

const ALTERED_PEOPLE = 4_000;

/** Changes made to one past session to see how far it moves today's scores. */
const ALTERATIONS = [
  { name: 'targets +20 points', alter: shiftTargets },
  {
    name: 'heart rate +8 bpm',
    alter: shiftFeatures({ hr_day: 8, hr_night: 8 }),
  },
  { name: 'sleep −3 h', alter: shiftFeatures({ sleep_time: -3 }) },
] as const;

type Alter = (inputs: Inputs, row: number, pastIndex: number) => void;

/** Point 3: each further session lowers the error, and newer ones count more. */
export async function history(context: Context): Promise<Section> {
  const { model, people, day, rollout } = context;
  const truths = truthTargets(people);
  const own: number[][] = [];
  const measured: number[][] = [];
  for (let sessions = 0; sessions <= PAST_MAX; sessions++) {
    own.push(errorsOf(context, await scoreDay(model, people, rollout.targets, day, sessions)));
    measured.push(truthErrors(context, await scoreDay(model, people, truths, day, sessions)));
  }
  const influence = [];
  for (const { name, alter } of ALTERATIONS)
    influence.push({ name, shifts: await influences(context, alter) });
  return {
    number: 3,
    title: 'History helps, and recent history more',
    about: 'Does each further night of history help, and do newer nights count more?',
    demands: [
      ...SCORES.map((name, k) => {
        const curve = own.map((errors) => errors[k] ?? NaN);
        return demand(
          `${name}: error falls with each session`,
          curve.map((e) => fixed(e, 2)).join(' → '),
          falls(curve),
        );
      }),
      ...influence.map(({ name, shifts }) => recency(name, shifts)),
    ],
    tables: [
      {
        caption:
          'Distance to the expected percentile (root mean square, points) by number of past sessions, own scores as targets',
        header: ['sessions', ...SCORES],
        rows: own.map((errors, sessions) => [String(sessions), ...errors.map((e) => fixed(e, 3))]),
      },
      {
        caption: 'Error against what happened (mean absolute, points) where past targets are measured truths',
        header: ['sessions', ...SCORES],
        rows: measured.map((errors, sessions) => [String(sessions), ...errors.map((e) => fixed(e, 2))]),
      },
      {
        caption: 'Mean movement of the four scores (points) by the session that is altered, 5 the newest',
        header: ['altered', ...[5, 4, 3, 2, 1].map(String)],
        rows: influence.map(({ name, shifts }) => [name, ...shifts.map((shift) => fixed(shift, 3))]),
      },
      await sendingsTable(context),
    ],
    decisive: Object.fromEntries(
      own.flatMap((errors, sessions) =>
        SCORES.map((name, k) => [distanceAfter(name, sessions), errors[k] ?? NaN]),
      ),
    ),
    figures: [
      {
        file: 'history.svg',
        caption: 'Distance to the expected percentile by number of past sessions',
        svg: plot({
          title: 'Error by length of history',
          x: 'past sessions',
          y: 'distance to the expected percentile, points',
          series: SCORES.map((name, k) => ({
            name,
            points: own.map((errors, sessions) => [sessions, errors[k] ?? NaN] as const),
          })),
        }),
      },
    ],
    notes: [
      'The weights of past sessions are fixed in the graph, e^(−0.15·age) for heart rate and breathing and e^(−0.35·age) for all else, so that no content can turn their order around.',
    ],
  };
}

function errorsOf(context: Context, scores: Float32Array): number[] {
  return SCORES.map((_, k) => rms(expectedOf(context, k), dayColumn(scores, k)));
}

function truthErrors(context: Context, scores: Float32Array): number[] {
  const { people, day } = context;
  return SCORES.map((_, k) => {
    const truth = Float64Array.from(
      people.people,
      (_p, i) => people.truth[(i * people.days + day) * 6 + k] ?? NaN,
    );
    return meanAbsolute(truth, dayColumn(scores, k));
  });
}

function falls(curve: readonly number[]): boolean {
  return curve.every((error, index) => index === 0 || error < (curve[index - 1] ?? 0));
}

function recency(name: string, shifts: readonly number[]): Demand {
  const found = shifts.map((shift) => fixed(shift, 3)).join(' > ');
  return demand(`${name}: newest session moves the scores most, strictly in order`, found, falls(shifts));
}

/** Mean movement of the scores when session `pastIndex` alone is altered; pastIndex 0, the newest, first. */
async function influences({ model, people, day, rollout }: Context, alter: Alter): Promise<number[]> {
  const some = { ...people, people: people.people.slice(0, ALTERED_PEOPLE) };
  const plain = await scoreDay(model, some, rollout.targets, day, PAST_MAX);
  const shifts: number[] = [];
  for (let pastIndex = 0; pastIndex < PAST_MAX; pastIndex++) {
    const moved = await scoreDay(model, some, rollout.targets, day, PAST_MAX, (inputs, row) =>
      alter(inputs, row, pastIndex),
    );
    shifts.push(mean(SCORES.map((_, k) => meanAbsolute(dayColumn(plain, k), dayColumn(moved, k)))));
  }
  return shifts;
}

function shiftTargets(inputs: Inputs, row: number, pastIndex: number): void {
  const place = (row * PAST_MAX + pastIndex) * TARGET_COUNT;
  for (let k = 0; k < 5; k++) inputs.targets[place + k] = (inputs.targets[place + k] ?? 0) + 20 / 25;
}

/** Adds the given amounts, in each feature's own unit, to the features that are known. */
function shiftFeatures(byName: Readonly<Record<string, number>>): Alter {
  const shifts = Object.entries(byName).map(([name, by]) => {
    const feature = FEATURE_INDEX.get(name) ?? NaN;
    const mask = FEATURE_INDEX.get(`${name}_known`) ?? NaN;
    return { feature, mask, by: by / (FEATURES[feature]?.scale ?? NaN) };
  });
  return (inputs, row, pastIndex) => {
    const place = (row * PAST_MAX + pastIndex) * FEATURE_COUNT;
    for (const { feature, mask, by } of shifts) {
      const known = inputs.past[place + mask] ?? 0;
      inputs.past[place + feature] = (inputs.past[place + feature] ?? 0) + by * known;
    }
  };
}
