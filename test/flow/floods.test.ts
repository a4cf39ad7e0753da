import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { availableParallelism, setPriority } from 'node:os';
import t from 'tap';
import { descriptorsMax } from '#acuity/config/descriptors.js';
import { metricsOf } from '../fixtures/atRest.js';
import { requestBody } from '../fixtures/bodies.js';
import { Connection, head, send, sendOn } from '../fixtures/connection.js';
import { valueOf } from '../fixtures/promtool.js';
import { until } from '../fixtures/until.js';
import { startServer, type RunningServer } from '../fixtures/server.js';
import { loopsOf, skipElsewhere } from '../fixtures/stops.js';

/** A server among callers who take more than their share, and programs that take every core. */

const BODY = JSON.stringify(requestBody(0));
const MEBIBYTE = 1024 * 1024;
const SILENT = 1_200;
const env = loopsOf(2);

/** Gauges are up to a quarter of a second old. */
async function becomes(
  { adminPort }: RunningServer,
  name: string,
  isRight: (value: number) => boolean,
): Promise<number> {
  const endsMs = Date.now() + 20_000;
  for (;;) {
    const value = valueOf(await metricsOf(adminPort), name);
    if (isRight(value)) return value;
    if (Date.now() > endsMs) throw new Error(`${name} stays at ${value}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function score(server: RunningServer): Promise<number> {
  return (await send(server.port, { headers: { 'X-API-Key': server.key }, body: BODY })).status;
}

/** Opens connections that say nothing; those that the server closes at once are among them. */
async function openSilent(port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () =>
    connect(port, '127.0.0.1').on('error', () => undefined),
  );
  for (const socket of sockets)
    if (socket.connecting) await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  return sockets;
}

const skip = descriptorsMax() < 2 * SILENT && `needs ${2 * SILENT} file descriptors (ulimit -n)`;

for (const [name, filesMax, more] of [
  ['within its limit of connections', 1024, {}],
  // More connections allowed than there are descriptors, or the limit would keep some free.
  ['without a free descriptor', 256, { ACUITY_CONNECTIONS_MAX: '2000' }],
] as const) {
  t.test(`${SILENT} silent connections, ${name}: the service goes on`, { skip }, async (t) => {
    const server = await startServer(t, { env: { ...env, ...more }, filesMax });
    const admin = await Connection.open(server.adminPort);
    t.teardown(() => admin.destroy());
    const ask = (target: string) => sendOn(admin, { method: 'GET', target });
    t.equal((await ask('/readyz')).status, 200);
    const sockets = await openSilent(server.port, SILENT);
    t.teardown(() => sockets.forEach((socket) => socket.destroy()));
    // The dashboard samples once a second, the loops four times: one that throws would end the process.
    for (let look = 0; look < 15; look++) {
      t.equal((await ask('/healthz')).status, 200);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    t.match((await ask('/metrics')).body, /^process_resident_memory_bytes \d+$/m, 'the last reading stands');
    if (filesMax === 1024) {
      const refused = /^acuity_connections_refused_total (\d+)$/m.exec((await ask('/metrics')).body)?.[1];
      t.ok(Number(refused) >= SILENT - 768, `${refused} refused`);
    }
    for (const socket of sockets) socket.destroy();
    await becomes(server, 'acuity_connections', (count) => count === 0);
    t.equal(await score(server), 200);
    server.signal('SIGTERM');
    t.strictSame(await server.exited, { code: 0, signal: null });
  });
}

t.test(`one key’s unfinished bodies leave room for everybody else’s`, async (t) => {
  const server = await startServer(t, { env, keys: [{ kind: 'live' }] });
  const greedy = server.keys[1]?.key ?? '';
  const connections = await Promise.all(Array.from({ length: 16 }, () => Connection.open(server.port)));
  t.teardown(() => connections.forEach((connection) => connection.destroy()));
  const headers = { 'X-API-Key': greedy, 'Content-Length': String(4 * MEBIBYTE) };
  const almost = ' '.repeat(4 * MEBIBYTE - 1);
  await Promise.all(connections.map((connection) => connection.write(head({ headers }) + almost)));
  const held = await becomes(server, 'acuity_bodies_held_bytes', (bytes) => bytes > 12 * MEBIBYTE);
  t.ok(held <= 16 * MEBIBYTE, 'a quarter of all');
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

const BUSY_FOR_A_CORE = 8;
/** The service has less than one part in fifty of a core then; the tests that run beside this one go before both. */
const NICENESS = { service: 19, other: 10 };
/** Longer than an event loop may be silent. */
const LASTS_MS = 7_000;

t.test('probes are answered 200 while all cores are taken', { skip: skipElsewhere }, async (t) => {
  const server = await startServer(t, { env: { ...env, ACUITY_DEADLINE_MS: '60000' } });
  for (const thread of readdirSync(`/proc/${server.pid}/task`)) setPriority(Number(thread), NICENESS.service);
  for (let busy = 0; busy < BUSY_FOR_A_CORE * availableParallelism(); busy++) {
    const loop = ['-n', String(NICENESS.other), process.execPath, '-e', 'for (;;);'];
    const other = spawn('nice', loop, { stdio: 'ignore' });
    t.teardown(() => other.kill('SIGKILL'));
  }
  const endsMs = performance.now() + LASTS_MS;
  const statuses = new Set<number>();
  while (performance.now() < endsMs) {
    for (const target of ['/healthz', '/readyz'])
      statuses.add((await send(server.adminPort, { method: 'GET', target })).status);
  }
  t.strictSame([...statuses], [200]);
  t.equal(await score(server), 200, 'and so are requests');
});
