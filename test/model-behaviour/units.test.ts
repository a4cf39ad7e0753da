import t from 'tap';
import type { Session } from '#acuity/contract/request.js';
import { model, simulate } from './weeks.js';

const nights = simulate(20, { days: 1 }).flat().map(plainly);

/** Stage seconds, fractions of them, and their sum as sleep time. */
function plainly(session: Session): Session {
  const asleepS = sleepS(session);
  return {
    ...session,
    sleepTimeSeconds: asleepS,
    deepPercentage: (session.deepSleepSeconds ?? 0) / asleepS,
    remPercentage: (session.remSleepSeconds ?? 0) / asleepS,
    lightPercentage: (session.lightSleepSeconds ?? 0) / asleepS,
  };
}

function sleepS({ deepSleepSeconds, remSleepSeconds, lightSleepSeconds }: Session): number {
  return (deepSleepSeconds ?? 0) + (remSleepSeconds ?? 0) + (lightSleepSeconds ?? 0);
}

function times100(share: number | null | undefined): number {
  return (share ?? 0) * 100;
}

const HABITS: readonly { readonly name: string; readonly word: (session: Session) => Session }[] = [
  {
    name: 'percent points for fractions',
    word: (session) => ({
      ...session,
      deepPercentage: times100(session.deepPercentage),
      remPercentage: times100(session.remPercentage),
      lightPercentage: times100(session.lightPercentage),
    }),
  },
  {
    name: 'sleep time with awake time in it',
    word: (session) => ({ ...session, sleepTimeSeconds: sleepS(session) + (session.awakeSleepSeconds ?? 0) }),
  },
  { name: 'no sleep time', word: (session) => ({ ...session, sleepTimeSeconds: null }) },
  {
    name: 'no shares',
    word: (session) => ({ ...session, deepPercentage: null, remPercentage: null, lightPercentage: null }),
  },
];

for (const { name, word } of HABITS) {
  t.test(`${name}: the same scores`, async (t) => {
    for (const session of nights) {
      const worded = await model.score({ current_session: word(session) });
      t.strictSame(worded, await model.score({ current_session: session }));
    }
  });
}

t.test('a sentinel where the device had no reading changes next to nothing', async (t) => {
  for (const session of nights) {
    const holes = (session.HR_night ?? []).map((hr, index) =>
      index % 10 === 3 ? ([0, 255, -1][index % 3] ?? 0) : hr,
    );
    const plain = await model.score({ current_session: session });
    const holey = await model.score({ current_session: { ...session, HR_night: holes } });
    for (let column = 0; column < 5; column++) {
      t.ok(Math.abs((plain[column] ?? 0) - (holey[column] ?? 100)) < 3);
    }
  }
});
