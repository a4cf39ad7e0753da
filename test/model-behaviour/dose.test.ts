import t from 'tap';
import type { Session } from '#acuity/contract/request.js';
import { follow, meanLast, model, scoreOf, simulate } from './weeks.js';

const PEOPLE = 24;
const DAYS = 6;
const AGES = [20, 50, 80];

function weeksAt(age: number, asleepH?: number): Session[][] {
  return simulate(PEOPLE, {
    parameters: { ageMin: age - 0.49, ageMax: age + 0.49, deviceChange: 0 },
    intervene: (day) => (day === DAYS - 1 && asleepH !== undefined ? { asleepH } : {}),
  });
}

async function meanAttention(weeks: readonly Session[][], isAlone: boolean): Promise<number> {
  if (!isAlone) return scoreOf(await meanLast(weeks), 'attention');
  let sum = 0;
  for (const week of weeks)
    sum += scoreOf(await model.score({ current_session: week.at(-1) ?? {} }), 'attention');
  return sum / weeks.length;
}

for (const isAlone of [true, false]) {
  t.test(isAlone ? 'without history' : 'with five sessions', async (t) => {
    const costs: number[] = [];
    for (const age of AGES) {
      const of = (asleepH?: number): Promise<number> => meanAttention(weeksAt(age, asleepH), isAlone);
      const [usual, none, one, eight, twelve] = [
        await of(),
        await of(0),
        await of(1),
        await of(8),
        await of(12),
      ];
      const long = twelve - eight;
      costs.push(usual - none);
      t.ok(
        none <= one,
        `${age}: no sleep is at least as bad as an hour (${none.toFixed(1)}, ${one.toFixed(1)})`,
      );
      t.ok(
        usual - none >= 12 && usual - none <= 35,
        `${age}: it costs 12 to 35 points (${(usual - none).toFixed(1)})`,
      );
      t.ok(long >= -5 && long <= 0.5, `${age}: 12 h are no gain over 8 h (${long.toFixed(1)})`);
    }
    const [young = NaN, , old = NaN] = costs;
    t.ok(old <= young + 1, `older people lose no more (${old.toFixed(1)}, ${young.toFixed(1)})`);
  });
}

t.test('the more slept up to the need, the better', async (t) => {
  const scores: number[] = [];
  for (const asleepH of [0, 2, 4, 6, 8]) scores.push(await meanAttention(weeksAt(40, asleepH), false));
  for (let at = 1; at < scores.length; at++)
    t.ok((scores[at] ?? NaN) > (scores[at - 1] ?? NaN), scores.join(' '));
});

t.test('however a device words a night without sleep, it is a bad one', async (t) => {
  const [week = []] = weeksAt(40, 8);
  const { sessions, records } = await follow(week);
  const last = sessions.at(-1) ?? {};
  const none = { sleepTimeSeconds: 0, deepSleepSeconds: 0, remSleepSeconds: 0, lightSleepSeconds: 0 };
  const shares = { deepPercentage: null, remPercentage: null, lightPercentage: null };
  const words: Session[] = [
    { ...last, ...none, ...shares, awakeSleepSeconds: 0, HR_night: [], RR_night: [] },
    { ...last, ...none, ...shares, awakeSleepSeconds: 28_800 },
    { ...last, ...none, deepPercentage: 0, remPercentage: 0, lightPercentage: 0, HR_night: [], RR_night: [] },
    { ...last, ...none, ...shares, deepSleepSeconds: null, remSleepSeconds: null, lightSleepSeconds: null },
  ];
  const past = { past_sessions: sessions.slice(0, 5), past_targets: records.slice(0, 5) };
  const slept = scoreOf(await model.score({ current_session: last, ...past }), 'attention');
  for (const current_session of words) {
    const attention = scoreOf(await model.score({ current_session, ...past }), 'attention');
    t.ok(attention < slept - 8, `${attention.toFixed(1)} against ${slept.toFixed(1)}`);
  }
});

t.test('a night at 180 bpm is not a calm one', async (t) => {
  const weeks = weeksAt(40);
  const at = async (bpm: number): Promise<number> => {
    const faster = weeks.map((week) => [
      ...week.slice(0, -1),
      { ...week.at(-1), HR_night: Array.from({ length: 240 }, () => bpm) },
    ]);
    return scoreOf(await meanLast(faster), 'stress');
  };
  const [calm, fast, racing] = [await at(60), await at(100), await at(180)];
  t.ok(calm < fast && fast <= racing, `${calm.toFixed(1)}, ${fast.toFixed(1)}, ${racing.toFixed(1)}`);
  t.ok(racing > calm + 10);
});
