import t, { type Test } from 'tap';
import { Compile } from 'typebox/compile';
import { createKey } from '#acuity/auth/key.js';
import { revoked } from '#acuity/auth/lifecycle.js';
import type { Finding } from '#acuity/contract/problems.js';
import { PredictionResponseSchema } from '#acuity/contract/response.js';
import { requestBody, scoreRecord, session } from '../fixtures/bodies.js';
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
const MIB = 1024 * 1024;

const server = await startServer(t, {
  env: { ACUITY_BODY_MAX_BYTES: String(BODY_MAX), ACUITY_LOG_LEVEL: 'fatal' },
  keys: [
    { kind: 'demo', expiresAt: '2020-01-01T00:00:00.000Z' },
    { kind: 'live', ratePerS: null, dailyMax: null },
    { kind: 'live', ratePerS: 1, dailyMax: null },
    { kind: 'live', ratePerS: null, dailyMax: 2 },
    { kind: 'live', ratePerS: 1, dailyMax: null },
  ],
});
const [, expired, toRevoke, slow, daily, slowToo] = server.keys;
if (!expired || !toRevoke || !slow || !daily || !slowToo) throw new Error('five keys were ordered');
const { port, key } = server;
const KEYED = { 'X-API-Key': key };

/** A request with a good key; `sent` says what is special about it. */
function keyed(sent: Sent): Sent {
  return { body: EMPTY_SESSION, ...sent, headers: { ...KEYED, ...sent.headers } };
}

interface Refusal {
  readonly name: string;
  readonly sent: Sent;
  readonly status: number;
  readonly reason: string;
  readonly body: string;
}

const unknownKey = createKey('live');
const mistypedKey = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;

const refusals: readonly Refusal[] = [
  ...[
    '/',
    '/predict/',
    '/Predict',
    '/predict/x',
    '//predict',
    '/%70redict',
    '/healthz',
    '/readyz',
    '/metrics',
    '/docs',
  ].map((target) => ({
    name: `the path ${target}`,
    sent: keyed({ target }),
    status: 404,
    reason: 'Not Found',
    body: NOT_FOUND,
  })),
  ...['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'].map((method) => ({
    name: `the method ${method}`,
    sent: keyed({ method }),
    status: 405,
    reason: 'Method Not Allowed',
    body: METHOD_NOT_ALLOWED,
  })),
  ...[
    { name: 'no key', headers: {} },
    { name: 'an empty key', headers: { 'X-API-Key': '' } },
    { name: 'a key of spaces', headers: { 'X-API-Key': '   ' } },
    { name: 'a key in another header', headers: { Authorization: `Bearer ${key}` } },
  ].map(({ name, headers }) => ({
    name,
    sent: { headers, body: EMPTY_SESSION },
    status: 401,
    reason: 'Unauthorized',
    body: KEY_REFUSED,
  })),
  ...[
    { name: 'a key of another form', key: 'hunter2' },
    { name: 'a key as long as a key', key: 'x'.repeat(key.length) },
    { name: 'a key with a wrong checksum', key: mistypedKey },
    { name: 'a key of 8 KB', key: 'k'.repeat(8192) },
    { name: 'two keys in one header', key: `${key}, ${key}` },
    { name: 'a key that was never issued', key: unknownKey },
    { name: 'an expired key', key: expired.key },
  ].map(({ name, key: wrong }) => ({
    name,
    sent: { headers: { 'X-API-Key': wrong }, body: EMPTY_SESSION },
    status: 403,
    reason: 'Forbidden',
    body: KEY_REFUSED,
  })),
  ...[
    'text/plain',
    'application/jsonx',
    'application/x-www-form-urlencoded',
    'application/json5; charset=utf-8',
  ].map((type) => ({
    name: `the content type ${type}`,
    sent: keyed({ headers: { 'Content-Type': type } }),
    status: 415,
    reason: 'Unsupported Media Type',
    body: NOT_JSON_TYPE,
  })),
  ...['gzip', 'br', 'identity, gzip'].map((encoding) => ({
    name: `the content encoding ${encoding}`,
    sent: keyed({ headers: { 'Content-Encoding': encoding } }),
    status: 415,
    reason: 'Unsupported Media Type',
    body: ENCODED,
  })),
  {
    name: 'a body one byte over the limit',
    sent: keyed({ body: `${EMPTY_SESSION}${' '.repeat(BODY_MAX - EMPTY_SESSION.length + 1)}` }),
    status: 413,
    reason: 'Payload Too Large',
    body: TOO_LARGE,
  },
];

