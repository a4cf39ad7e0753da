import t, { type Test } from 'tap';
import { Compile } from 'typebox/compile';
import { createKey } from '#acuity/auth/key.js';
import { PredictionResponseSchema } from '#acuity/contract/response.js';
import { requestBody } from '../fixtures/bodies.js';
import { Connection, chunked, head, send, sendOn, type Reply, type Sent } from '../fixtures/connection.js';
import { startServer } from '../fixtures/server.js';

/** Headers of every response, with any status. */
function isOurs(t: Test, reply: Reply): void {
  t.equal(reply.headers.get('content-type'), 'application/json');
  t.equal(reply.headers.get('cache-control'), 'no-store');
  t.match(reply.headers.get('x-request-id'), /^[A-Za-z0-9._-]{1,128}$/);
}
const NOT_FOUND = '{"detail":"Not Found"}';
const METHOD_NOT_ALLOWED = '{"detail":"Method Not Allowed"}';
const KEY_REFUSED = '{"detail":"Invalid or missing API key"}';
const LIMITED = '{"detail":"Rate limit exceeded"}';
const NOT_JSON_TYPE = '{"detail":"Content-Type must be application/json"}';
const ENCODED = '{"detail":"Content-Encoding is not supported"}';
const TOO_LARGE = '{"detail":"Request body too large"}';
const EMPTY_SESSION = '{"current_session":{}}';

const BODY_MAX = 100_000;

const server = await startServer(t, {
  env: { ACUITY_BODY_MAX_BYTES: String(BODY_MAX), ACUITY_LOG_LEVEL: 'fatal' },
  keys: [
    { kind: 'demo', expiresAt: '2020-01-01T00:00:00.000Z' },
    { kind: 'live', ratePerS: 1, dailyMax: null },
    { kind: 'live', ratePerS: null, dailyMax: 2 },
  ],
});
const [, expired, slow, daily] = server.keys;
if (!expired || !slow || !daily) throw new Error('three keys were ordered');
const { port, key } = server;
const KEYED = { 'X-API-Key': key };

/** A request with a good key; `sent` says what is special about it. */
function keyed(sent: Sent): Sent {
  return { body: EMPTY_SESSION, ...sent, headers: { ...KEYED, ...sent.headers } };
}

const unknownKey = createKey('live');
const withKey = (of: string): Sent => ({ headers: { 'X-API-Key': of }, body: EMPTY_SESSION });

const typed = (type: string): Sent => keyed({ headers: { 'Content-Type': type } });

const refusals: readonly (readonly [status: number, reason: string, body: string, sent: Sent])[] = [
  [404, 'Not Found', NOT_FOUND, keyed({ target: '/predict/' })],
  [404, 'Not Found', NOT_FOUND, keyed({ target: '/%70redict' })],
  [405, 'Method Not Allowed', METHOD_NOT_ALLOWED, keyed({ method: 'GET' })],
  [405, 'Method Not Allowed', METHOD_NOT_ALLOWED, keyed({ method: 'OPTIONS' })],
  [401, 'Unauthorized', KEY_REFUSED, { body: EMPTY_SESSION }],
  [401, 'Unauthorized', KEY_REFUSED, { headers: { Authorization: `Bearer ${key}` }, body: EMPTY_SESSION }],
  [403, 'Forbidden', KEY_REFUSED, withKey(unknownKey)],
  [403, 'Forbidden', KEY_REFUSED, withKey(expired.key)],
  [415, 'Unsupported Media Type', NOT_JSON_TYPE, typed('application/jsonx')],
  [415, 'Unsupported Media Type', ENCODED, keyed({ headers: { 'Content-Encoding': 'gzip' } })],
  [413, 'Payload Too Large', TOO_LARGE, keyed({ body: EMPTY_SESSION.padEnd(BODY_MAX + 1) })],
];

t.test('what is refused for its head', async (t) => {
  for (const [status, reason, body, sent] of refusals) {
    const reply = await send(port, sent);
    t.match(reply, { status, reason, body });
    isOurs(t, reply);
    t.equal(reply.headers.get('allow'), status === 405 ? 'POST' : undefined);
    for (const name of ['server-timing', 'x-model-version']) t.equal(reply.headers.get(name), undefined);
  }
});

