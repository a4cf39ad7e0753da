import t from 'tap';
import { HOUR_AT_REST } from '#acuity/contract/features.js';
import type { PredictionRequestBody, Session } from '#acuity/contract/request.js';
import { typicalSession } from '#training/evaluation/edges.js';
import { follow, model, scoreOf, simulate } from './weeks.js';

const [week = []] = simulate(1);
const course = await follow(week);
const FIELDS = Object.keys(week[5] ?? {}) as (keyof Session)[];
const SCORES = ['attention', 'memory', 'reasoning', 'stress'] as const;

function without(session: Session, removed: readonly string[]): Session {
  return Object.fromEntries(Object.entries(session).filter(([field]) => !removed.includes(field)));
}

function withHistory(current: Session, past: readonly Session[]): PredictionRequestBody {
  return {
    current_session: current,
    past_sessions: [...past],
    past_targets: course.records.slice(0, past.length),
  };
}

function isInRange(scores: Float32Array): boolean {
  return scores.every((score, column) => score >= 0 && score <= (column < 5 ? 100 : 1));
}

t.test('any one or two fields may be missing, with and without history', async (t) => {
  const current = week[5] ?? {};
  const past = week.slice(0, 5);
  let bad = 0;
  for (const first of FIELDS) {
    for (const second of FIELDS) {
      const removed = [first, second];
      const alone = await model.score({ current_session: without(current, removed) });
      const together = await model.score(
        withHistory(
          without(current, removed),
          past.map((session) => without(session, removed)),
        ),
      );
      if (!isInRange(alone) || !isInRange(together)) bad++;
    }
  }
  t.equal(bad, 0);
});

t.test('nothing known is scored near the middle, with any history too', async (t) => {
  const nothing = await model.score({ current_session: {} });
  for (const name of SCORES) t.ok(Math.abs(scoreOf(nothing, name) - 50) < 2, name);
  t.ok(isInRange(await model.score(withHistory({}, [{}, {}, {}, {}, {}]))));
});

t.test('without a past the history does not matter: empty lists are none', async (t) => {
  const current = week[5] ?? {};
  const none = await model.score({ current_session: current });
  t.strictSame(await model.score({ current_session: current, past_sessions: [], past_targets: [] }), none);
});

t.test('extreme but legal input gives scores in range', async (t) => {
  const extreme: Session = {
    HR_day_1h: [240, 25, 240, 25],
    RR_day_1h: [70, 3, 70],
    HR_night: [240],
    RR_night: [70],
    sleepTimeSeconds: 172_800,
    deepSleepSeconds: 172_800,
    remSleepSeconds: 0,
    lightSleepSeconds: 0,
    awakeSleepSeconds: 172_800,
    age: 130,
    height_cm: 30,
    weight_kg: 650,
    sex: 'M',
  };
  t.ok(isInRange(await model.score({ current_session: extreme })));
  t.ok(isInRange(await model.score(withHistory(extreme, [extreme, {}, extreme, {}, extreme]))));
});

t.test('an hour far from rest is scored as missing', async (t) => {
  const session = typicalSession();
  const score = (hour: object) => model.score({ current_session: { ...session, ...hour } });
  const unknown = (await score({ HR_day_1h: [], RR_day_1h: [] })).slice();
  for (const above of [20, 60])
    t.strictSame(await score({ HR_day_1h: [HOUR_AT_REST.most + above], RR_day_1h: [28] }), unknown);
});
