import { STATUS_CODES } from 'node:http';
import t, { type Test } from 'tap';
import { createKey } from '#acuity/auth/key.js';
import { statusOf, type PlainCause, type RefusalCause } from '#acuity/contract/metrics.js';
import { MALFORMED_EXAMPLE, UNPROCESSABLE_EXAMPLE } from '#acuity/contract/openapiExamples.js';
import { PROBLEMS } from '#acuity/contract/problems.js';
import { requestBody } from '../fixtures/bodies.js';
import { Connection, head, sendOn, type Reply, type Sent } from '../fixtures/connection.js';
import { OPERATION } from '../fixtures/openapi.js';
import { metricsOf, valueOf } from '../fixtures/promtool.js';
import { CLEAN, startServer } from '../fixtures/server.js';
import { loopsOf } from '../fixtures/stops.js';

/**
 * The contract over a running service, by a Unix socket where `CONTRACT_SOCKET` names one; the connection holds each
 * answer to docs/openapi.json.
 */

const EMPTY_SESSION = '{"current_session":{}}';
const BODY_MAX = 100_000;

const socket = process.env['CONTRACT_SOCKET'];
const server = await startServer(t, {
  env: {
    ...(socket === undefined ? {} : { ACUITY_SOCKET: socket }),
    ...loopsOf(2),
    ACUITY_BODY_MAX_BYTES: String(BODY_MAX),
    ACUITY_LOG_LEVEL: 'fatal',
  },
  keys: [
    { kind: 'demo', expiresAt: '2020-01-01T00:00:00.000Z' },
    { kind: 'live', ratePerS: 1, dailyMax: null },
    { kind: 'live', ratePerS: 500, dailyMax: 5 },
  ],
});
const [, expired, slow, listed] = server.keys;
if (!expired || !slow || !listed) throw new Error('three keys were ordered');
const { at, key } = server;
const KEYED = { 'X-API-Key': key };
const connection = await Connection.open(at, t);

/** A request with a good key; `sent` says what is special about it. */
function keyed(sent: Sent): Sent {
  return { body: EMPTY_SESSION, ...sent, headers: { ...KEYED, ...sent.headers } };
}
const typed = (type: string, body = EMPTY_SESSION): Sent =>
  keyed({ headers: { 'Content-Type': type, 'Content-Encoding': 'gzip' }, body });
const gzip = { 'Content-Encoding': 'gzip' };

/** Headers of every response, with any status. */
function isOurs(t: Test, reply: Reply): void {
  t.equal(reply.headers.get('content-type'), 'application/json');
  t.equal(reply.headers.get('cache-control'), 'no-store');
  t.match(reply.headers.get('x-request-id'), /^[A-Za-z0-9._-]{1,128}$/);
}

/** The body of a refusal as the document shows it; of those that it does not list, as the catalogue has it. */
function bodyOf(cause: RefusalCause): unknown {
  const { example, examples } = OPERATION.responses[statusOf(cause)]?.content['application/json'] ?? {};
  if (example !== undefined) return example;
  const problem = cause === 'rateBurst' ? 'rateLimited' : (cause as PlainCause);
  return examples?.[problem]?.value ?? { detail: PROBLEMS[problem].detail };
}

const UNKNOWN: readonly RefusalCause[] = ['notFound', 'methodNotAllowed', 'keyMissing', 'keyInvalid'];
const kindOf = (cause: RefusalCause): string => (UNKNOWN.includes(cause) ? 'none' : 'live');

