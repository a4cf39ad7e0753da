import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { problemAnswer } from '#acuity/contract/problems.js';
import { modelLabel } from '#acuity/model/manifest.js';
import { BAD_AGES } from '../fixtures/ages.js';
import { Connection, sendOn, type Reply } from '../fixtures/connection.js';
import { PIPE_VARIABLE } from '../fixtures/troubles.js';
import { changeManifest, copyModel, manifestOf, replaceFile, turnLink } from '../fixtures/model.js';
import { CLEAN, startServer, type RunningServer } from '../fixtures/server.js';
import { FAULTY, loopsOf, makePipe } from '../fixtures/stops.js';
import { until } from '../fixtures/until.js';

const ask = (server: RunningServer, age: number): Promise<Reply> =>
  server.predict(JSON.stringify({ current_session: { age } }));
const readiness = async (server: RunningServer): Promise<number> => (await server.get('/readyz')).status;

t.test('runs that fail, and models that change', async (t) => {
  const folder = t.testdir({ first: {}, second: {}, bad: {} });
  const [first = '', second = '', bad = ''] = ['first', 'second', 'bad'].map((name) =>
    copyModel(join(folder, name)),
  );
  changeManifest(second, (manifest) => ({ ...manifest, version: 'second' }));
  changeManifest(bad, (manifest) => ({ ...manifest, version: 'bad' }));
  replaceFile(bad, manifestOf(bad).graphs.base.file, 'no graph');
  const link = join(folder, 'served');
  symlinkSync(first, link);
  const server = await startServer(t, {
    nodeOptions: FAULTY,
    env: { ACUITY_MODEL: link, ...loopsOf(2) },
  });

  await t.test('a run that fails: 500, its neighbours get their scores, the service goes on', async (t) => {
    const scoreOf = (reply: Reply | undefined): unknown =>
      (JSON.parse(reply?.body ?? '{}') as { C_SCORE?: number }).C_SCORE;
    const alone = scoreOf(await ask(server, 40));
    for (const [way, said] of [
      ['throws', /batch failed/],
      ['lies', /scores/],
      ['exits', /worker lost|batch failed/],
    ] as const) {
      const replies = await Promise.all([40, 41, BAD_AGES[way], 42, 40].map((age) => ask(server, age)));
      const statuses = replies.map(({ status }) => status);
      t.strictSame(statuses, [200, 200, 500, 200, 200], way);
      t.equal(replies[2]?.body, problemAnswer('internal').body);
      for (const reply of [replies[0], replies[4]]) t.equal(scoreOf(reply), alone);
      await until(() => said.test(server.output())); // the log may come later than the answer
      t.equal(await readiness(server), 200);
    }
  });

  await t.test('the model changes under requests, a bad one is refused', async (t) => {
    const connections = await Promise.all(Array.from({ length: 8 }, () => Connection.open(server.port, t)));
    /** Asks without pause until `version` answers on each connection; every answer on the way must be a 200. */
    const untilServed = async (version: string): Promise<void> => {
      const sent = { headers: { 'X-API-Key': server.key }, body: '{"current_session":{}}' };
      await until(async () => {
        const replies = await Promise.all(connections.map((connection) => sendOn(connection, sent)));
        if (replies.some(({ status }) => status !== 200)) t.fail('a request failed during the switch');
        return replies.every(({ headers }) => headers.get('x-model-version') === version);
      });
    };
    const [version, other] = [modelLabel(manifestOf(first)), modelLabel(manifestOf(second))];
    await untilServed(version);
    turnLink(link, second);
    await untilServed(other); // without a signal, as soon as it serves: the link is looked at
    turnLink(link, bad);
    server.signal('SIGHUP');
    await until(() => server.output().includes('model refused'));
    await untilServed(other);
    turnLink(link, first);
    server.signal('SIGHUP');
    await untilServed(version);
    t.strictSame(await server.stop(), CLEAN);
  });
});

t.test('a worker that hangs in native code: 503, not ready, exit code 70', async (t) => {
  const server = await startServer(t, {
    nodeOptions: FAULTY,
    env: {
      [PIPE_VARIABLE]: makePipe(t),
      ACUITY_HANG_MS: '1000',
      ACUITY_RETRY_AFTER_S: '9',
      // A second loop, whose worker is well, would go on answering to the end.
      ...loopsOf(1),
    },
  });
  t.equal((await ask(server, 40)).status, 200);
  const replies = await Promise.all([ask(server, BAD_AGES.hangs), ask(server, 41)]);
  const [ready, late] = await Promise.allSettled([readiness(server), ask(server, 42)]);
  for (const reply of replies) {
    t.match(reply, { status: 503, body: problemAnswer('overloaded').body });
    t.ok(Number(reply.headers.get('retry-after')) >= 9);
  }
  // The process may have left before these were answered.
  if (ready.status === 'fulfilled') t.equal(ready.value, 503);
  if (late.status === 'fulfilled') t.equal(late.value.status, 503);
  t.strictSame(await server.exited, { code: 70, signal: null });
  t.match(server.output(), /"level":"fatal".*a worker hangs/);
});
