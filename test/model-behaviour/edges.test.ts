import t from 'tap';
import { HOUR_AT_REST } from '#acuity/contract/features.js';
import { typicalSession } from '#training/evaluation/edges.js';
import { model } from './weeks.js';

t.test('an hour far from rest is scored as missing', async (t) => {
  const session = typicalSession();
  const score = (hour: object) => model.score({ current_session: { ...session, ...hour } });
  const unknown = (await score({ HR_day_1h: [], RR_day_1h: [] })).slice();
  for (const above of [20, 60])
    t.strictSame(await score({ HR_day_1h: [HOUR_AT_REST.most + above], RR_day_1h: [28] }), unknown);
});
