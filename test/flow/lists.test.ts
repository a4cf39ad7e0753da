import t from 'tap';
import { seededRandom } from '#acuity/base/random.js';
import { bodiesOf } from '#acuity/load/payloads.js';
import { Connection, head, send, sendOn, type Reply } from '../fixtures/connection.js';
import { RequestText } from '../fixtures/requestText.js';
import { startServer } from '../fixtures/server.js';

/** Lists of a running service; what is refused, charged and given back is the matter of test/http/lists. */

const NDJSON = 'application/x-ndjson';
const server = await startServer(t, {
  env: { ACUITY_HTTP_THREADS: '2', ACUITY_WORKERS: '2' },
  keys: [{ kind: 'live', ratePerS: 500, dailyMax: 5 }],
});

function sendList(lines: readonly string[], key = server.key): Promise<Reply> {
  const body = lines.map((line) => `${line}\n`).join('');
  return send(server.port, { headers: { 'X-API-Key': key, 'Content-Type': NDJSON }, body });
}

function linesOf({ body }: Reply): string[] {
  return body.split('\n').slice(0, -1);
}

function statusesOf(reply: Reply): number[] {
  return linesOf(reply).map((line) => (JSON.parse(line) as { status?: number }).status ?? 200);
}

const BODIES = bodiesOf('baseline');
const requests = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => BODIES[index % BODIES.length] ?? '');

const untimed = (body: string): string =>
  body.replace(/"inference_time_ms":[0-9.]+/, '"inference_time_ms":0');

t.test('lines are answered as requests of their own are', async (t) => {
  const random = seededRandom(1);
  const texts = { plain: new RequestText(random, true), odd: new RequestText(random, false) };
  const lines: string[] = [];
  let explained = 0;
  while (lines.length < 300) {
    const body = texts[lines.length % 3 === 0 ? 'odd' : 'plain'].body().replace(/[\r\n]/g, ' ');
    // One key may have so many that are explained at a time.
    if (/expl/.test(body) && ++explained > 15) continue;
    lines.push(body);
  }
  const answers = linesOf(await sendList(lines));
  t.equal(answers.length, lines.length);
  const connection = await Connection.open(server.port);
  t.teardown(() => connection.destroy());
  const seen = new Set<number>();
  for (const [index, body] of lines.entries()) {
    const { status, body: alone } = await sendOn(connection, { headers: { 'X-API-Key': server.key }, body });
    seen.add(status);
    const expected = status === 200 ? alone : `{"status":${status},${alone.slice(1)}`;
    if (untimed(answers[index] ?? '') !== untimed(expected))
      t.equal(untimed(answers[index] ?? ''), untimed(expected), body);
  }
  t.ok([200, 400, 422].every((status) => seen.has(status)));
});

t.test('a list beyond what is left of the day says how many lines fit, and uses none of it', async (t) => {
  const key = server.keys[1]?.key ?? '';
  const bad = Array.from({ length: 10 }, () => ['{', '{}']).flat();
  const mostGood = ['{', ...requests(5), ...bad, ...requests(1)];
  t.match((await sendList(mostGood, key)).body, /at most 26 lines"/, 'five of them are scored');
  const mixed = statusesOf(await sendList(['{', ...requests(1), ...bad, ...requests(1)], key));
  t.equal(mixed.filter((status) => status === 200).length, 2, 'only lines that are scored count');
  t.match((await sendList(requests(4), key)).body, /at most 3 lines"/, 'two were scored');
  t.strictSame(statusesOf(await sendList(requests(3), key)), [200, 200, 200]);
  const spent = await sendList(requests(1), key);
  t.equal(spent.status, 429);
  t.match(spent.headers.get('ratelimit'), /"daily";r=0;/);
});

t.test('SIGTERM during lists: each is answered to its last line', async (t) => {
  const body = requests(500)
    .map((line) => `${line}\n`)
    .join('');
  const headers = { 'X-API-Key': server.key, 'Content-Type': NDJSON, 'Content-Length': String(body.length) };
  const connections: Connection[] = [];
  for (let count = 0; count < 4; count++) {
    const connection = await Connection.open(server.port);
    connections.push(connection);
    await connection.write(head({ headers }) + body);
  }
  await connections[0]?.receives('C_SCORE'); // its first lines: hundreds are under way
  server.signal('SIGTERM');
  for (const connection of connections) {
    const reply = await connection.reply();
    if (reply.status === 503) continue;
    t.strictSame(new Set(statusesOf(reply)), new Set([200]));
    t.equal(linesOf(reply).length, 500);
  }
  t.strictSame(await server.exited, { code: 0, signal: null });
});
