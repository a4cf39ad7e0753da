import t from 'tap';
import type { ScoreRecord, Session } from '#acuity/contract/request.js';
import { follow, meanLast, scoreAfter, scoreOf, simulate, type Course } from './weeks.js';

const PEOPLE = 40;
const SCORES = ['attention', 'memory', 'reasoning', 'stress'] as const;
const courses: Course[] = [];
for (const week of simulate(PEOPLE)) courses.push(await follow(week));

/** Mean movement of the four scores when past session `index` (4 the newest) alone is altered. */
async function influence(
  alterSession: (session: Session) => Session,
  alterTarget: (target: ScoreRecord) => ScoreRecord,
  index: number,
): Promise<number> {
  let sum = 0;
  for (const { sessions, records, last } of courses) {
    const current = sessions[5] ?? {};
    const past = sessions.slice(0, 5).map((session, at) => (at === index ? alterSession(session) : session));
    const targets = records.slice(0, 5).map((target, at) => (at === index ? alterTarget(target) : target));
    const moved = await scoreAfter(current, past, targets);
    for (const name of SCORES) sum += Math.abs(scoreOf(moved, name) - scoreOf(last, name));
  }
  return sum / (courses.length * SCORES.length);
}

const same = <T>(value: T): T => value;
/** Sentinels stay what they are. */
const faster = (series: readonly number[] | null | undefined): number[] =>
  (series ?? []).map((hr) => (hr > 25 && hr < 240 ? hr + 8 : hr));
const plus20 = (value: number): number => Math.min(100, value + 20);
const ALTERATIONS = [
  {
    name: 'heart rate',
    session: (session: Session) => ({
      ...session,
      HR_day_1h: faster(session.HR_day_1h),
      HR_night: faster(session.HR_night),
    }),
    target: same,
  },
  {
    name: 'sleep',
    session: (session: Session) => ({
      ...session,
      lightSleepSeconds: Math.max(0, (session.lightSleepSeconds ?? 0) - 7_200),
    }),
    target: same,
  },
  {
    name: 'a past target',
    session: same<Session>,
    target: (target: ScoreRecord): ScoreRecord => ({
      ...target,
      C_SCORE: plus20(target.C_SCORE),
      ...Object.fromEntries(SCORES.map((name) => [name, plus20(target[name])])),
    }),
  },
];

for (const { name, session, target } of ALTERATIONS) {
  t.test(`the same change of ${name} weighs more the more recent the session`, async (t) => {
    const moves: number[] = [];
    for (let index = 0; index < 5; index++) moves.push(await influence(session, target, index));
    for (let index = 1; index < 5; index++) {
      t.ok((moves[index] ?? 0) > (moves[index - 1] ?? Infinity), `session ${index + 1} more than ${index}`);
    }
    t.ok((moves[0] ?? 0) > 0, 'even the oldest counts');
  });
}

t.test('a heart rate above one’s own raises stress; the same where it is usual hardly does', async (t) => {
  const plain = simulate(PEOPLE);
  const raised = simulate(PEOPLE, {
    intervene: (day) => (day === 5 ? { addDayHr: 8, addNightHr: 8 } : {}),
  });
  const usual = simulate(PEOPLE, {
    change: (person) => ({
      ...person,
      restingHr: person.restingHr + 8,
      sleepingHr: person.sleepingHr + 8,
      dayHr: person.dayHr + 8,
    }),
  });
  const before = scoreOf(await meanLast(plain), 'stress');
  const rise = scoreOf(await meanLast(raised), 'stress') - before;
  const inHabit = scoreOf(await meanLast(usual), 'stress') - before;
  t.ok(rise > 3 && rise < 12, `rises by 3 to 12 points: ${rise.toFixed(2)}`);
  t.ok(Math.abs(inHabit) <= rise / 3, `at most a third of that where usual: ${inHabit.toFixed(2)}`);
});

t.test('forty days of the service’s own scores neither drift nor run away', async (t) => {
  const early: number[] = [];
  const late: number[] = [];
  for (const life of simulate(20, { days: 40 })) {
    const { records } = await follow(life);
    for (const name of SCORES) {
      early.push(...records.slice(5, 15).map((record) => record[name]));
      late.push(...records.slice(30).map((record) => record[name]));
    }
  }
  const mean = (values: readonly number[]): number => values.reduce((sum, v) => sum + v, 0) / values.length;
  const spread = (values: readonly number[]): number =>
    Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)));
  t.ok(Math.abs(mean(late) - mean(early)) < 3);
  t.ok(Math.abs(spread(late) / spread(early) - 1) < 0.3);
});

t.test('forged past targets fade once honest ones follow', async (t) => {
  const [week = []] = simulate(1, { days: 45 });
  const honest = await follow(week);
  const forged: ScoreRecord = {
    C_SCORE: 100,
    attention: 100,
    memory: 100,
    reasoning: 100,
    stress: 100,
    valence: 'High',
    arousal: 'High',
  };
  const numbersOf = (scores: Float32Array) =>
    Object.fromEntries(SCORES.map((name) => [name, scoreOf(scores, name)]));
  const records: ScoreRecord[] = [];
  for (const [day, current] of week.entries()) {
    const scores = await scoreAfter(current, week.slice(0, day), records);
    if (day === 5)
      t.ok(scoreOf(scores, 'attention') > (honest.records[5]?.attention ?? 100) + 10, 'believed at first');
    if (day === 44) t.ok(Math.abs(scoreOf(scores, 'attention') - scoreOf(honest.last, 'attention')) < 3);
    records.push(day < 5 ? forged : { ...forged, ...honest.records[day], ...numbersOf(scores) });
  }
});
