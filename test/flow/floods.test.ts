import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { availableParallelism, setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { descriptorsMax } from '#acuity/config/cores.js';
import { requestBody } from '../fixtures/bodies.js';
import { Connection, head, sendOn } from '../fixtures/connection.js';
import { running } from '../fixtures/scripts.js';
import { until } from '../fixtures/until.js';
import { CLEAN, startServer } from '../fixtures/server.js';
import { loopsOf, skipElsewhere } from '../fixtures/stops.js';

/** A server among callers who take more than their share, and programs that take every core. */

const BODY = JSON.stringify(requestBody(0));
const SILENT = 1_200;
const MEBIBYTE = 1 << 20;
const env = loopsOf(2);

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
    const admin = await Connection.open(server.adminPort, t);
    const ask = (target: string) => sendOn(admin, { method: 'GET', target });
    t.equal((await ask('/readyz')).status, 200);
    // A full backlog makes some wait for seconds, in which the one that asks must not fall idle.
    const opening = openSilent(server.port, SILENT);
    for (let isOpen = false; !isOpen;) {
      t.equal((await ask('/healthz')).status, 200);
      isOpen = await Promise.race([opening.then(() => true), pause(200, false)]);
    }
    const sockets = await opening;
    t.teardown(() => sockets.forEach((socket) => socket.destroy()));
    // The dashboard samples once a second, the loops four times: one that throws would end the process.
    for (let look = 0; look < 15; look++) {
      t.equal((await ask('/healthz')).status, 200);
      await pause(200);
    }
    t.match((await ask('/metrics')).body, /^process_resident_memory_bytes \d+$/m, 'the last reading stands');
    if (filesMax === 1024) {
      const refused = await server.metric('acuity_connections_refused_total');
      t.ok(refused >= SILENT - 768, `${refused} refused`);
    }
    for (const socket of sockets) socket.destroy();
    await until(async () => (await server.metric('acuity_connections')) === 0);
    t.equal((await server.predict()).status, 200);
    t.strictSame(await server.stop(), CLEAN);
  });
}

t.test('one key’s unfinished bodies leave room for those of others', async (t) => {
  const server = await startServer(t, { env, keys: [{ kind: 'live' }] });
  const connections = await Promise.all(Array.from({ length: 16 }, () => Connection.open(server.port, t)));
  const other = await Connection.open(server.port, t);
  const headers = { 'X-API-Key': server.keys[1]?.key ?? '', 'Content-Length': String(4 * MEBIBYTE) };
  const almost = ' '.repeat(4 * MEBIBYTE - 1);
  await Promise.all(connections.map((connection) => connection.write(head({ headers }) + almost)));
  const held = (): Promise<number> => server.metric('acuity_bodies_held_bytes');
  await until(async () => (await held()) > 12 * MEBIBYTE);
  for (let request = 0; request < 5; request++) {
    const half = BODY.length >> 1;
    const own = { 'X-API-Key': server.key, 'Content-Length': String(BODY.length) };
    await other.write(head({ headers: own }) + BODY.slice(0, half));
    await pause(5); // in two pieces, so that it takes memory too
    await other.write(BODY.slice(half));
    t.equal((await other.reply()).status, 200);
  }
  await until(() => connections.filter(({ rest }) => rest.startsWith('HTTP/1.1 503 ')).length === 12);
  // A quarter of all. The loops are asked one after the other, so their sum may be more while bodies come and go.
  await until(async () => (await held()) <= 16 * MEBIBYTE);
  for (const connection of connections) connection.destroy();
  await until(async () => (await held()) === 0);
});

t.test('the unfinished bodies of many keys leave room for those of another', async (t) => {
  const keys = Array.from({ length: 4 }, () => ({ kind: 'live' as const }));
  const server = await startServer(t, { env, keys });
  const upload = async (key: string): Promise<void> => {
    const connection = await Connection.open(server.port, t);
    const headers = { 'X-API-Key': key, 'Content-Length': String(4 * MEBIBYTE) };
    await connection.write(`${head({ headers })} `);
    // Each piece is one byte too long for the buffer, which doubles: at the last one it holds the whole.
    for (let sent = 1, buffer = 65_536; sent < 2 * MEBIBYTE; buffer *= 2) {
      await pause(30);
      await connection.write(' '.repeat(buffer + 1 - sent));
      sent = buffer + 1;
    }
  };
  const uploads = server.keys.slice(1).flatMap(({ key }) => Array.from({ length: 4 }, () => upload(key)));
  await Promise.all(uploads);
  const held = (): Promise<number> => server.metric('acuity_bodies_held_bytes');
  await until(async () => {
    const before = await held();
    await pause(600); // the figures of the loops are up to a quarter of a second old
    return before > 20 * MEBIBYTE && (await held()) === before;
  });
  const own = { 'X-API-Key': server.key, 'Content-Length': String(BODY.length) };
  const other = await Connection.open(server.port, t);
  for (let request = 0; request < 20; request++) {
    await other.write(head({ headers: own }) + BODY);
    t.equal((await other.reply()).status, 200, 'in one packet');
    await other.write(head({ headers: own }) + BODY.slice(0, 100));
    await pause(5);
    await other.write(BODY.slice(100));
    t.equal((await other.reply()).status, 200, 'in two');
  }
  t.ok((await held()) < 64 * MEBIBYTE);
});

const BUSY_FOR_A_CORE = 8;
/** The service has less than one part in fifty of a core then; the tests that run beside this one go before both. */
const NICENESS = { service: 19, other: 10 };
/** Longer than an event loop may be silent. */
const LASTS_MS = 7_000;

t.test('probes are answered 200 while all cores are taken', { skip: skipElsewhere }, async (t) => {
  const server = await startServer(t, { env: { ...env, ACUITY_DEADLINE_MS: '60000' } });
  for (const thread of readdirSync(`/proc/${server.pid}/task`)) setPriority(Number(thread), NICENESS.service);
  for (let busy = 0; busy < BUSY_FOR_A_CORE * availableParallelism(); busy++)
    running(t, ['nice', '-n', String(NICENESS.other), process.execPath, '-e', 'for (;;);']);
  const endsMs = performance.now() + LASTS_MS;
  const statuses = new Set<number>();
  while (performance.now() < endsMs) {
    for (const target of ['/healthz', '/readyz']) statuses.add((await server.get(target)).status);
  }
  t.strictSame([...statuses], [200]);
  t.equal((await server.predict()).status, 200, 'and so are requests');
});
