import t, { type Test } from 'tap';
import { CONTRIBUTORS, EXPLANATION } from '#acuity/contract/explanation.js';
import { EXPLAIN_TOKENS } from '#acuity/http/prices.js';
import { PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';
import type { PredictionResponse } from '#acuity/contract/response.js';
import { send } from '../fixtures/connection.js';
import { GOOD_KEY, MODEL, answer, answerExplained, openLoop, type TestLoop } from '../fixtures/loop.js';

/** Explained requests at the door: what they cost, and what is refused. */

const LIMITS = {
  changes: Array.from({ length: PAST_MAX + 1 }, () => SCORE_FIELDS.map(() => 5)),
  groups: Array.from({ length: PAST_MAX + 1 }, () => CONTRIBUTORS.map(() => SCORE_FIELDS.map(() => 5))),
};
const EXPLAINS = {
  notable: { lastNights: LIMITS, usual: LIMITS },
  explained: { alone: SCORE_FIELDS.map(() => 0.02), history: SCORE_FIELDS.map(() => 0.03) },
  widths: { high: 8, medium: 11 },
};
const headers = { 'X-API-Key': GOOD_KEY };
const BODY = '{"current_session":{"HR_night":[60,61,0]},"explain":true}';

function loopThatExplains(t: Test): TestLoop {
  const loop = openLoop(t);
  loop.scorer.model = { ...MODEL, explainSettings: EXPLAINS };
  return loop;
}

t.test('a model without a table refuses at the field, and says what makes one', async (t) => {
  const reply = await send(openLoop(t).port, { headers, body: BODY });
  const msg = /npm run model:build -- --explain FOLDER/;
  t.match(JSON.parse(reply.body), { detail: [{ loc: ['body', 'explain'], type: 'value_error', msg }] });
});

t.test('an explained request costs its price, and its answer has one more field', async (t) => {
  const loop = loopThatExplains(t);
  const reply = send(loop.port, { headers, body: BODY });
  const waiting = await loop.scorer.next();
  t.equal(loop.scorer.explained, 1);
  t.strictSame(loop.spent, [EXPLAIN_TOKENS - 1]);
  const floats = new Float32Array(EXPLANATION.length);
  floats.fill(50, 0, 5);
  answerExplained(waiting, loop.scorer.model, floats);
  const body = JSON.parse((await reply).body) as PredictionResponse;
  t.strictSame(Object.keys(body).slice(-2), ['inference_time_ms', 'explanation']);
  t.strictSame(body.explanation?.quality.series.HR_night, { samples: 3, used: 2 });
  t.equal(body.explanation?.scores.memory.change, 2);
});

t.test('a request that does not ask is as it was', async (t) => {
  for (const flag of ['', ',"explain":false', ',"explain":null']) {
    const loop = loopThatExplains(t);
    const reply = send(loop.port, { headers, body: `{"current_session":{}${flag}}` });
    answer(await loop.scorer.next());
    t.notMatch((await reply).body, 'explanation', flag);
    t.strictSame([loop.scorer.explained, loop.spent], [0, []]);
  }
});
