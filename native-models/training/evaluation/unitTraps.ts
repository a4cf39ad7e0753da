import type { RecordedSession } from '../cohort/sensor.js';
import { lastDayScores, type Context } from './context.js';
import { demand, fixed, type Section } from './section.js';

const PEOPLE = 1_000;
const DAYS = 6;
/** An answer is rounded to hundredths. */
const SAME = 0.01;

type Habit = (session: RecordedSession) => RecordedSession;

/** Ways in which apps express the same night. Each is compared with stage seconds and fractions. */
const HABITS: readonly { readonly name: string; readonly word: Habit }[] = [
  { name: 'percent points instead of fractions', word: (session) => scaleShares(session, 100) },
  {
    name: 'sleep time with awake time in it',
    word: (session) => ({ ...session, sleepTimeSeconds: sleepS(session) + (session.awakeSleepSeconds ?? 0) }),
  },
  { name: 'no sleep time', word: (session) => without(session, ['sleepTimeSeconds']) },
  {
    name: 'no shares',
    word: (session) => without(session, ['deepPercentage', 'remPercentage', 'lightPercentage']),
  },
  {
    name: 'neither sleep time nor shares',
    word: (session) =>
      without(session, ['sleepTimeSeconds', 'deepPercentage', 'remPercentage', 'lightPercentage']),
  },
];

/** Point 9: how a night is expressed changes nothing. */
export async function unitTraps({ world, model }: Context): Promise<Section> {
  const reference = await lastDayScores(model, world.simulate(PEOPLE, DAYS, { wear: plainly }));
  const differences = [];
  for (const { name, word } of HABITS) {
    const worded = world.simulate(PEOPLE, DAYS, { wear: (session) => wordNight(session, word) });
    const scores = await lastDayScores(model, worded);
    const largest = Math.max(
      ...scores.flatMap((column, k) =>
        Array.from(column, (value, i) => Math.abs(value - (reference[k]?.[i] ?? NaN)) * (k < 4 ? 1 : 100)),
      ),
    );
    differences.push({ name, largest });
  }
  return {
    number: 9,
    title: 'Unit traps',
    about: 'Is the same night, told in another way, the same night?',
    demands: differences.map(({ name, largest }) =>
      demand(`${name}: the same scores`, `largest difference ${fixed(largest, 4)}`, largest <= SAME),
    ),
    tables: [],
    figures: [],
    notes: [],
  };
}

/** A night that was not recorded has nothing to word. */
function wordNight(session: RecordedSession, word: Habit): RecordedSession {
  return session.deepSleepSeconds === undefined ? session : word(plainly(session));
}

/** Stage seconds, fractions, and a sleep time that is their sum. */
function plainly(session: RecordedSession): RecordedSession {
  if (session.deepSleepSeconds === undefined) return session;
  const asleepS = sleepS(session);
  return {
    ...session,
    sleepTimeSeconds: asleepS,
    deepPercentage: (session.deepSleepSeconds ?? 0) / asleepS,
    remPercentage: (session.remSleepSeconds ?? 0) / asleepS,
    lightPercentage: (session.lightSleepSeconds ?? 0) / asleepS,
  };
}

function sleepS({ deepSleepSeconds, remSleepSeconds, lightSleepSeconds }: RecordedSession): number {
  return (deepSleepSeconds ?? 0) + (remSleepSeconds ?? 0) + (lightSleepSeconds ?? 0);
}

function scaleShares(session: RecordedSession, by: number): RecordedSession {
  return {
    ...session,
    deepPercentage: (session.deepPercentage ?? 0) * by,
    remPercentage: (session.remPercentage ?? 0) * by,
    lightPercentage: (session.lightPercentage ?? 0) * by,
  };
}

function without(session: RecordedSession, fields: readonly string[]): RecordedSession {
  return Object.fromEntries(Object.entries(session).filter(([field]) => !fields.includes(field)));
}
