import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism, setPriority } from 'node:os';
import t, { type Test } from 'tap';
import { send } from '../fixtures/connection.js';
import { startServer, type RunningServer } from '../fixtures/server.js';

/** Another program that takes every core, and probes meanwhile: a busy machine is no blocked event loop. */

const skip =
  process.platform === 'linux' ? false : 'threads have priorities of their own on Linux alone: run it there';
const BUSY_FOR_A_CORE = 8;
/** The service has less than one part in fifty of a core then; the tests that run beside this one go before both. */
const NICENESS = { service: 19, other: 10 };
/** Longer than an event loop may be silent. */
const LASTS_MS = 7_000;

function takeCores(t: Test, { pid }: RunningServer): void {
  for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), NICENESS.service);
  for (let busy = 0; busy < BUSY_FOR_A_CORE * availableParallelism(); busy++) {
    const loop = ['-n', String(NICENESS.other), process.execPath, '-e', 'for (;;);'];
    const other = spawn('nice', loop, { stdio: 'ignore' });
    t.teardown(() => other.kill('SIGKILL'));
  }
}

t.test('probes are answered 200 while all cores are taken', { skip }, async (t) => {
  const server = await startServer(t, {
    env: { ACUITY_HTTP_THREADS: '2', ACUITY_WORKERS: '2', ACUITY_DEADLINE_MS: '60000' },
  });
  takeCores(t, server);
  const endsMs = performance.now() + LASTS_MS;
  const statuses = new Set<number>();
  while (performance.now() < endsMs) {
    for (const target of ['/healthz', '/readyz'])
      statuses.add((await send(server.adminPort, { method: 'GET', target })).status);
  }
  t.strictSame([...statuses], [200]);
  const headers = { 'X-API-Key': server.key };
  const { status } = await send(server.port, { headers, body: '{"current_session":{}}' });
  t.equal(status, 200, 'and so are requests');
});
