import t, { type Test } from 'tap';
import { CONTRIBUTORS, EXPLANATION } from '#acuity/contract/explanation.js';
import type { PredictionResponse } from '#acuity/contract/response.js';
import { EXPLAIN_TOKENS } from '#acuity/http/prices.js';
import { PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';
import { problemAnswer } from '#acuity/contract/problems.js';
import type { PredictOptions } from '#acuity/http/door.js';
import { Connection, chunked, head, send, sendOn, type Reply, type Sent } from '../fixtures/connection.js';
import { GOOD_KEY, MODEL, answer, answerExplained, openLoop, type TestLoop } from '../fixtures/loop.js';
import { until } from '../fixtures/until.js';

const BODY = '{"current_session":{}}';
const OVERLOADED = problemAnswer('overloaded').body;
const INTERNAL = problemAnswer('internal').body;

function keyed(sent: Sent = {}): Sent {
  return { body: BODY, ...sent, headers: { 'X-API-Key': GOOD_KEY, ...sent.headers } };
}

/** Sends head and body of a request and nothing more: the answer is up to the test. */
async function post(t: Test, loop: TestLoop, more: Readonly<Record<string, string>> = {}) {
  const connection = await Connection.open(loop.port, t);
  const headers = { 'X-API-Key': GOOD_KEY, 'Content-Length': String(BODY.length), ...more };
  await connection.write(head({ headers }) + BODY);
  return connection;
}

const HEAD = head({ headers: { 'X-API-Key': GOOD_KEY, 'Content-Length': '22' } });

/** The answer to a request that is scored. */
async function ended(t: Test, loop: TestLoop): Promise<Reply> {
  const connection = await post(t, loop);
  answer(await loop.scorer.next());
  return connection.reply();
}

t.test('an answer carries the scores, the timing and the model', async (t) => {
  const reply = await ended(t, openLoop(t));
  t.equal(reply.status, 200);
  t.equal(reply.headers.get('server-timing'), 'queue;dur=1, infer;dur=2');
  t.equal(reply.headers.get('x-model-version'), 'test-1');
  const scores = '{"C_SCORE":50,"attention":51,"memory":52,"reasoning":53,"stress":54,';
  t.equal(reply.body, `${scores}"valence":"High","arousal":"Low","inference_time_ms":2}`);
});

t.test('a caller that hangs up during its body leaves nothing held', async (t) => {
  const loop = openLoop(t, { bodyBytesMax: 100_000 });
  const headers = { 'X-API-Key': GOOD_KEY };
  const streaming = head({ headers: { ...headers, 'Transfer-Encoding': 'chunked' } });
  for (const [start, body] of [
    [head({ headers: { ...headers, 'Content-Length': '50000' } }), ' '.repeat(30_000)],
    [streaming, chunked(' '.repeat(200_000), 60_000).slice(0, 190_000)],
  ] as const) {
    const connection = await Connection.open(loop.port, t);
    await connection.write(start + body);
    await until(() => loop.server.connections === 1);
    connection.destroy();
    await until(() => loop.budget.heldBytes === 0 && loop.server.connections === 0);
  }
});

t.test('a caller that asks to close its connection gets Connection: close', async (t) => {
  const loop = openLoop(t);
  for (const [asked, told] of [
    ['close', 'close'],
    ['Close', 'close'],
    ['TE, close', 'close'],
    ['keep-alive', undefined],
    ['TE', undefined],
  ] as const) {
    for (const sent of [{ body: BODY }, { target: '/other' }, { method: 'PUT' }]) {
      const connection = await Connection.open(loop.port, t);
      const reply = await sendOn(connection, { ...sent, headers: { Connection: asked } });
      t.equal(reply.headers.get('connection'), told, asked);
      if (told !== undefined) await connection.closed();
    }
  }
});

t.test('a bug answers 500, and is told to the operator alone, with the request id', async (t) => {
  const readBody: PredictOptions['readBody'] = () => {
    throw new Error('secret-marker');
  };
  const loop = openLoop(t, { readBody });
  const connection = await Connection.open(loop.port, t);
  for (const id of ['one', 'two']) {
    const reply = await sendOn(connection, keyed({ headers: { 'X-Request-Id': id } }));
    t.match(reply, { status: 500, body: INTERNAL });
  }
  t.match(loop.faults, [
    { error: { message: 'secret-marker' }, requestId: 'one' },
    { error: { message: 'secret-marker' }, requestId: 'two' },
  ]);
});

t.test('a request is answered once, also when more events follow', async (t) => {
  const loop = openLoop(t);
  const connection = await post(t, loop);
  const waiting = await loop.scorer.next();
  waiting.failed('expired');
  t.equal(waiting.isGone, true);
  answer(waiting);
  waiting.failed('fault');
  t.match(await connection.reply(), { status: 503, body: OVERLOADED });
  await connection.write(HEAD + BODY);
  answer(await loop.scorer.next());
  t.equal((await connection.reply()).status, 200);
});

t.test('the caller’s patience goes to the scorer where it is a number of milliseconds', async (t) => {
  const loop = openLoop(t);
  const others = ['0', '-1', '600001', '1e3', '08', '5.5', 'soon', '', '9999999'];
  const cases: readonly (readonly [sent: string | undefined, ms: number])[] = [
    [undefined, Infinity],
    ['800', 800],
    ['600000', 600_000],
    ...others.map((text) => [text, Infinity] as const),
  ];
  for (const [text, ms] of cases) {
    const beforeMs = performance.now();
    const connection = await post(t, loop, text === undefined ? {} : { 'X-Deadline-Ms': text });
    const waiting = await loop.scorer.next();
    const leftMs = (waiting.expiresMs ?? NaN) - beforeMs;
    t.ok(ms === Infinity ? leftMs === Infinity : leftMs >= ms && leftMs < ms + 60_000, `${text}: ${leftMs}`);
    answer(waiting);
    await connection.reply();
  }
});

t.test('a body of the process itself is scored while callers fill no half a queue', async (t) => {
  const loop = openLoop(t);
  const { predict, scorer } = loop;
  const refused = { status: 503, body: OVERLOADED };
  scorer.pending = 5;
  t.strictSame(await predict.scoreOwn(Buffer.from(BODY), 5), refused);
  scorer.pending = 4;
  const scored = predict.scoreOwn(Buffer.from(BODY), 5);
  answer(await loop.scorer.next());
  t.strictSame(await scored, { status: 200, body: (await ended(t, loop)).body });
  t.equal(loop.lines.length, 1, 'only the request of the caller is logged');
  predict.drain();
  t.strictSame(await predict.scoreOwn(Buffer.from(BODY), 5), refused, 'while it drains');
});

/** Explained requests at the door. */
const LIMITS = {
  changes: Array.from({ length: PAST_MAX + 1 }, () => SCORE_FIELDS.map(() => 5)),
  groups: Array.from({ length: PAST_MAX + 1 }, () => CONTRIBUTORS.map(() => SCORE_FIELDS.map(() => 5))),
};
const EXPLAINS = {
  notable: { lastNights: LIMITS, usual: LIMITS },
  explained: { alone: SCORE_FIELDS.map(() => 0.02), history: SCORE_FIELDS.map(() => 0.03) },
  widths: { high: 8, medium: 11 },
};
const EXPLAINED = '{"current_session":{"HR_night":[60,61,0]},"explain":true}';

function loopThatExplains(t: Test): TestLoop {
  const loop = openLoop(t);
  loop.scorer.model = { ...MODEL, explainSettings: EXPLAINS };
  return loop;
}

t.test('a model without a table refuses at the field, and says what makes one', async (t) => {
  const reply = await send(openLoop(t).port, keyed({ body: EXPLAINED }));
  const msg = /npm run model:build -- --explain FOLDER/;
  t.match(JSON.parse(reply.body), { detail: [{ loc: ['body', 'explain'], type: 'value_error', msg }] });
});

t.test('an explained request costs its price, and its answer has one more field', async (t) => {
  const loop = loopThatExplains(t);
  const reply = send(loop.port, keyed({ body: EXPLAINED }));
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
    const reply = send(loop.port, keyed({ body: `{"current_session":{}${flag}}` }));
    answer(await loop.scorer.next());
    t.notMatch((await reply).body, 'explanation', flag);
    t.strictSame([loop.scorer.explained, loop.spent], [0, []]);
  }
});
