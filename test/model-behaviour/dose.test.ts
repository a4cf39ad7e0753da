import t from 'tap';
import type { Session } from '#acuity/contract/request.js';
import { follow, meanLast, model, scoreOf, simulate } from './weeks.js';

const weeksAt40 = (asleepH?: number): Session[][] =>
  simulate(24, {
    parameters: { ageMin: 39.51, ageMax: 40.49, deviceChange: 0 },
    intervene: (day) => (day === 5 && asleepH !== undefined ? { asleepH } : {}),
  });

t.test('however a device words a night without sleep, it is a bad one', async (t) => {
  const [week = []] = weeksAt40(8);
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
  const weeks = weeksAt40();
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
