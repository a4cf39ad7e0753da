import t from 'tap';
import type { Session } from '#acuity/contract/request.js';
import { model, simulate } from './weeks.js';

const nights = simulate(20, { days: 1 }).flat().map(plainly);

/** Stage seconds, fractions of them, and their sum as sleep time. */
function plainly(session: Session): Session {
  const { deepSleepSeconds: deepS = 0, remSleepSeconds: remS = 0, lightSleepSeconds: lightS = 0 } = session;
  const stages = [deepS ?? 0, remS ?? 0, lightS ?? 0];
  const asleepS = stages.reduce((sum, stageS) => sum + stageS, 0);
  const [deepPercentage = 0, remPercentage = 0, lightPercentage = 0] = stages.map(
    (stageS) => stageS / asleepS,
  );
  return { ...session, sleepTimeSeconds: asleepS, deepPercentage, remPercentage, lightPercentage };
}

const hundredfold = (share: number | null | undefined): number => (share ?? 0) * 100;
const HABITS: Readonly<Record<string, (session: Session) => Session>> = {
  'percent points for fractions': ({ deepPercentage, remPercentage, lightPercentage }) => ({
    deepPercentage: hundredfold(deepPercentage),
    remPercentage: hundredfold(remPercentage),
    lightPercentage: hundredfold(lightPercentage),
  }),
  'sleep time with awake time in it': ({ sleepTimeSeconds, awakeSleepSeconds }) => ({
    sleepTimeSeconds: (sleepTimeSeconds ?? 0) + (awakeSleepSeconds ?? 0),
  }),
  'no sleep time': () => ({ sleepTimeSeconds: null }),
  'no shares': () => ({ deepPercentage: null, remPercentage: null, lightPercentage: null }),
};

for (const [name, worded] of Object.entries(HABITS)) {
  t.test(`${name}: the same scores`, async (t) => {
    for (const session of nights)
      t.strictSame(
        (await model.score({ current_session: { ...session, ...worded(session) } })).slice(),
        await model.score({ current_session: session }),
      );
  });
}

t.test('a sentinel where the device had no reading changes next to nothing', async (t) => {
  for (const session of nights) {
    const HR_night = (session.HR_night ?? []).map((hr, index) =>
      index % 10 === 3 ? ([0, 255, -1][index % 3] ?? 0) : hr,
    );
    const plain = (await model.score({ current_session: session })).slice(0, 5);
    const holey = await model.score({ current_session: { ...session, HR_night } });
    t.ok(plain.every((score, column) => Math.abs(score - (holey[column] ?? NaN)) < 3));
  }
});