/** In the order of the checks: most break their own and the next one, and the first that is wrong answers. */
const REFUSALS: readonly (readonly [cause: RefusalCause, sent: Sent, body?: object])[] = [
  ['notFound', { method: 'GET', target: '/other' }],
  ['notFound', keyed({ target: '/predict/' })],
  ['notFound', keyed({ target: '/%70redict' })],
  ['notFound', { method: 'HEAD', target: '/other' }],
  ['methodNotAllowed', { method: 'GET' }],
  ['methodNotAllowed', keyed({ method: 'OPTIONS' })],
  ['methodNotAllowed', { method: 'HEAD', headers: KEYED }],
  ['keyMissing', { headers: { 'Content-Type': 'text/plain' }, body: '{' }],
  ['keyMissing', { headers: { Authorization: `Bearer ${key}` }, body: '{' }],
  ['keyInvalid', { headers: { 'X-API-Key': createKey('live') }, body: '{' }],
  ['keyInvalid', { headers: { 'X-API-Key': expired.key }, body: EMPTY_SESSION }],
  ['rateBurst', { headers: { 'X-API-Key': slow.key }, body: EMPTY_SESSION }],
  ['contentType', typed('text/plain')],
  ['contentType', typed('application/jsonx')],
  ['contentEncoding', keyed({ headers: gzip, body: ' '.repeat(BODY_MAX + 1) })],
  ['bodyTooLarge', keyed({ body: '!'.repeat(BODY_MAX + 1) })],
  ['malformed', keyed({ body: MALFORMED_EXAMPLE.body })],
  ['malformed', keyed({ body: '{"current_session":{"age":-1}' }), { detail: 'Malformed JSON at byte 29' }],
  ['unprocessable', keyed({ body: JSON.stringify(UNPROCESSABLE_EXAMPLE.body) })],
];

t.test(
  'each refusal is the documented answer, and counts once by cause, status, key and finding',
  async (t) => {
    const before = await metricsOf(server.adminPort);
    const told: string[] = [];
    for (const [cause, sent, body = bodyOf(cause)] of REFUSALS) {
      const status = statusOf(cause);
      let reply = await sendOn(connection, sent);
      for (let asked = 0; asked < 50 && reply.status !== status; asked++) {
        told.push(`requests status ${reply.status}`, 'requests key live');
        reply = await sendOn(connection, sent);
      }
      t.match(reply, { status, reason: STATUS_CODES[status] }, cause);
      isOurs(t, reply);
      const text = JSON.stringify(body);
      if (sent.method === 'HEAD') t.equal(reply.headers.get('content-length'), String(text.length));
      else t.strictSame(JSON.parse(reply.body), body);
      for (const name of Object.keys(OPERATION.responses[status]?.headers ?? {}))
        t.ok(reply.headers.has(name.toLowerCase()), name);
      t.equal(reply.headers.get('allow'), status === 405 ? 'POST' : undefined);
      for (const name of ['server-timing', 'x-model-version']) t.equal(reply.headers.get(name), undefined);
      told.push(`refusals cause ${cause}`, `requests status ${status}`, `requests key ${kindOf(cause)}`);
      for (const [, type] of reply.body.matchAll(/"type":"(\w+)"/g)) told.push(`findings type ${type}`);
      if (cause !== 'rateBurst') continue;
      const waitS = Number(reply.headers.get('retry-after'));
      t.ok(waitS >= 1 && waitS <= 30);
      t.equal(reply.headers.get('ratelimit-policy'), '"burst";q=2;w=2');
      t.equal(reply.headers.get('ratelimit'), `"burst";r=0;t=${waitS}`);
    }
    const after = await metricsOf(server.adminPort);
    for (const one of new Set(told)) {
      const [metric, label = '', value = ''] = one.split(' ');
      const [now, was] = [after, before].map((series) =>
        valueOf(series, `acuity_${metric}_total`, { [label]: value }),
      );
      t.equal((now ?? NaN) - (was ?? NaN), told.filter((other) => other === one).length, one);
    }
    t.equal(connection.rest, '');
  },
);

/** What else may be in a body is the matter of test/read. */
const PREDICTIONS: readonly Sent[] = [
  { body: JSON.stringify(requestBody(5)) },
  { body: EMPTY_SESSION.padEnd(BODY_MAX) },
  { headers: { 'Content-Type': 'Application/JSON ;charset="utf-8"' } },
  { headers: { 'Content-Encoding': 'Identity' } },
  { target: '/predict?verbose=1&x=%00#y' },
];

t.test('what is scored', async (t) => {
  for (const sent of PREDICTIONS) {
    const reply = await sendOn(connection, keyed(sent));
    t.match(reply, { status: 200, reason: 'OK' });
    isOurs(t, reply);
    t.match(reply.headers.get('server-timing'), /^queue;dur=\d+(\.\d{1,2})?, infer;dur=\d+(\.\d{1,2})?$/);
    t.match(reply.headers.get('x-model-version'), /^[A-Za-z0-9._+-]{1,64}\/[A-Za-z0-9._+-]{1,64}$/);
  }
});