for (const { name, sent, status, reason, body } of refusals) {
  t.test(`${name} is refused with ${status}`, async (t) => {
    const reply = await send(port, sent);
    t.equal(reply.status, status);
    t.equal(reply.reason, reason);
    t.equal(reply.body, body);
    isOurs(t, reply);
    t.equal(reply.headers.get('allow'), status === 405 ? 'POST' : undefined);
    t.equal(reply.headers.get('server-timing'), undefined);
    t.equal(reply.headers.get('x-model-version'), undefined);
  });
}

/** Each row breaks its own check and the next one: the first one answers. */
const orders: readonly (Refusal & { readonly over: string })[] = [
  {
    name: 'the path',
    over: 'the method',
    sent: { method: 'GET', target: '/other' },
    status: 404,
    reason: 'Not Found',
    body: NOT_FOUND,
  },
  {
    name: 'the method',
    over: 'the missing key',
    sent: { method: 'GET' },
    status: 405,
    reason: 'Method Not Allowed',
    body: METHOD_NOT_ALLOWED,
  },
  {
    name: 'the missing key',
    over: 'the content type',
    sent: { headers: { 'Content-Type': 'text/plain' }, body: '{' },
    status: 401,
    reason: 'Unauthorized',
    body: KEY_REFUSED,
  },
  {
    name: 'the bad key',
    over: 'the bad body',
    sent: { headers: { 'X-API-Key': unknownKey }, body: '{' },
    status: 403,
    reason: 'Forbidden',
    body: KEY_REFUSED,
  },
  {
    name: 'the content type',
    over: 'the content encoding',
    sent: keyed({ headers: { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' } }),
    status: 415,
    reason: 'Unsupported Media Type',
    body: NOT_JSON_TYPE,
  },
  {
    name: 'the content encoding',
    over: 'the length',
    sent: keyed({ headers: { 'Content-Encoding': 'gzip' }, body: ' '.repeat(BODY_MAX + 1) }),
    status: 415,
    reason: 'Unsupported Media Type',
    body: ENCODED,
  },
  {
    name: 'the length',
    over: 'the bad JSON',
    sent: keyed({ body: '!'.repeat(BODY_MAX + 1) }),
    status: 413,
    reason: 'Payload Too Large',
    body: TOO_LARGE,
  },
  {
    name: 'the bad JSON',
    over: 'the schema',
    sent: keyed({ body: '{"current_session":{"age":-1}' }),
    status: 400,
    reason: 'Bad Request',
    body: '{"detail":"Malformed JSON at byte 29"}',
  },
];

for (const { name, over, sent, status, body } of orders) {
  t.test(`${name} is told before ${over}`, async (t) => {
    const reply = await send(port, sent);
    t.equal(reply.status, status);
    t.equal(reply.body, body);
  });
}

t.test('the rate limit is checked before the content type', async (t) => {
  const headers = { 'X-API-Key': slowToo.key, 'Content-Type': 'text/plain' };
  const statuses: number[] = [];
  while (statuses.at(-1) !== 429 && statuses.length < 50) {
    statuses.push((await send(port, { headers })).status);
  }
  t.equal(statuses.at(-1), 429);
  t.strictSame(new Set(statuses.slice(0, -1)), new Set([415]));
});

t.test('a revoked key gets 403', async (t) => {
  const sent = { headers: { 'X-API-Key': toRevoke.key }, body: EMPTY_SESSION };
  t.equal((await send(port, sent)).status, 200);
  await server.keyStore.amend(toRevoke.id, (record) => revoked(record, Date.now()));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const reply = await send(port, sent);
  t.equal(reply.status, 403);
  t.equal(reply.body, KEY_REFUSED);
});

t.test('a caller above its rate gets 429 with the time to come back', async (t) => {
  const sent = { headers: { 'X-API-Key': slow.key }, body: EMPTY_SESSION };
  let reply = await send(port, sent);
  t.equal(reply.status, 200);
  for (let tries = 0; reply.status === 200 && tries < 50; tries++) reply = await send(port, sent);
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

const requestIds: readonly { readonly id: string; readonly isEchoed: boolean }[] = [
  { id: 'a', isEchoed: true },
  { id: 'Az09._-', isEchoed: true },
  { id: 'x'.repeat(128), isEchoed: true },
  { id: 'x'.repeat(129), isEchoed: false },
  { id: 'with space', isEchoed: false },
  { id: 'semi;colon', isEchoed: false },
  { id: 'quote"', isEchoed: false },
  { id: 'h\u00e9', isEchoed: false },
];

for (const { id, isEchoed } of requestIds) {
  t.test(
    `the request id ${id.slice(0, 12)}… of ${id.length} is ${isEchoed ? 'echoed' : 'replaced'}`,
    async (t) => {
      for (const sent of [keyed({}), keyed({ body: '{' }), { target: '/other' }]) {
        const reply = await send(port, { ...sent, headers: { ...sent.headers, 'X-Request-Id': id } });
        if (isEchoed) t.equal(reply.headers.get('x-request-id'), id);
        else t.not(reply.headers.get('x-request-id'), id);
        isOurs(t, reply);
      }
    },
  );
}

t.test('generated request ids differ', async (t) => {
  const ids = new Set<string | undefined>();
  for (let count = 0; count < 5; count++) ids.add((await send(port, keyed({}))).headers.get('x-request-id'));
  t.equal(ids.size, 5);
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

const predictions: readonly { readonly name: string; readonly sent: Sent }[] = [
  { name: 'a session', sent: { body: json(requestBody()) } },
  { name: 'a session with five past ones', sent: { body: json(requestBody(5)) } },
  { name: 'a session with one past one', sent: { body: json(requestBody(1)) } },
  { name: 'an empty session', sent: { body: EMPTY_SESSION } },
  { name: 'a session of nulls', sent: { body: json({ current_session: nulls(session()) }) } },
  { name: 'empty series', sent: { body: '{"current_session":{"HR_night":[],"RR_day_1h":[]}}' } },
  { name: 'unknown fields', sent: { body: json({ ...requestBody(), more: { deep: [{}] }, x: [1, 'a'] }) } },
  {
    name: 'unknown fields in a session',
    sent: { body: '{"current_session":{"steps":[1,2],"a":{"b":null}}}' },
  },
  {
    name: 'the alias past_target',
    sent: { body: json({ current_session: {}, past_sessions: [{}], past_target: [scoreRecord()] }) },
  },
  { name: 'past_sessions null', sent: { body: '{"current_session":{},"past_sessions":null}' } },
  { name: 'past_targets []', sent: { body: '{"current_session":{},"past_targets":[]}' } },
  {
    name: 'past_sessions [] and past_targets null',
    sent: { body: '{"current_session":{},"past_sessions":[],"past_targets":null}' },
  },
  {
    name: 'past_targets null beside past_target',
    sent: {
      body: json({
        current_session: {},
        past_sessions: [{}],
        past_targets: null,
        past_target: [scoreRecord()],
      }),
    },
  },
  { name: 'white space around everything', sent: { body: ' \t\r\n{ "current_session" : { } } \n' } },
  { name: 'keys in escapes', sent: { body: '{"\\u0063urrent_session":{"\\u0061ge":40}}' } },
  { name: 'a body of exactly the limit', sent: { body: EMPTY_SESSION.padEnd(BODY_MAX) } },
  { name: 'no content type', sent: { body: EMPTY_SESSION } },
  {
    name: 'a content type with parameters',
    sent: { body: EMPTY_SESSION, headers: { 'Content-Type': 'application/json; charset=utf-8' } },
  },
  {
    name: 'a content type in capitals',
    sent: { body: EMPTY_SESSION, headers: { 'Content-Type': 'Application/JSON ;charset="utf-8"' } },
  },
  {
    name: 'the identity encoding',
    sent: { body: EMPTY_SESSION, headers: { 'Content-Encoding': 'Identity' } },
  },
  { name: 'a query string', sent: { body: EMPTY_SESSION, target: '/predict?verbose=1&x=%00#y' } },
  { name: 'whole seconds with a point', sent: { body: '{"current_session":{"deepSleepSeconds":5400.0}}' } },
  { name: 'numbers beyond float32', sent: { body: '{"current_session":{"HR_night":[1e39,60,-1e308]}}' } },
  { name: 'the last of two fields', sent: { body: '{"current_session":{"age":-5,"age":40}}' } },
  { name: 'the last of two sessions', sent: { body: '{"current_session":7,"current_session":{}}' } },
  { name: 'a __proto__ key', sent: { body: '{"current_session":{"__proto__":{"age":-1},"constructor":1}}' } },
  {
    name: 'a __proto__ key above',
    sent: { body: '{"__proto__":{"current_session":1},"current_session":{}}' },
  },
  { name: 'a lone surrogate', sent: { body: '{"current_session":{},"note":"\\ud800"}' } },
  { name: 'text beyond ASCII', sent: { body: '{"current_session":{},"note":"h\u00e9 \u{1f600}"}' } },
  {
    name: 'a body nested as deep as is allowed',
    sent: { body: `{"current_session":{},"x":${'['.repeat(63)}${']'.repeat(63)}}` },
  },
  {
    name: 'as many arrays as are allowed',
    sent: { body: `{"current_session":{},"x":[${Array(9_997).fill('[]').join()}]}` },
  },
  {
    name: 'series under their other names',
    sent: {
      body: '{"current_session":{"HR_night_imputed":[60,61],"RR_night":null,"RR_night_imputed":[15]}}',
    },
  },
  {
    name: 'past_targets [] beside past_target',
    sent: {
      body: json({
        current_session: {},
        past_sessions: [{}],
        past_targets: [],
        past_target: [scoreRecord()],
      }),
    },
  },
  {
    name: 'numbers of 17 digits and with exponents',
    sent: {
      body: '{"current_session":{"HR_night":[61.833333333333336,6.1e1],"age":34.000000000000004,"deepSleepSeconds":5.4E3}}',
    },
  },
  { name: 'seven minutes of sleep', sent: { body: '{"current_session":{"sleepTimeSeconds":420}}' } },
];

function copies<T>(count: number, of: T): T[] {
  return Array.from({ length: count }, () => of);
}

function nulls(of: object): object {
  return Object.fromEntries(Object.keys(of).map((name) => [name, null]));
}

for (const { name, sent } of predictions) {
  t.test(`${name}: 200`, async (t) => isPrediction(t, await send(port, keyed(sent))));
}

t.test('history changes the answer', async (t) => {
  const scores = async (past: number): Promise<unknown> => {
    const { inference_time_ms: _, ...rest } = JSON.parse(
      (await send(port, keyed({ body: json(requestBody(past)) }))).body,
    );
    return rest;
  };
  t.notSame(await scores(5), await scores(0));
  t.strictSame(await scores(5), await scores(5));
});

const malformed: readonly {
  readonly name: string;
  readonly body: string | Uint8Array;
  readonly byte: number;
}[] = [
  { name: 'nothing', body: '', byte: 0 },
  { name: 'white space', body: '  \n', byte: 3 },
  { name: 'a cut object', body: '{"current_session":{}', byte: 21 },
  { name: 'a cut string', body: '{"cur', byte: 5 },
  { name: 'a trailing comma', body: '{"current_session":{},}', byte: 22 },
  { name: 'something after the end', body: '{"current_session":{}}x', byte: 22 },
  { name: 'two documents', body: '{"current_session":{}}{}', byte: 22 },
  { name: 'a leading zero', body: '{"current_session":{"HR_night":[01]}}', byte: 33 },
  { name: 'a bare point', body: '{"current_session":{"HR_night":[1.]}}', byte: 34 },
  { name: 'a plus sign', body: '{"current_session":{"age":+1}}', byte: 26 },
  { name: 'NaN', body: '{"current_session":{"age":NaN}}', byte: 26 },
  { name: 'single quotes', body: "{'current_session':{}}", byte: 1 },
  { name: 'a byte order mark', body: Buffer.from('\ufeff{"current_session":{}}'), byte: 0 },
  { name: 'a wrong UTF-8 byte', body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), byte: 2 },
  { name: 'an encoded surrogate', body: Buffer.from([0x22, 0x61, 0xed, 0xa0, 0x80, 0x22]), byte: 2 },
  { name: 'a cut UTF-8 character', body: Buffer.from([0x22, 0x61, 0xe2, 0x82]), byte: 4 },
  { name: 'a control character in a string', body: '{"a\nb":1}', byte: 3 },
  { name: '64 open arrays', body: '['.repeat(64), byte: 64 },
];

for (const { name, body, byte } of malformed) {
  t.test(`${name}: 400 at byte ${byte}`, async (t) => {
    const reply = await send(port, keyed({ body }));
    t.equal(reply.status, 400);
    t.equal(reply.reason, 'Bad Request');
    t.equal(reply.body, `{"detail":"Malformed JSON at byte ${byte}"}`);
    isOurs(t, reply);
  });
}

t.test('a body cut anywhere is refused with its length', async (t) => {
  const body = '{"current_session":{"HR_night":[61,60.5],"sex":null,"age":4e1},"x":"\\u00e9\u00e9"}';
  const bytes = Buffer.from(body);
  const connection = await Connection.open(port);
  t.teardown(() => connection.destroy());
  for (let length = 0; length < bytes.length; length++) {
    const reply = await sendOn(connection, keyed({ body: bytes.subarray(0, length) }));
    t.equal(reply.body, `{"detail":"Malformed JSON at byte ${length}"}`);
  }
  t.equal((await sendOn(connection, keyed({ body: bytes }))).status, 200);
});

const S = ['body', 'current_session'];
const target = scoreRecord();

/** One of each type of finding, and the pair rules; the texts are part of the contract. */
const unprocessable: readonly {
  readonly name: string;
  readonly body: unknown;
  readonly findings: Finding[];
}[] = [
  {
    name: 'no current session',
    body: {},
    findings: [
      {
        loc: S,
        msg: 'Field required: wrap the session: {"current_session": {...}}',
        type: 'missing',
      },
    ],
  },
  ...[null, [], 'x', 7].map((value) => ({
    name: `the current session ${json(value)}`,
    body: { current_session: value },
    findings: [{ loc: S, msg: 'Input should be an object', type: 'object_type' as const }],
  })),
  ...[null, [], 'x', 7, true].map((body) => ({
    name: `the body ${json(body)}`,
    body,
    findings: [{ loc: ['body'], msg: 'Input should be an object', type: 'object_type' as const }],
  })),
  {
    name: 'a series that is no list',
    body: { current_session: { HR_night: 60 } },
    findings: [{ loc: [...S, 'HR_night'], msg: 'Input should be a list', type: 'list_type' }],
  },
  {
    name: 'what is no number in a series',
    body: { current_session: { HR_day_1h: [60, null, '61', true, [62], {}] } },
    findings: [1, 2, 3, 4, 5].map((index) => ({
      loc: [...S, 'HR_day_1h', index],
      msg: 'Input should be a number',
      type: 'number_type' as const,
    })),
  },
  {
    name: 'a number that is text',
    body: { current_session: { age: '40' } },
    findings: [{ loc: [...S, 'age'], msg: 'Input should be a number', type: 'number_type' }],
  },
  {
    name: 'half a second',
    body: { current_session: { remSleepSeconds: 26_100.5 } },
    findings: [
      {
        loc: [...S, 'remSleepSeconds'],
        msg: 'Input should be a whole number of seconds: hours times 3600, minutes times 60',
        type: 'int_type',
      },
    ],
  },
  {
    name: 'another sex',
    body: { current_session: { sex: 'male' } },
    findings: [{ loc: [...S, 'sex'], msg: "Input should be 'M', 'F' or null", type: 'literal_error' }],
  },
  {
    name: 'a negative age',
    body: { current_session: { age: -1 } },
    findings: [
      { loc: [...S, 'age'], msg: 'Input should be greater than or equal to 0', type: 'greater_than_equal' },
    ],
  },
  {
    name: 'too much sleep',
    body: { current_session: { sleepTimeSeconds: 172_801 } },
    findings: [
      {
        loc: [...S, 'sleepTimeSeconds'],
        msg: 'Input should be less than or equal to 172800',
        type: 'less_than_equal',
      },
    ],
  },
  {
    name: 'one sample too many by day',
    body: { current_session: { RR_day_1h: Array(7201).fill(15) } },
    findings: [{ loc: [...S, 'RR_day_1h'], msg: 'List should have at most 7200 items', type: 'too_long' }],
  },
  {
    name: 'six past sessions',
    body: { current_session: {}, past_sessions: copies(6, {}), past_targets: copies(6, target) },
    findings: ['past_sessions', 'past_targets'].map((field) => ({
      loc: ['body', field],
      msg: 'List should have at most 5 items',
      type: 'too_long' as const,
    })),
  },
  ...[
    { past_targets: [target] },
    { past_sessions: null, past_targets: [target] },
    { past_sessions: [{}] },
  ].map((past) => ({
    name: `half a pair, ${Object.keys(past).join()}`,
    body: { current_session: {}, ...past },
    findings: ['past_sessions', 'past_targets'].map((field) => ({
      loc: ['body', field],
      msg: 'past_sessions and past_targets must be given together',
      type: 'value_error' as const,
    })),
  })),
  {
    name: 'a pair of two lengths',
    body: { current_session: {}, past_sessions: [{}, {}], past_targets: [target] },
    findings: ['past_sessions', 'past_targets'].map((field) => ({
      loc: ['body', field],
      msg: 'past_sessions and past_targets must have the same length',
      type: 'value_error' as const,
    })),
  },
  {
    name: 'both names of the past targets',
    body: { current_session: {}, past_sessions: [{}], past_targets: [target], past_target: [target] },
    findings: [
      {
        loc: ['body', 'past_target'],
        msg: 'past_target is an alias of past_targets: give one of the two',
        type: 'value_error',
      },
    ],
  },
  {
    name: 'null in place of a past session',
    body: { current_session: {}, past_sessions: [null], past_targets: [target] },
    findings: [{ loc: ['body', 'past_sessions', 0], msg: 'Input should be an object', type: 'object_type' }],
  },
  {
    name: 'a past target with a label of its own and without its score',
    body: {
      current_session: {},
      past_sessions: [{}, {}],
      past_targets: [target, { ...target, valence: 'high', C_SCORE: undefined }],
    },
    findings: [
      { loc: ['body', 'past_targets', 1, 'C_SCORE'], msg: 'Field required', type: 'missing' },
      {
        loc: ['body', 'past_targets', 1, 'valence'],
        msg: "Input should be 'Low' or 'High'",
        type: 'literal_error',
      },
    ],
  },
  {
    name: 'a past target under its alias',
    body: { current_session: {}, past_sessions: [{}], past_target: [{ ...target, stress: 101 }] },
    findings: [
      {
        loc: ['body', 'past_target', 0, 'stress'],
        msg: 'Input should be less than or equal to 100',
        type: 'less_than_equal',
      },
    ],
  },
  {
    name: 'a series under both of its names',
    body: {
      current_session: {},
      past_sessions: [{ RR_night: [15], RR_night_imputed: [16] }],
      past_targets: [target],
    },
    findings: [
      {
        loc: ['body', 'past_sessions', 0, 'RR_night_imputed'],
        msg: 'RR_night_imputed is an alias of RR_night: give one of the two',
        type: 'value_error',
      },
    ],
  },
  {
    name: 'sleep stages in minutes beside seconds',
    body: {
      current_session: {
        sleepTimeSeconds: 26_100,
        deepSleepSeconds: 90,
        remSleepSeconds: 100,
        lightSleepSeconds: 245,
      },
    },
    findings: [
      {
        loc: [...S, 'deepSleepSeconds'],
        msg: 'Expected seconds; deepSleepSeconds, remSleepSeconds and lightSleepSeconds look like minutes beside sleepTimeSeconds',
        type: 'unit_error',
      },
    ],
  },
  {
    name: 'a past night in minutes',
    body: {
      current_session: {},
      past_sessions: [{ sleepTimeSeconds: 435, deepSleepSeconds: 90, remSleepSeconds: 100 }],
      past_targets: [target],
    },
    findings: [
      {
        loc: ['body', 'past_sessions', 0, 'sleepTimeSeconds'],
        msg: 'Expected seconds; so little sleep with both deep and REM sleep in it looks like minutes',
        type: 'unit_error',
      },
    ],
  },
  {
    name: 'shares of more than the whole',
    body: { current_session: { deepPercentage: 0.5, remPercentage: 0.6 } },
    findings: [
      {
        loc: [...S, 'deepPercentage'],
        msg: 'The shares add up to more than the whole sleep; one seems to count another stage too, or to be on another scale',
        type: 'unit_error',
      },
    ],
  },
  {
    name: 'heart rate in the place of breathing',
    body: { current_session: { RR_day_1h: copies(10, 58) } },
    findings: [
      {
        loc: [...S, 'RR_day_1h'],
        msg: 'Expected breaths per minute; so high a median looks like heart rate in the place of respiratory rate',
        type: 'unit_error',
      },
    ],
  },
  {
    name: 'heart rates in another unit',
    body: { current_session: { HR_night: [1.1, 1.2, 1.3, 60] } },
    findings: [
      {
        loc: [...S, 'HR_night'],
        msg: 'Expected beats per minute, 25 to 240; most samples lie outside',
        type: 'unit_error',
      },
    ],
  },
  {
    name: 'beat intervals in place of breaths, in a past session',
    body: {
      current_session: {},
      past_sessions: [{ RR_night: [812, 830, 795, 801] }],
      past_targets: [target],
    },
    findings: [
      {
        loc: ['body', 'past_sessions', 0, 'RR_night'],
        msg:
          'Expected breaths per minute, 3 to 70; these look like R-R intervals in milliseconds, ' +
          'not respiratory rate',
        type: 'unit_error',
      },
    ],
  },
];

for (const { name, body, findings } of unprocessable) {
  t.test(`${name}: 422`, async (t) => {
    const reply = await send(port, keyed({ body: json(body) }));
    t.equal(reply.status, 422);
    t.equal(reply.reason, 'Unprocessable Entity');
    t.strictSame(JSON.parse(reply.body), { detail: findings });
    isOurs(t, reply);
  });
}

const bounded: readonly (readonly [name: string, body: string])[] = [
  ['50,000 open arrays', '['.repeat(50_000)],
  ['65 levels', `{"current_session":{},"x":${'['.repeat(64)}${']'.repeat(64)}}`],
  ['10,001 objects', `{"current_session":{},"past_sessions":[${copies(9_998, '{}').join()}]}`],
  ['20,001 strings, and a wrong byte before them', `\u0000${copies(20_001, '""').join()}`],
];
for (const [name, body] of bounded) {
  t.test(`${name}: 422 before anything else`, async (t) => {
    const reply = await send(port, keyed({ body }));
    t.equal(reply.status, 422);
    t.strictSame(JSON.parse(reply.body), {
      detail: [
        {
          loc: ['body'],
          msg: 'Body should have at most 64 levels of nesting, 10000 objects and arrays, and 20000 strings',
          type: 'too_long',
        },
      ],
    });
    isOurs(t, reply);
  });
}

t.test('numbers that JSON cannot hold are finite_number: 422', async (t) => {
  const body = '{"current_session":{"HR_night":[60,1e999,-1e999],"age":1e999}}';
  const reply = await send(port, keyed({ body }));
  t.strictSame(JSON.parse(reply.body), {
    detail: [
      [...S, 'HR_night', 1],
      [...S, 'HR_night', 2],
      [...S, 'age'],
    ].map((loc) => ({ loc, msg: 'Input should be a finite number', type: 'finite_number' })),
  });
});

t.test('a 422 names eight findings at most, for any body', async (t) => {
  const worst = [
    { current_session: { HR_night: Array(5000).fill('x') } },
    { current_session: { HR_day_1h: ['a'], RR_day_1h: [[]], ...nonsense(session()) } },
    { current_session: {}, past_sessions: copies(5, 7), past_targets: copies(5, {}) },
  ];
  for (const body of worst) {
    const reply = await send(port, keyed({ body: json(body) }));
    t.equal(reply.status, 422);
    t.equal(JSON.parse(reply.body).detail.length, 8);
  }
});

function nonsense(of: object): object {
  return Object.fromEntries(Object.keys(of).map((name) => [name, { 'secret-marker': 1 }]));
}

t.test('no refusal repeats a value of the request', async (t) => {
  const marker = 'secret-marker';
  const bodies = [
    `{"current_session":{"age":"${marker}"}}`,
    `{"current_session":{"sex":"${marker}","HR_night":["${marker}"]}}`,
    `{"current_session":{"${marker}":1,"age":-987654321}}`,
    `{"current_session":"${marker}"}`,
    `"${marker}"`,
    `{"${marker}`,
    `{"current_session":{"RR_night":[987654321,987654321,987654321]}}`,
    json({ current_session: {}, past_sessions: [{}], past_targets: [{ ...target, valence: marker }] }),
  ];
  for (const body of bodies) {
    const reply = await send(port, keyed({ body }));
    t.ok(reply.status === 400 || reply.status === 422, reply.body);
    t.notMatch(reply.body, /secret-marker|987654321/);
  }
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

t.test('a body in many TCP segments gives the same scores', async (t) => {
  const connection = await Connection.open(port);
  t.teardown(() => connection.destroy());
  const body = json(requestBody(2));
  const whole = await sendOn(connection, keyed({ body }));
  await connection.write(head({ headers: { ...KEYED, 'Content-Length': String(body.length) } }));
  for (let at = 0; at < body.length; at += 97) {
    await connection.write(body.slice(at, at + 97));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const split = await connection.reply();
  isPrediction(t, split);
  const scores = ({ body: text }: Reply): string => text.slice(0, text.indexOf('"inference_time_ms"'));
  t.equal(scores(split), scores(whole));
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

t.test('a declared body over the limit is refused before it arrives', async (t) => {
  const connection = await Connection.open(port);
  t.teardown(() => connection.destroy());
  await connection.write(head({ headers: { ...KEYED, 'Content-Length': String(BODY_MAX + 1) } }));
  const reply = await connection.reply();
  t.equal(reply.status, 413);
  t.equal(reply.body, TOO_LARGE);
  isOurs(t, reply);
});

t.test('a body in chunks over the limit is discarded to its end, and refused then', async (t) => {
  const connection = await Connection.open(port);
  t.teardown(() => connection.destroy());
  const piece = ' '.repeat(BODY_MAX / 2);
  const pieces = chunked(piece.repeat(10), piece.length);
  const cut = 3 * (piece.length + 10);
  await connection.write(
    head({ headers: { ...KEYED, 'Transfer-Encoding': 'chunked' } }) + pieces.slice(0, cut),
  );
  await new Promise((resolve) => setTimeout(resolve, 200));
  t.equal(connection.rest, '');
  await connection.write(pieces.slice(cut));
  const reply = await connection.reply();
  t.equal(reply.status, 413);
  t.equal(reply.body, TOO_LARGE);
  t.equal(reply.headers.get('connection'), 'close');
  isOurs(t, reply);
  t.equal((await send(port, keyed({}))).status, 200);
});

for (const { name, headers, wrap } of [
  { name: 'declared', headers: { 'Content-Length': String(80 * MIB) }, wrap: (piece: string) => piece },
  {
    name: 'chunked',
    headers: { 'Transfer-Encoding': 'chunked' },
    wrap: (piece: string) => `${piece.length.toString(16)}\r\n${piece}\r\n`,
  },
]) {
  t.test(`${name}: after 64 MiB of a body that was refused the connection ends`, async (t) => {
    const connection = await Connection.open(port);
    t.teardown(() => connection.destroy());
    await connection.write(head({ headers: { ...KEYED, ...headers } }));
    const piece = wrap(' '.repeat(MIB));
    for (let count = 0; count < 64; count++) await connection.write(piece);
    await connection.receives(TOO_LARGE);
    for (let count = 0; count < 16; count++) await connection.write(piece);
    t.match(await connection.closed(), /^HTTP\/1\.1 413 /);
  });
}

t.test('the answers of uWebSockets.js itself', async (t) => {
  for (const [text, status] of [
    ['POST /predict HTTP/1.0\r\nHost: x\r\n\r\n', 505],
    ['POST /predict HTTP/1.1\r\nX-No-Host: x\r\n\r\n', 400],
    ['POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 2x\r\n\r\n{}', 400],
    [
      'POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    [`POST /predict HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(40_000)}`, 431],
  ] as const) {
    const connection = await Connection.open(port);
    await connection.write(text);
    t.match(await connection.closed(), new RegExp(`^HTTP/1\\.1 ${status} `));
  }
});

t.test('callers that hang up in the middle leave a server that answers', async (t) => {
  const body = json(requestBody(5));
  const text = head({ headers: { ...KEYED, 'Content-Length': String(body.length) } }) + body;
  for (let cut = 1; cut < text.length; cut += 997) {
    const connection = await Connection.open(port);
    await connection.write(text.slice(0, cut));
    connection.destroy();
  }
  for (let count = 0; count < 20; count++) {
    const connection = await Connection.open(port);
    await connection.write(text);
    connection.destroy();
  }
  isPrediction(t, await send(port, keyed({ body })));
});
