import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { modelLabel } from '#acuity/model/manifest.js';
import { changeManifest, copyModel, manifestOf, replaceFile, turnLink } from '../fixtures/model.js';
import { startServer, type RunningServer } from '../fixtures/server.js';
import { loopsOf } from '../fixtures/stops.js';

const LOOKS_MAX = 200;
const LOOK_MS = 100;

async function predict(server: RunningServer): Promise<{ status: number; version: string | null }> {
  const response = await fetch(`http://127.0.0.1:${server.port}/predict`, {
    method: 'POST',
    headers: { 'X-API-Key': server.key, 'Content-Type': 'application/json' },
    body: '{"current_session":{}}',
  });
  await response.arrayBuffer();
  return { status: response.status, version: response.headers.get('x-model-version') };
}

/** Asks without pause until `version` answers; every answer on the way must be a 200. */
async function until(t: Test, server: RunningServer, version: string): Promise<void> {
  for (let look = 0; look < LOOKS_MAX; look++) {
    const answers = await Promise.all(Array.from({ length: 8 }, () => predict(server)));
    if (answers.some(({ status }) => status !== 200)) t.fail('a request failed during the switch');
    if (answers.every((answer) => answer.version === version)) return;
    await pause(LOOK_MS);
  }
  t.fail(`${version} never answered`);
}

t.test('the model changes under requests, a bad one is refused', async (t) => {
  const folder = t.testdir({ first: {}, second: {}, bad: {} });
  const [first, second, bad] = ['first', 'second', 'bad'].map((name) => copyModel(join(folder, name)));
  if (first === undefined || second === undefined || bad === undefined) throw new Error('three folders');
  changeManifest(second, (manifest) => ({ ...manifest, version: 'second' }));
  changeManifest(bad, (manifest) => ({ ...manifest, version: 'bad' }));
  replaceFile(bad, manifestOf(bad).graphs.base.file, 'no graph');
  const link = join(folder, 'served');
  symlinkSync(first, link);
  const server = await startServer(t, {
    env: { ACUITY_MODEL: link, ...loopsOf(2) },
  });
  const version = modelLabel(manifestOf(first));
  const other = modelLabel(manifestOf(second));
  t.equal((await predict(server)).version, version);

  turnLink(link, second);
  await until(t, server, other); // without a signal, as soon as it serves: the link is looked at

  turnLink(link, bad);
  for (let look = 0; look < LOOKS_MAX && !server.output().includes('model refused'); look++)
    await pause(LOOK_MS);
  t.match(server.output(), 'model refused');
  t.same(await predict(server), { status: 200, version: other });

  turnLink(link, first);
  server.signal('SIGHUP');
  await until(t, server, version);
  server.signal('SIGTERM');
  t.equal((await server.exited).code, 0);
});
