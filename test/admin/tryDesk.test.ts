import t, { type Test } from 'tap';
import { ask, openAdmin } from '../fixtures/adminScene.js';
import { PROBLEMS, problemBody } from '#acuity/contract/problems.js';
import { TRY_BODY_BYTES_MAX, type TryAnswer } from '#acuity/admin/tryDesk.js';

const BODY = '{"current_session":{"age":34}}';
const SCORED = '{"C_SCORE":50}';

interface Scene {
  readonly host?: string;
  readonly isOn?: boolean;
  readonly answer?: TryAnswer;
  /** What the key's limits say: seconds to wait. */
  readonly waitS?: number;
}

/** An admin listener whose scores the test makes up. The only good key is `good`. */
async function scene(
  t: Test,
  { host = '127.0.0.1', isOn = true, answer = { status: 200, body: SCORED }, waitS }: Scene = {},
) {
  const bodies: string[] = [];
  const charges = { made: 0, refunded: 0 };
  const payer = {
    charge: () => {
      if (waitS === undefined) charges.made++;
      return waitS;
    },
    refund: () => void charges.refunded++,
  };
  const { admin, clock } = await openAdmin(t, {
    host,
    trial: {
      isOn,
      publicAddress: () => ({ host: '0.0.0.0', port: 8080 }),
      payerOf: (key) => (key === '' ? 'missing' : key === 'good' ? payer : 'invalid'),
      score: async (body) => {
        bodies.push(Buffer.from(body).toString());
        return answer;
      },
    },
  });
  const own = `127.0.0.1:${admin.port}`;
  const headers = { host: own, origin: `http://${own}`, 'content-type': 'application/json' };
  return {
    own,
    clock,
    bodies,
    charges,
    get: (path: string) => ask(admin.port, path),
    post: (changed: Record<string, string | undefined> = {}, body = BODY) => {
      const given = Object.entries({ ...headers, ...changed }).filter(([, value]) => value !== undefined);
      return ask(admin.port, '/try/score', { method: 'POST', body, headers: Object.fromEntries(given) });
    },
    preflight: () => ask(admin.port, '/try/score', { method: 'OPTIONS', headers }),
  };
}

t.test('on a loopback address a night is scored without a key, and kept nowhere', async (t) => {
  const { post, get, bodies, charges } = await scene(t);
  const headers = { 'cache-control': 'no-store', 'content-type': 'application/json' };
  t.match(await post(), { status: 200, headers, body: SCORED });
  t.strictSame(bodies, [BODY]);
  t.strictSame(charges, { made: 0, refunded: 0 });
  t.strictSame(JSON.parse((await get('/try/service')).body), {
    address: { host: '0.0.0.0', port: 8080 },
    needsKey: false,
  });
});

t.test('on other addresses it needs a key, which is charged', async (t) => {
  const { post, get, bodies, charges } = await scene(t, { host: '0.0.0.0' });
  const refused = '{"detail":"Invalid or missing API key"}';
  t.match(await post(), { status: 401, body: refused });
  t.match(await post({ 'x-api-key': 'bad' }), { status: 403, body: refused });
  t.strictSame(bodies, [], 'nothing was scored');
  t.match(await post({ 'x-api-key': 'good' }), { status: 200, body: SCORED });
  t.strictSame(charges, { made: 1, refunded: 0 });
  t.match(JSON.parse((await get('/try/service')).body), { needsKey: true });
});

t.test('a key is charged for scored nights, within its limits', async (t) => {
  const malformed = { status: 400, body: '{"detail":"Malformed JSON at byte 0"}' };
  const unscored = await scene(t, { host: '0.0.0.0', answer: malformed });
  t.equal((await unscored.post({ 'x-api-key': 'good' })).status, 400);
  t.strictSame(unscored.charges, { made: 1, refunded: 1 });
  const limited = await scene(t, { host: '0.0.0.0', waitS: 17 });
  const headers = { 'retry-after': /^17$/ };
  t.match(await limited.post({ 'x-api-key': 'good' }), { status: 429, headers });
  t.strictSame(limited.bodies, []);
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
  const typed = '{"detail":"Content-Type must be application/json"}';
  for (const type of [undefined, 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
    t.match(await post({ 'content-type': type }), { status: 415, body: typed }, String(type));
  const long = problemBody(PROBLEMS.bodyTooLarge);
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
  const limited = { status: 429, headers: { 'retry-after': /^1$/ }, body: problemBody(PROBLEMS.rateLimited) };
  t.match(await post(), limited);
  clock.advance(999);
  t.match(await post(), limited);
  clock.advance(1);
  t.equal((await post()).status, 200);
  t.equal(bodies.length, 5);
});
