import t, { type Test } from 'tap';
import { createKey, digestOf } from '#acuity/auth/key.js';
import { Limits } from '#acuity/auth/limits/limits.js';
import { problemAnswer } from '#acuity/contract/problems.js';
import { TRY_BODY_BYTES_MAX, type TryAnswer } from '#acuity/admin/tryDesk.js';
import { tryDesk } from '#acuity/serve/tryDesk.js';
import { ask, listen } from '../fixtures/adminScene.js';
import { manualClock } from '../fixtures/manualClock.js';

const BODY = '{"current_session":{"age":34}}';
const SCORED = '{"C_SCORE":50}';
const KEY = createKey('demo');
const RECORD = {
  id: 'key_1',
  kind: 'demo',
  digest: digestOf(KEY).toString('base64url'),
  usableUntilMs: Infinity,
  keyIndex: 0,
  ratePerS: null,
  dailyMax: 2,
} as const;

interface Scene {
  readonly host?: string;
  readonly answer?: TryAnswer | Error;
}

/** An admin listener whose scores the test makes up. `leftOfDay` is that of `KEY`, the only key. */
async function scene(t: Test, { host = '127.0.0.1', answer = { status: 200, body: SCORED } }: Scene = {}) {
  const bodies: string[] = [];
  const clock = manualClock(20_000 * 86_400_000);
  const limits = new Limits(Limits.allocate(1));
  const score = tryDesk({
    keyring: { records: [RECORD] },
    limits,
    clock,
    score: async (body) => {
      bodies.push(Buffer.from(body).toString());
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  const { admin, get } = await listen(t, { host, score });
  const own = `127.0.0.1:${admin.port}`;
  const headers = { host: own, origin: `http://${own}`, 'content-type': 'application/json' };
  return {
    own,
    clock,
    bodies,
    leftOfDay: () => limits.leftOfDay(RECORD.keyIndex, RECORD.dailyMax, clock.nowMs()),
    get,
    post: (changed: Record<string, string | undefined> = {}, body = BODY) => {
      const given = Object.entries({ ...headers, ...changed }).filter(([, value]) => value !== undefined);
      return ask(admin.port, '/try/score', { method: 'POST', body, headers: Object.fromEntries(given) });
    },
    preflight: () => ask(admin.port, '/try/score', { method: 'OPTIONS', headers }),
  };
}

t.test('on a loopback address a night is scored without a key, and kept nowhere', async (t) => {
  const { post, get, bodies, leftOfDay } = await scene(t);
  const headers = { 'cache-control': 'no-store', 'content-type': 'application/json' };
  t.match(await post({ 'x-api-key': KEY }), { status: 200, headers, body: SCORED });
  t.strictSame(bodies, [BODY]);
  t.equal(leftOfDay(), 2);
  const told: unknown = JSON.parse((await get('/try/service')).body);
  t.strictSame(told, { address: { host: '0.0.0.0', port: 8080 }, needsKey: false });
});

t.test('on other addresses it needs a key, which is charged within its limits', async (t) => {
  const { post, get, bodies, leftOfDay } = await scene(t, { host: '0.0.0.0' });
  const refused = problemAnswer('keyInvalid').body;
  t.match(await post(), { status: 401, body: refused });
  t.match(await post({ 'x-api-key': 'bad' }), { status: 403, body: refused });
  t.strictSame(bodies, [], 'nothing was scored');
  for (const left of [1, 0]) {
    t.match(await post({ 'x-api-key': KEY }), { status: 200, body: SCORED });
    t.equal(leftOfDay(), left);
  }
  const headers = { 'retry-after': /^86400$/ };
  t.match(await post({ 'x-api-key': KEY }), { status: 429, headers });
  t.equal(bodies.length, 2);
  t.match(JSON.parse((await get('/try/service')).body), { needsKey: true });
});

t.test('a night that is not scored is not charged', async (t) => {
  const malformed = { status: 400, body: '{"detail":"Malformed JSON at byte 0"}' };
  for (const [answer, told] of [
    [malformed, malformed],
    [new Error('no event loop'), { status: 500 }],
  ] as const) {
    const { post, leftOfDay } = await scene(t, { host: '0.0.0.0', answer });
    t.match(await post({ 'x-api-key': KEY }), told);
    t.equal(leftOfDay(), 2);
  }
});

t.test('what no page of its own would send is refused, and not scored', async (t) => {
  const { post, preflight, own, bodies } = await scene(t);
  const port = own.split(':')[1] ?? '';
  const foreign =
    `null http://evil.example http://localhost:${port} http://127.0.0.1:1 http://127.0.0.1`.split(' ');
  const near = [`http://${own}.evil.example`, `ftp://${own}`, `file://${own}`];
  for (const origin of [undefined, '', ...foreign, ...near])
    t.match(await post({ origin }), { status: 403, body: 'Origin not allowed' }, String(origin));
  // As a form sends them.
  const typed = problemAnswer('contentType').body;
  for (const type of [undefined, 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
    t.match(await post({ 'content-type': type }), { status: 415, body: typed }, String(type));
  const long = problemAnswer('bodyTooLarge').body;
  t.match(await post({}, 'x'.repeat(TRY_BODY_BYTES_MAX + 1)), { status: 413, body: long });
  const { status, headers } = await preflight();
  t.equal(status, 405);
  t.equal(headers['access-control-allow-origin'], undefined, 'no other page is let in');
  t.strictSame(bodies, []);
  t.equal((await post({ origin: `https://${own}` })).status, 200, 'by a proxy that ends TLS');
  t.equal((await post({ 'content-type': 'application/json; charset=utf-8' })).status, 200);
  const longest = 'x'.repeat(TRY_BODY_BYTES_MAX);
  t.equal((await post({}, longest)).status, 200);
  t.equal(bodies.at(-1), longest);
});

t.test('four requests a second, of all callers together', async (t) => {
  const { post, clock, bodies } = await scene(t);
  for (let count = 0; count < 4; count++) t.equal((await post()).status, 200);
  const limited = { status: 429, headers: { 'retry-after': /^1$/ }, body: problemAnswer('rateLimited').body };
  t.match(await post(), limited);
  clock.advance(999);
  t.match(await post(), limited);
  clock.advance(1);
  t.equal((await post()).status, 200);
  t.equal(bodies.length, 5);
});
