import { readFileSync } from 'node:fs';
import t from 'tap';
import { seededRandom } from '#acuity/base/random.js';
import { bodiesOf } from '#acuity/load/payloads.js';
import { Connection, head, send, sendOn, type Reply } from '../fixtures/connection.js';
import { RequestText } from '../fixtures/requestText.js';
import { startServer, type RunningServer } from '../fixtures/server.js';

const NDJSON = 'application/x-ndjson';

function sendList(server: RunningServer, body: string, key = server.key): Promise<Reply> {
  return send(server.port, { headers: { 'X-API-Key': key, 'Content-Type': NDJSON }, body });
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function linesOf({ body }: Reply): string[] {
  return body.split('\n').slice(0, -1);
}

function statusesOf(reply: Reply): number[] {
  return linesOf(reply).map((line) => (JSON.parse(line) as { status?: number }).status ?? 200);
}

function requests(count: number): string[] {
  const bodies = bodiesOf('baseline');
  return Array.from({ length: count }, (_, index) => bodies[index % bodies.length] ?? '');
}

const untimed = (body: string): string =>
  body.replace(/"inference_time_ms":[0-9.]+/, '"inference_time_ms":0');

/** A value of the metrics of the server, all of its cells added up. */
async function metric({ adminPort }: RunningServer, name: string): Promise<number> {
  const { body } = await send(adminPort, { method: 'GET', target: '/metrics' });
  return body
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

for (const loops of [1, 2]) {
  t.test(`lines are answered as requests of their own are: ${loops} event loops`, async (t) => {
    const server = await startServer(t, {
      env: { ACUITY_HTTP_THREADS: String(loops), ACUITY_WORKERS: String(loops) },
    });
    const random = seededRandom(loops);
    const texts = { plain: new RequestText(random, true), odd: new RequestText(random, false) };
    const lines: string[] = [];
    let explained = 0;
    while (lines.length < 500) {
      const body = texts[lines.length % 3 === 0 ? 'odd' : 'plain'].body().replace(/[\r\n]/g, ' ');
      // One key may have so many that are explained at a time.
      if (/expl/.test(body) && ++explained > 15) continue;
      lines.push(body);
    }
    const reply = await sendList(server, textOf(lines));
    t.equal(reply.status, 200);
    const answers = linesOf(reply);
    t.equal(answers.length, lines.length);
    const connection = await Connection.open(server.port);
    const seen = new Set<number>();
    let different = 0;
    for (const [index, body] of lines.entries()) {
      const alone = await sendOn(connection, { headers: { 'X-API-Key': server.key }, body });
      seen.add(alone.status);
      const expected = alone.status === 200 ? alone.body : `{"status":${alone.status},${alone.body.slice(1)}`;
      if (untimed(answers[index] ?? '') === untimed(expected)) continue;
      different++;
      if (different < 4) t.equal(untimed(answers[index] ?? ''), untimed(expected), body);
    }
    connection.destroy();
    t.equal(different, 0);
    t.ok([200, 400, 422].every((status) => seen.has(status)));
  });
}

t.test('a list that the bucket of its key can never hold says how many lines fit', async (t) => {
  const server = await startServer(t, { keys: [{ kind: 'live', ratePerS: 1, dailyMax: null }] });
  const key = server.keys[1]?.key ?? '';
  t.match(await sendList(server, textOf(requests(3)), key), { status: 422, body: /at most 2 lines/ });
  const explained = '{"current_session":{},"explain":true}';
  t.match((await sendList(server, textOf([explained, explained]), key)).body, /at most 1 line"/);
});

t.test('a list beyond what is left of the day says how many lines fit, and uses none of it', async (t) => {
  const server = await startServer(t, { keys: [{ kind: 'live', ratePerS: 500, dailyMax: 5 }] });
  const key = server.keys[1]?.key ?? '';
  const [good = ''] = requests(1);
  t.match(await sendList(server, textOf(requests(6)), key), {
    status: 422,
    body: /"List should have at most 5 lines","type":"too_long"/,
  });
  const bad = Array.from({ length: 10 }, () => ['{', '{}']).flat();
  const mostGood = ['{', ...requests(5), ...bad, good];
  t.match(
    (await sendList(server, textOf(mostGood), key)).body,
    /at most 26 lines"/,
    'five of them are scored',
  );
  t.strictSame(statusesOf(await sendList(server, textOf(bad), key)).slice(0, 2), [400, 422]);
  t.strictSame(
    statusesOf(await sendList(server, textOf(['{', good, ...bad, good]), key)).filter(
      (status) => status === 200,
    ),
    [200, 200],
    'only lines that are scored count',
  );
  t.match((await sendList(server, textOf(requests(4)), key)).body, /at most 3 lines"/, 'two were scored');
  t.strictSame(statusesOf(await sendList(server, textOf(requests(3)), key)), [200, 200, 200]);
  const spent = await sendList(server, textOf(requests(1)), key);
  t.equal(spent.status, 429);
  t.match(spent.headers.get('ratelimit'), /"daily";r=0;/);
});

t.test('callers that hang up: places, memory and the day’s quota come back', async (t) => {
  const server = await startServer(t, { keys: [{ kind: 'live', ratePerS: null, dailyMax: 11_000 }] });
  const key = server.keys[1]?.key ?? '';
  const body = textOf(requests(900));
  const headers = { 'X-API-Key': key, 'Content-Type': NDJSON, 'Content-Length': String(body.length) };
  for (let round = 0; round < 12; round++) {
    const connection = await Connection.open(server.port);
    await connection.write(head({ headers }) + body);
    await pause(round * 3);
    connection.destroy();
  }
  await untilZero(server, 'acuity_requests_in_flight');
  await untilZero(server, 'acuity_bodies_held_bytes');
  const scored = await metric(server, 'acuity_requests_total{status="200",key="live"}');
  t.ok(scored < 12 * 900, `${scored} lines were written before their callers hung up`);
  for (let left = 11_000 - scored; left > 0; left -= 1_000) {
    const { status } = await sendList(server, textOf(requests(Math.min(left, 1_000))), key);
    t.equal(status, 200, 'what was not written came back');
  }
  t.equal((await sendList(server, textOf(requests(1)), key)).status, 429, 'and no more than that');
});

t.test('answers that wait for callers who do not read are bounded', async (t) => {
  const server = await startServer(t, {
    env: { ACUITY_BODIES_MAX_BYTES: '4194304', ACUITY_BODY_MAX_BYTES: '1048576', ACUITY_DEADLINE_MS: '2000' },
  });
  // Short lines with long answers.
  const body = textOf(Array.from({ length: 1_000 }, () => '{"current_session":{},"history":""}'));
  const headers = { 'X-API-Key': server.key, 'Content-Type': NDJSON, 'Content-Length': String(body.length) };
  const before = rssOf(server);
  const connections: Connection[] = [];
  t.teardown(() => connections.forEach((connection) => connection.destroy()));
  for (let count = 0; count < 40; count++) {
    const connection = await Connection.open(server.port);
    connection.pause();
    connections.push(connection);
    await connection.write(head({ headers }) + body);
  }
  await pause(2_500);
  t.equal(await metric(server, 'acuity_requests_in_flight'), 0, 'no line waits longer than the deadline');
  t.ok(rssOf(server) - before < 128 * 1024 * 1024, `${rssOf(server) - before} bytes more`);
  for (const connection of connections) connection.resume();
  let answered = 0;
  for (const connection of connections) {
    const reply = await connection.reply();
    if (reply.status === 200) {
      answered++;
      t.equal(linesOf(reply).length, 1_000);
    } else t.equal(reply.status, 503);
  }
  t.ok(answered > 0);
  await untilZero(server, 'acuity_bodies_held_bytes');
});

function rssOf({ pid }: RunningServer): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return 1024 * Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
}

t.test('SIGTERM during lists: each is answered to its last line', async (t) => {
  const server = await startServer(t);
  const body = textOf(requests(500));
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

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits until a metric has come to 0, for at least ten seconds. */
async function untilZero(server: RunningServer, name: string): Promise<void> {
  for (let look = 0; look < 100; look++) {
    if ((await metric(server, name)) === 0) return;
    await pause(100);
  }
  throw new Error(`${name} never came to 0`);
}