/** Each breaks its own check and the next one: the first one answers. */
const orders: readonly (readonly [sent: Sent, body: string])[] = [
  [{ method: 'GET', target: '/other' }, NOT_FOUND],
  [{ method: 'GET' }, METHOD_NOT_ALLOWED],
  [{ headers: { 'Content-Type': 'text/plain' }, body: '{' }, KEY_REFUSED],
  [{ headers: { 'X-API-Key': unknownKey }, body: '{' }, KEY_REFUSED],
  [keyed({ headers: { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' } }), NOT_JSON_TYPE],
  [keyed({ headers: { 'Content-Encoding': 'gzip' }, body: ' '.repeat(BODY_MAX + 1) }), ENCODED],
  [keyed({ body: '!'.repeat(BODY_MAX + 1) }), TOO_LARGE],
  [keyed({ body: '{"current_session":{"age":-1}' }), '{"detail":"Malformed JSON at byte 29"}'],
];

t.test(
  'path, method, key, content type, encoding, length, JSON: the first that is wrong answers',
  async (t) => {
    for (const [sent, body] of orders) t.equal((await send(port, sent)).body, body);
  },
);

t.test('a caller above its rate gets 429 with the time to come back', async (t) => {
  const sent = { headers: { 'X-API-Key': slow.key }, body: EMPTY_SESSION };
  let reply = await send(port, sent);
  t.equal(reply.status, 200);
  for (let tries = 0; reply.status === 200 && tries < 50; tries++) reply = await send(port, sent);
  t.match(await send(port, { ...sent, headers: { ...sent.headers, 'Content-Type': 'text/plain' } }), {
    body: LIMITED,
  });
  t.equal(reply.status, 429);
  t.equal(reply.reason, 'Too Many Requests');
  t.equal(reply.body, LIMITED);
  isOurs(t, reply);
  const waitS = Number(reply.headers.get('retry-after'));
  t.ok(waitS >= 1 && waitS <= 30);
  t.equal(reply.headers.get('ratelimit-policy'), '"burst";q=2;w=2');
  t.equal(reply.headers.get('ratelimit'), `"burst";r=0;t=${waitS}`);
});

t.test('the daily quota counts predictions only, and has its own 429', async (t) => {
  const headers = { 'X-API-Key': daily.key };
  const bodies = ['{', EMPTY_SESSION, '[]', '{', EMPTY_SESSION, EMPTY_SESSION];
  const replies: Reply[] = [];
  for (const body of bodies) replies.push(await send(port, { headers, body }));
  t.strictSame(
    replies.map(({ status }) => status),
    [400, 200, 422, 400, 200, 429],
  );
  const last = replies.at(-1);
  t.equal(last?.headers.get('ratelimit-policy'), '"daily";q=2;w=86400');
  const waitS = Number(last?.headers.get('retry-after'));
  t.ok(waitS >= 1 && waitS <= 86_400);
  t.equal(last?.headers.get('ratelimit'), `"daily";r=0;t=${waitS}`);
});

t.test('HEAD gets the headers of the refusal and no body', async (t) => {
  const connection = await Connection.open(port);
  t.teardown(() => connection.destroy());
  const one = await sendOn(connection, { method: 'HEAD', headers: KEYED });
  t.equal(one.status, 405);
  t.equal(one.headers.get('allow'), 'POST');
  t.equal(one.headers.get('content-length'), String(METHOD_NOT_ALLOWED.length));
  const other = await sendOn(connection, { method: 'HEAD', target: '/other' });
  t.equal(other.status, 404);
  t.equal(other.headers.get('content-length'), String(NOT_FOUND.length));
  t.equal(connection.rest, '');
});

const responseCheck = Compile(PredictionResponseSchema);

function isPrediction(t: Test, reply: Reply): void {
  t.equal(reply.status, 200, reply.body);
  t.equal(reply.reason, 'OK');
  isOurs(t, reply);
  t.match(reply.headers.get('server-timing'), /^queue;dur=\d+(\.\d{1,2})?, infer;dur=\d+(\.\d{1,2})?$/);
  t.match(reply.headers.get('x-model-version'), /^[A-Za-z0-9._+-]{1,64}\/[A-Za-z0-9._+-]{1,64}$/);
  t.ok(responseCheck.Check(JSON.parse(reply.body)));
  const { valence, arousal, inference_time_ms: inferenceTimeMs, ...scores } = JSON.parse(reply.body);
  t.strictSame(Object.keys(scores), ['C_SCORE', 'attention', 'memory', 'reasoning', 'stress']);
  for (const score of Object.values(scores)) {
    t.ok(typeof score === 'number' && score >= 0 && score <= 100);
    t.match(String(score), /^\d+(\.\d{1,2})?$/);
  }
  t.match(valence, /^(Low|High)$/);
  t.match(arousal, /^(Low|High)$/);
  t.ok(inferenceTimeMs >= 0);
  t.match(String(inferenceTimeMs), /^\d+(\.\d{1,2})?$/);
}

function json(value: unknown): string {
  return JSON.stringify(value);
}

/** One body of each kind; what else may be in a body is the matter of test/reading. */
const predictions: Readonly<Record<string, Sent>> = {
  'a session with five past ones': { body: json(requestBody(5)) },
  'an empty session': { body: EMPTY_SESSION },
  'white space around everything': { body: ' \t\r\n{ "current_session" : { } } \n' },
  'keys in escapes': { body: '{"\\u0063urrent_session":{"\\u0061ge":40}}' },
  'text beyond ASCII': { body: '{"current_session":{},"note":"h\u00e9 \u{1f600}"}' },
  'a body of exactly the limit': { body: EMPTY_SESSION.padEnd(BODY_MAX) },
  'a content type in capitals, with parameters': {
    headers: { 'Content-Type': 'Application/JSON ;charset="utf-8"' },
  },
  'the identity encoding': { headers: { 'Content-Encoding': 'Identity' } },
  'a query string': { target: '/predict?verbose=1&x=%00#y' },
};

t.test('what is scored', async (t) => {
  for (const [name, sent] of Object.entries(predictions))
    await t.test(name, async (t) => isPrediction(t, await send(port, keyed(sent))));
});

t.test('a body that is no request: 422 with its findings', async (t) => {
  const body = json({ current_session: { HR_night: 60 }, past_sessions: [{}] });
  const reply = await send(port, keyed({ body }));
  t.match(reply, { status: 422, reason: 'Unprocessable Entity' });
  isOurs(t, reply);
  const apart = 'past_sessions and past_targets must be given together';
  t.strictSame(JSON.parse(reply.body), {
    detail: [
      { loc: ['body', 'current_session', 'HR_night'], msg: 'Input should be a list', type: 'list_type' },
      { loc: ['body', 'past_sessions'], msg: apart, type: 'value_error' },
      { loc: ['body', 'past_targets'], msg: apart, type: 'value_error' },
    ],
  });
  t.match(await send(port, keyed({ body: '['.repeat(50_000) })), { status: 422, body: /64 levels/ });
});

t.test('a body in chunks', async (t) => {
  const headers = { ...KEYED, 'Transfer-Encoding': 'chunked' };
  for (const [body, pieceBytes] of [
    [json(requestBody(5)), 1000],
    [json(requestBody(1)), 7],
    [EMPTY_SESSION, 1],
  ] as const) {
    const connection = await Connection.open(port);
    t.teardown(() => connection.destroy());
    await connection.write(head({ headers }) + chunked(body, pieceBytes));
    isPrediction(t, await connection.reply());
  }
});

t.test('a head and a body cut at every byte after the request line', async (t) => {
  // Of a request line that arrives in pieces, the uWebSockets.js build for Node 20 says 505.
  const text = head({ headers: { ...KEYED, 'Content-Length': '22' } }) + EMPTY_SESSION;
  const connection = await Connection.open(port);
  t.teardown(() => connection.destroy());
  for (let cut = text.indexOf('\n') + 1; cut < text.length; cut++) {
    await connection.write(text.slice(0, cut));
    await new Promise((resolve) => setImmediate(resolve));
    await connection.write(text.slice(cut));
    t.equal((await connection.reply()).status, 200);
  }
});

t.test('many requests and refusals on one connection', async (t) => {
  const connection = await Connection.open(port);
  t.teardown(() => connection.destroy());
  const statuses: number[] = [];
  for (const sent of [
    keyed({}),
    keyed({ body: '{' }),
    { body: EMPTY_SESSION },
    { target: '/other', body: EMPTY_SESSION },
    keyed({ body: ' '.repeat(BODY_MAX + 1) }),
    keyed({ headers: { 'Content-Type': 'text/xml' }, body: json(requestBody(5)) }),
    keyed({ body: json(requestBody(5)) }),
  ]) {
    statuses.push((await sendOn(connection, sent)).status);
  }
  t.strictSame(statuses, [200, 400, 401, 404, 413, 415, 200]);
});
