import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { descriptorsMax } from '#acuity/config/cores.js';
import { requestBody } from '../fixtures/bodies.js';
import { Connection, head, send, sendOn } from '../fixtures/connection.js';
import { parseMetrics, valueOf } from '../fixtures/promtool.js';
import { until } from '../fixtures/until.js';
import { startServer, type RunningServer } from '../fixtures/server.js';

/** A server among callers who take more than their share. */

const BODY = JSON.stringify(requestBody(0));
const MEBIBYTE = 1024 * 1024;

async function metric(server: RunningServer, name: string): Promise<number> {
  const { body } = await send(server.adminPort, {
    method: 'GET',
    target: '/metrics',
    headers: { Connection: 'close' },
  });
  return valueOf(parseMetrics(body), name);
}

/** Gauges are up to a quarter of a second old. */
async function becomes(
  server: RunningServer,
  name: string,
  isRight: (value: number) => boolean,
): Promise<void> {
  const endsMs = Date.now() + 20_000;
  for (;;) {
    const value = await metric(server, name);
    if (isRight(value)) return;
    if (Date.now() > endsMs) throw new Error(`${name} stays at ${value}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function score(server: RunningServer, key = server.key, body = BODY): Promise<number> {
  return (await send(server.port, { headers: { 'X-API-Key': key }, body })).status;
}

/** Opens connections that say nothing; those that the server closes at once are among them. */
async function openSilent(t: Test, port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  t.teardown(() => sockets.forEach((socket) => socket.destroy()));
  for (let batch = 0; batch < count; batch += 100) {
    const opening = Array.from({ length: Math.min(100, count - batch) }, async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      sockets.push(socket);
      await once(socket, 'connect').catch(() => undefined);
    });
    await Promise.all(opening);
  }
  return sockets;
}

const SILENT = 1_200;

const env = { ACUITY_HTTP_THREADS: '2', ACUITY_WORKERS: '2' };
const skip = descriptorsMax() < 2 * SILENT && `needs ${2 * SILENT} file descriptors (ulimit -n)`;

t.test(`${SILENT} silent connections at a limit of 1,024 descriptors`, { skip }, async (t) => {
  const server = await startServer(t, { env, filesMax: 1024 });
  t.equal(await score(server), 200);
  const sockets = await openSilent(t, server.port, SILENT);
  await becomes(server, 'acuity_connections_refused_total', (count) => count >= SILENT - 768);
  t.ok((await metric(server, 'acuity_connections')) <= 768);
  for (const target of ['/healthz', '/readyz']) {
    t.equal((await send(server.adminPort, { method: 'GET', target })).status, 200, target);
  }
  // Longer than any timer that only observes: one that throws would have ended the process by now.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  for (const socket of sockets) socket.destroy();
  await becomes(server, 'acuity_connections', (count) => count === 0);
  for (let request = 0; request < 20; request++) t.equal(await score(server), 200);
  server.signal('SIGTERM');
  t.strictSame(await server.exited, { code: 0, signal: null });
});

t.test(`one key’s unfinished bodies leave room for everybody else’s`, async (t) => {
  const server = await startServer(t, { env, keys: [{ kind: 'live' }] });
  const greedy = server.keys[1]?.key ?? '';
  const connections = await Promise.all(Array.from({ length: 16 }, () => Connection.open(server.port)));
  t.teardown(() => connections.forEach((connection) => connection.destroy()));
  const headers = { 'X-API-Key': greedy, 'Content-Length': String(4 * MEBIBYTE) };
  const almost = ' '.repeat(4 * MEBIBYTE - 1);
  await Promise.all(connections.map((connection) => connection.write(head({ headers }) + almost)));
  await becomes(server, 'acuity_bodies_held_bytes', (bytes) => bytes > 12 * MEBIBYTE);
  t.ok((await metric(server, 'acuity_bodies_held_bytes')) <= 16 * MEBIBYTE, 'a quarter of all');
  const other = await Connection.open(server.port);
  for (let request = 0; request < 5; request++) {
    const half = BODY.length >> 1;
    const start = head({ headers: { 'X-API-Key': server.key, 'Content-Length': String(BODY.length) } });
    await other.write(start + BODY.slice(0, half));
    await new Promise((resolve) => setTimeout(resolve, 5));
    await other.write(BODY.slice(half));
    t.equal((await other.reply()).status, 200);
  }
  other.destroy();
  const refused = (): number => connections.filter(({ rest }) => rest.startsWith('HTTP/1.1 503 ')).length;
  await until(() => refused() === 12);
  for (const connection of connections) connection.destroy();
  await becomes(server, 'acuity_bodies_held_bytes', (bytes) => bytes === 0);
});

t.test(`callers who ask again at once don’t starve those who are served`, async (t) => {
  const server = await startServer(t, { env: { ...env, ACUITY_QUEUE_MAX: '8' } });
  const statuses: number[] = [];
  const callers = Array.from({ length: 200 }, async () => {
    const connection = await Connection.open(server.port);
    for (let request = 0; request < 20; request++) {
      statuses.push((await sendOn(connection, { headers: { 'X-API-Key': server.key }, body: BODY })).status);
    }
    connection.destroy();
  });
  await Promise.all(callers);
  const refused = statuses.filter((status) => status === 503).length;
  t.equal(statuses.length, 4000, 'everybody is answered each time');
  t.equal(refused + statuses.filter((status) => status === 200).length, 4000);
  await becomes(server, 'acuity_requests_in_flight', (count) => count === 0);
  t.equal(await score(server), 200);
  server.signal('SIGTERM');
  t.strictSame(await server.exited, { code: 0, signal: null });
  const lines = server
    .output()
    .split('\n')
    .filter((line) => line.includes('"cause":"queueFull"'))
    .map((line) => JSON.parse(line) as { readonly requests: number });
  const told = lines.reduce((sum, { requests }) => sum + requests, 0);
  t.equal(told, refused, 'the log tells of every refusal');
  t.ok(refused < 20 || lines.length < refused / 4, `in ${lines.length} lines for ${refused}`);
});

t.test('without a free file descriptor the service goes on', async (t) => {
  // More connections allowed than there are descriptors, or the limit would keep some free.
  const server = await startServer(t, { filesMax: 256, env: { ...env, ACUITY_CONNECTIONS_MAX: '1000' } });
  const admin = await Connection.open(server.adminPort);
  t.teardown(() => admin.destroy());
  const ask = (target: string) => sendOn(admin, { method: 'GET', target });
  t.equal((await ask('/readyz')).status, 200);
  const sockets = Array.from({ length: 300 }, () => connect(server.port, '127.0.0.1'));
  for (const socket of sockets) socket.on('error', () => undefined);
  // The dashboard samples once a second, the loops four times: each of them several times.
  for (let look = 0; look < 15; look++) {
    t.equal((await ask('/healthz')).status, 200);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  t.match((await ask('/metrics')).body, /^process_resident_memory_bytes \d+$/m, 'the last reading stands');
  for (const socket of sockets) socket.destroy();
  t.equal(await score(server), 200);
});
