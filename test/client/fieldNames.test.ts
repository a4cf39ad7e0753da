import t from 'tap';
import { slipsIn } from '#acuity/client/fieldNames.js';
import type { PredictionRequestBody, ScoreRecord } from '#acuity/contract/request.js';
import { requestBody, scoreRecord, session } from '../fixtures/bodies.js';

const warnings = (request: object) => slipsIn(request as PredictionRequestBody);

t.test('what is right is passed over', async (t) => {
  t.strictSame(warnings(requestBody(5)), []);
  t.strictSame(warnings({ current_session: { HR_night_imputed: [60], device: 'x' }, id: 1 }), []);
});

t.test('a slip is told with its place, wherever it is', async (t) => {
  const { memory, ...target } = scoreRecord();
  const request = {
    current_session: { HR_nigth: [60] },
    past_sessions: [session(), { weightKg: 74 }],
    past_target: [scoreRecord(), { ...target, memmory: memory } as unknown as ScoreRecord],
    pastTarget: [],
  };
  t.strictSame(warnings(request), [
    { path: 'current_session.HR_nigth', meant: 'HR_night' },
    { path: 'past_sessions.weightKg', meant: 'weight_kg' },
    { path: 'past_target.memmory', meant: 'memory' },
  ]);
});

t.test('beside the field itself it is another thing', async (t) => {
  t.strictSame(warnings({ current_session: { HR_night: [60], HRV_night: [40] } }), []);
  t.match(warnings({ current_session: { HR_night: null, HR_nigth: [40] } }), [{ meant: 'HR_night' }]);
});

t.test('what is not sent, and what is no object, gives no warning', async (t) => {
  t.strictSame(warnings({ current_session: { HR_nigth: undefined } }), []);
  t.strictSame(warnings({ current_session: null, past_sessions: 'x', past_targets: [7, null] }), []);
  t.strictSame(warnings({}), []);
});