t.test('a head and a body cut at every byte after the request line', async (t) => {
  // Of a request line that arrives in pieces, the uWebSockets.js build for Node 20 says 505.
  const text = head({ headers: { ...KEYED, 'Content-Length': '22' } }) + EMPTY_SESSION;
  for (let cut = text.indexOf('\n') + 1; cut < text.length; cut++) {
    await connection.write(text.slice(0, cut));
    await new Promise((resolve) => setImmediate(resolve));
    await connection.write(text.slice(cut));
    t.equal((await connection.reply()).status, 200);
  }
});

/** Lists; what is refused, charged and given back is the matter of test/http/lists. */
const NDJSON = { 'Content-Type': 'application/x-ndjson' };
const list = (lines: readonly string[], of = key): Sent => ({
  headers: { 'X-API-Key': of, ...NDJSON },
  body: lines.map((line) => `${line}\n`).join(''),
});
const linesOf = ({ body }: Reply): string[] => body.split('\n').slice(0, -1);
const statusesOf = (reply: Reply): number[] =>
  linesOf(reply).map((line) => (JSON.parse(line) as { status?: number }).status ?? 200);
const good = (count: number): string[] =>
  Array.from({ length: count }, (_, seed) => JSON.stringify(requestBody(seed % 2, seed)));
const untimed = (body: string): string => body.replace(/"inference_time_ms":[0-9.]+/, '');

t.test('lines are answered as requests of their own are', async (t) => {
  const lines = [
    ...good(4),
    '{',
    '[]',
    '{"current_session":{"age":-1}}',
    '{"current_session":{}}   ',
    '{"history":"acu2.x"}',
    ...good(4).map((text) => text.replace('{', '{"explain":true,"history":"",')),
  ];
  const answers = linesOf(await sendOn(connection, list(lines)));
  t.equal(answers.length, lines.length);
  for (const [index, body] of lines.entries()) {
    const { status, body: alone } = await sendOn(connection, keyed({ body }));
    const expected = status === 200 ? alone : `{"status":${status},${alone.slice(1)}`;
    t.equal(untimed(answers[index] ?? ''), untimed(expected), body);
  }
});

t.test('a list beyond what is left of the day says how many lines fit, and uses none of it', async (t) => {
  const ask = (...lines: readonly string[]): Promise<Reply> => sendOn(connection, list(lines, listed.key));
  const bad = Array.from({ length: 10 }, () => ['{', '{}']).flat();
  const mostGood = ['{', ...good(5), ...bad, ...good(1)];
  t.match((await ask(...mostGood)).body, /at most 26 lines"/, 'five of them are scored');
  const mixed = statusesOf(await ask('{', ...good(1), ...bad, ...good(1)));
  t.equal(mixed.filter((status) => status === 200).length, 2, 'only lines that are scored count');
  t.match((await ask(...good(4))).body, /at most 3 lines"/, 'two were scored');
  t.strictSame(statusesOf(await ask(...good(3))), [200, 200, 200]);
  const spent = await ask(...good(1));
  t.equal(spent.status, 429);
  t.match(spent.headers.get('ratelimit'), /"daily";r=0;/);
});

t.test('SIGTERM during lists: each is answered to its last line', async (t) => {
  const { headers, body = '' } = list(Array.from({ length: 1000 }, () => EMPTY_SESSION));
  const length = { 'Content-Length': String(body.length) };
  const connections: Connection[] = [];
  for (let count = 0; count < 4; count++) {
    const connection = await Connection.open(at);
    connections.push(connection);
    await connection.write(head({ headers: { ...headers, ...length } }) + body);
  }
  await connections[0]?.receives('C_SCORE'); // its first lines: hundreds are under way
  server.signal('SIGTERM');
  for (const connection of connections) {
    const reply = await connection.reply();
    if (reply.status === 503) continue;
    t.strictSame(new Set(statusesOf(reply)), new Set([200]));
    t.equal(linesOf(reply).length, 1000);
  }
  t.strictSame(await server.exited, CLEAN);
});
