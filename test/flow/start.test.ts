import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { copyModel, replaceFile } from '../fixtures/model.js';
import { runServer } from '../fixtures/server.js';
import { SLOW_THREADS } from '../fixtures/stops.js';
import { listening } from '../fixtures/until.js';

const port = await listening(t, createServer());

const SCORES = { C_SCORE: 99.99, attention: 0.01, memory: 99.99, reasoning: 0.01, stress: 99.99 };
const GOLDEN = {
  name: 'nothing known',
  request: { current_session: {} },
  scores: { ...SCORES, valence: 'Low', arousal: 'Low' },
};

/** What stops a start, by its name: an environment or a damaged model, and the line that tells it. */
const CASES: readonly {
  readonly name: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeOptions?: readonly string[];
  damage?(folder: string): void;
  readonly told: RegExp;
}[] = [
  {
    name: 'a model that does not give its own golden scores',
    damage: (folder) =>
      replaceFile(folder, 'golden.json', JSON.stringify({ tolerance: 0.01, cases: [GOLDEN] })),
    told: /golden case nothing known/,
  },
  {
    name: 'an invalid table of explanations, though none is requested',
    damage: (folder) => replaceFile(folder, 'explain.json', '{}'),
    told: /^acuity: .*explain\.json is not a table of explanations/m,
  },
  {
    name: 'a port that is taken, while leaving takes long',
    nodeOptions: SLOW_THREADS,
    env: { ACUITY_PORT: String(port) },
    told: new RegExp(
      `^acuity: cannot listen on 127\\.0\\.0\\.1:${port}: the port is taken; set ACUITY_PORT to another \\(0 takes a free one\\)$`,
      'm',
    ),
  },
  {
    name: 'an admin address of another machine',
    env: { ACUITY_ADMIN_HOST: '192.0.2.1' },
    told: /^acuity: cannot listen on 192\.0\.2\.1:0: that is no address of this machine; set ACUITY_ADMIN_HOST to/m,
  },
];

t.jobs = 2;
for (const { name, env, nodeOptions = [], damage, told } of CASES) {
  t.test(`${name}: no start, and one line that says why`, { buffered: true }, async (t) => {
    const folder = damage === undefined ? undefined : copyModel(t.testdir());
    if (folder !== undefined) damage?.(folder);
    const keys = { ACUITY_KEYS: `file:${join(t.testdirName, 'keys.json')}` };
    const model = folder && { ACUITY_MODEL: folder };
    const server = runServer(t, { nodeOptions, env: { ...keys, ...model, ...env } });
    t.equal((await server.exited).code, 1);
    t.match(server.output(), told);
    t.notMatch(server.output(), '"event":"listening"');
    if (env === undefined) return;
    t.notMatch(server.output(), /\bat .*\.js:\d+/, 'no stack');
    // The log and the sentence for the operator go to different streams: which is read first is chance.
    const lines = server.output().trimEnd().split('\n').toSorted();
    t.match(lines, [/^acuity: cannot listen on /, '"start failed"'], 'no look that was interrupted');
  });
}

t.test('a service without a valid key says so at the start, with the command', async (t) => {
  const env = { ACUITY_KEYS: `file:${join(t.testdir(), 'keys.json')}`, ACUITY_LOG_LEVEL: 'warn' };
  const server = runServer(t, { env });
  await server.says(/no key is valid[^\n]*keys issue --kind demo/);
  server.child.kill('SIGTERM');
  t.match(await server.exited, { code: 0 });
});
