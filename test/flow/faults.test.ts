import t from 'tap';
import { BAD_AGES } from '../fixtures/ages.js';
import { send, type Reply } from '../fixtures/connection.js';
import { PIPE_VARIABLE } from '../fixtures/faultyWorkers.js';
import { startServer, type RunningServer } from '../fixtures/server.js';
import { FAULTY, makePipe } from '../fixtures/stops.js';
import { until } from '../fixtures/until.js';

function ask({ port, key }: RunningServer, age: number): Promise<Reply> {
  const body = JSON.stringify({ current_session: { age } });
  return send(port, { headers: { 'X-API-Key': key }, body });
}

async function readiness({ adminPort }: RunningServer): Promise<number> {
  return (await send(adminPort, { method: 'GET', target: '/readyz' })).status;
}

t.test('a run that fails: 500, its neighbours get their scores, the service goes on', async (t) => {
  const server = await startServer(t, { nodeOptions: FAULTY });
  const scoreOf = (reply: Reply | undefined): unknown =>
    (JSON.parse(reply?.body ?? '{}') as { C_SCORE?: number }).C_SCORE;
  const alone = scoreOf(await ask(server, 40));
  for (const [way, said] of [
    ['throws', /batch failed/],
    ['lies', /scores/],
    ['exits', /worker lost|batch failed/],
  ] as const) {
    const replies = await Promise.all([40, 41, BAD_AGES[way], 42, 40].map((age) => ask(server, age)));
    t.strictSame(
      replies.map(({ status }) => status),
      [200, 200, 500, 200, 200],
      way,
    );
    t.equal(replies[2]?.body, '{"detail":"Internal Server Error"}');
    for (const reply of [replies[0], replies[4]]) t.equal(scoreOf(reply), alone);
    await until(() => said.test(server.output())); // the log may come later than the answer
    t.equal(await readiness(server), 200);
  }
});

t.test('a worker that hangs in native code: 503, not ready, exit code 70', async (t) => {
  const server = await startServer(t, {
    nodeOptions: FAULTY,
    env: {
      [PIPE_VARIABLE]: makePipe(t),
      ACUITY_HANG_MS: '1000',
      ACUITY_RETRY_AFTER_S: '9',
      // A second loop, whose worker is well, would go on answering to the end.
      ACUITY_HTTP_THREADS: '1',
      ACUITY_WORKERS: '1',
    },
  });
  t.equal((await ask(server, 40)).status, 200);
  const replies = await Promise.all([ask(server, BAD_AGES.hangs), ask(server, 41)]);
  const [ready, late] = await Promise.allSettled([readiness(server), ask(server, 42)]);
  for (const reply of replies) {
    t.match(reply, { status: 503, body: '{"detail":"Service overloaded"}' });
    t.ok(Number(reply.headers.get('retry-after')) >= 9);
  }
  // The process may have left before these were answered.
  if (ready.status === 'fulfilled') t.equal(ready.value, 503);
  if (late.status === 'fulfilled') t.equal(late.value.status, 503);
  t.strictSame(await server.exited, { code: 70, signal: null });
  t.match(server.output(), /"level":"fatal".*a worker hangs/);
});
