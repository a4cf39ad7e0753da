import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { loopsOf, predict } from '../fixtures/stops.js';
import { startServer } from '../fixtures/server.js';

const FILES_MAX = 256;
/** The dashboard samples once a second, the loops four times: each of them several times. */
const STARVED_MS = 3_500;

/** Asks the admin listener on a connection that is kept. */
function asker(port: number): (path: string) => Promise<{ status: number | undefined; body: string }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return (path) =>
    new Promise((resolve, reject) => {
      const asked = request({ port, host: '127.0.0.1', path, agent }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
        response.once('end', () => resolve({ status: response.statusCode, body }));
      });
      asked.once('error', reject).end();
    });
}

const skip =
  process.platform === 'win32' ? 'no limit on file descriptors here: run it on Linux or macOS' : false;

t.test('without a free file descriptor the service goes on', { skip }, async (t) => {
  // More connections allowed than there are descriptors, or the limit would keep some free.
  const env = { ...loopsOf(2), ACUITY_CONNECTIONS_MAX: '1000' };
  const server = await startServer(t, { filesMax: FILES_MAX, env });
  const ask = asker(server.adminPort);
  t.equal((await ask('/readyz')).status, 200);
  const ended = new AbortController();
  void server.exited.then(() => ended.abort());
  const sockets = Array.from({ length: FILES_MAX + 50 }, () => silent(server.port));
  const endsMs = Date.now() + STARVED_MS;
  while (Date.now() < endsMs && !ended.signal.aborted) {
    // More often than it lets a silent connection go.
    await ask('/healthz').catch(() => undefined);
    await sleep(200);
  }
  t.notOk(ended.signal.aborted, server.output());
  const { status, body } = await ask('/metrics');
  t.equal(status, 200);
  t.match(body, /^process_resident_memory_bytes \d+$/m, 'the last reading stands');
  for (const socket of sockets) socket.destroy();
  t.equal(await predict(server), 200);
});

/** A connection that says nothing. */
function silent(port: number): Socket {
  return connect(port, '127.0.0.1').on('error', () => undefined);
}
