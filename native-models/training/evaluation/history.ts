import { FEATURE_COUNT, FEATURE_INDEX, FEATURES, TARGET_COUNT } from '#acuity/contract/features.js';
import { PAST_MAX } from '#rules/fields.js';
import type { Inputs } from '#acuity/worker/session.js';
import { dayColumn, expectedOf, SCORES, type Context } from './context.js';
import { rollOut, scoreDay, type Days } from './rollout.js';
import { demand, fixed, type Section, type Table } from './section.js';
import { mean, meanAbsolute, rms } from './statistics.js';

const ALTERED_PEOPLE = 4_000;

/** What a caller sends of the days up to the judged one, as offsets from it: the last is the one that is scored. */
const SENDINGS = [
  { what: 'the five nights before', offsets: [-5, -4, -3, -2, -1, 0] },
  { what: 'every second night, four of them', offsets: [-8, -6, -4, -2, 0] },
  { what: 'five nights, then three that were not sent', offsets: [-8, -7, -6, -5, -4, 0] },
  { what: 'each night sent twice: three nights', offsets: [-3, -2, -2, -1, -1, 0] },
  { what: 'the day itself sent before, then four nights', offsets: [-4, -3, -2, -1, 0, 0] },
] as const;

export const SENDINGS_CAPTION =
  'Gaps and repeated sessions: distance to the expected percentile (root mean square, points) by what is sent as past sessions, own scores as targets';

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
  const distances: number[][] = [];
  for (let sessions = 0; sessions <= PAST_MAX; sessions++) {
    const scores = await scoreDay(model, people, rollout.targets, day, sessions);
    distances.push(SCORES.map((_, k) => rms(expectedOf(context, k), dayColumn(scores, k))));
  }
  const influence = [];
  for (const { name, alter } of ALTERATIONS)
    influence.push({ name, shifts: await influences(context, alter) });
  return {
    number: 3,
    title: 'History helps, and recent history more',
    why: 'Does each further night of history help, and do newer nights count more? Weights of past sessions are fixed in the graph, so that no content can turn their order round.',
    demands: [
      ...SCORES.map((name, k) => {
        const curve = distances.map((errors) => errors[k] ?? NaN);
        return demand(
          `${name}: error falls with each session`,
          curve.map((e) => fixed(e, 2)).join(' → '),
          falls(curve),
        );
      }),
      ...influence.map(({ name, shifts }) =>
        demand(
          `${name} in one session, the newest first: moves the scores less, the older the session`,
          shifts.map((shift) => fixed(shift, 3)).join(' > '),
          falls(shifts),
        ),
      ),
    ],
    tables: [await sendingsTable(context)],
    decisive: Object.fromEntries(
      distances.flatMap((errors, sessions) =>
        SCORES.map((name, k) => [distanceAfter(name, sessions), errors[k] ?? NaN]),
      ),
    ),
  };
}

/** The name of a decisive figure. */
export function distanceAfter(score: string, nights: number): string {
  return `${score} distance after ${nights}`;
}

function falls(curve: readonly number[]): boolean {
  return curve.every((value, index) => index === 0 || value < (curve[index - 1] ?? 0));
}

/** What gaps and repeated sessions cost. */
async function sendingsTable(context: Context): Promise<Table> {
  const rows: string[][] = [];
  for (const { what, offsets } of SENDINGS) rows.push([what, ...(await distancesOf(context, offsets))]);
  return { caption: SENDINGS_CAPTION, header: ['past sessions', ...SCORES], rows };
}

async function distancesOf(context: Context, offsets: readonly number[]): Promise<string[]> {
  const { model, people, day } = context;
  const some = people.people.slice(0, ALTERED_PEOPLE);
  const rows = new Float32Array(some.length * offsets.length * FEATURE_COUNT);
  for (const person of some.keys())
    for (const [at, offset] of offsets.entries()) {
      const from = (person * people.days + day + offset) * FEATURE_COUNT;
      rows.set(
        people.rows.subarray(from, from + FEATURE_COUNT),
        (person * offsets.length + at) * FEATURE_COUNT,
      );
    }
  const sent: Days = { people: some, days: offsets.length, rows };
  const last = offsets.length - 1;
  const { targets } = await rollOut(model, sent);
  const scores = await scoreDay(model, sent, targets, last, last);
  return SCORES.map((_, k) =>
    fixed(rms(expectedOf(context, k).subarray(0, some.length), dayColumn(scores, k)), 2),
  );
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
