import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { BAD_AGES } from '../fixtures/ages.js';
import { send, type Reply } from '../fixtures/connection.js';
import { PIPE_VARIABLE } from '../fixtures/faultyWorkers.js';
import { startServer, type RunningServer } from '../fixtures/server.js';

const FAULTY = ['--import', new URL('../fixtures/faultyWorkers.js', import.meta.url).href];

function ask({ port, key }: RunningServer, age: number): Promise<Reply> {
  const body = JSON.stringify({ current_session: { age } });
  return send(port, { headers: { 'X-API-Key': key }, body });
}

async function readiness({ adminPort }: RunningServer): Promise<number> {
  return (await send(adminPort, { method: 'GET', target: '/readyz' })).status;
}

const WAYS = [
  { way: 'throws', said: /batch failed/ },
  { way: 'exits', said: /batch failed/ },
  { way: 'lies', said: /scores/ },
] as const;
for (const { way, said } of WAYS) {
  t.test(
    `a request whose run ${way} gets 500, its neighbours get their scores, the service goes on`,
    async (t) => {
      const server = await startServer(t, { nodeOptions: FAULTY });
      const alone = JSON.parse((await ask(server, 40)).body) as { C_SCORE: number };
      const ages = [40, 41, BAD_AGES[way], 42, 40];
      const replies = await Promise.all(ages.map((age) => ask(server, age)));
      t.strictSame(
        replies.map(({ status }) => status),
        [200, 200, 500, 200, 200],
      );
      t.equal(replies[2]?.body, '{"detail":"Internal Server Error"}');
      for (const reply of [replies[0], replies[4]]) {
        t.equal((JSON.parse(reply?.body ?? '{}') as typeof alone).C_SCORE, alone.C_SCORE);
      }
      t.equal(await readiness(server), 200);
      t.match(server.output(), said);
      server.signal('SIGTERM');
      t.strictSame(await server.exited, { code: 0, signal: null });
    },
  );
}

/** Of POSIX, and so on every system that the service runs on. */
const MAKE_PIPE = 'mkfifo';

/** A pipe without a writer. */
function pipe(t: Test): string {
  const path = join(t.testdir(), 'pipe');
  execFileSync(MAKE_PIPE, [path]);
  return path;
}

t.test('a worker that hangs in native code: 503, not ready, exit code 70', async (t) => {
  const server = await startServer(t, {
    nodeOptions: FAULTY,
    env: {
      [PIPE_VARIABLE]: pipe(t),
      ACUITY_HANG_MS: '1000',
      ACUITY_RETRY_AFTER_S: '9',
      // A second loop, whose worker is well, would go on answering to the end.
      ACUITY_HTTP_THREADS: '1',
      ACUITY_WORKERS: '1',
    },
  });
  t.equal((await ask(server, 40)).status, 200);
  t.equal(await readiness(server), 200);
  const hung = ask(server, BAD_AGES.hangs);
  const queued = ask(server, 41);
  const replies = await Promise.all([hung, queued]);
  const [ready, late] = await Promise.allSettled([readiness(server), ask(server, 42)]);
  for (const reply of replies) {
    t.equal(reply.status, 503);
    t.equal(reply.body, '{"detail":"Service overloaded"}');
    t.ok(Number(reply.headers.get('retry-after')) >= 9);
  }
  // The process may have left before these were answered.
  if (ready.status === 'fulfilled') t.equal(ready.value, 503);
  if (late.status === 'fulfilled') t.equal(late.value.status, 503);
  t.strictSame(await server.exited, { code: 70, signal: null });
  t.match(server.output(), /"level":"fatal".*a worker hangs/);
});

t.test('a process goes on after a pause longer than a run may take', async (t) => {
  const server = await startServer(t, { nodeOptions: FAULTY, env: { ACUITY_HANG_MS: '2500' } });
  const lagging = ask(server, BAD_AGES.lags);
  // Two requests and their answers later, the worker has been sent the first one. On a full machine it may not have
  // begun: then all of its run is left when the process goes on.
  await send(server.port, { target: '/other' });
  await send(server.port, { target: '/other' });
  server.signal('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 3000));
  server.signal('SIGCONT');
  t.equal((await lagging).status, 200);
  t.equal((await ask(server, 40)).status, 200);
  t.equal(await readiness(server), 200);
});
