import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { copyModel, manifestOf, replaceFile } from '../fixtures/model.js';
import { runServer } from '../fixtures/server.js';
import { SLOW_THREADS } from '../fixtures/stops.js';

const SCORES = { C_SCORE: 99.99, attention: 0.01, memory: 99.99, reasoning: 0.01, stress: 99.99 };
const GOLDEN = {
  tolerance: 0.01,
  cases: [
    {
      name: 'nothing known',
      request: { current_session: {} },
      scores: { ...SCORES, valence: 'Low', arousal: 'Low' },
    },
  ],
};

const taken = createServer().listen(0, '127.0.0.1');
await once(taken, 'listening');
t.teardown(() => taken.close());
const { port } = taken.address() as AddressInfo;
const PORT_TAKEN = new RegExp(
  `^acuity: cannot listen on 127\\.0\\.0\\.1:${port}: the port is taken; set (ACUITY_PORT|ACUITY_ADMIN_PORT) to another \\(0 takes a free one\\)$`,
  'm',
);
const FOREIGN =
  /^acuity: cannot listen on 192\.0\.2\.1:0: that is no address of this machine; set (ACUITY_HOST|ACUITY_ADMIN_HOST) to/m;

/** What stops a start, by its name: an environment or a damaged model, and the line that tells it. */
const CASES: readonly {
  readonly name: string;
  readonly env?: Readonly<Record<string, string>>;
  damage?(folder: string): void;
  readonly told: RegExp;
}[] = [
  {
    name: 'a graph that is none, its hash right',
    damage: (folder) => replaceFile(folder, manifestOf(folder).graphs.base.file, 'no graph'),
    told: /^acuity: .+$/m,
  },
  {
    name: 'an invalid graph of explanations, though none is requested',
    damage: (folder) => replaceFile(folder, 'explain.onnx', 'no graph'),
    told: /^acuity: .*explain\.onnx/m,
  },
  {
    name: 'a model that does not give its own golden scores',
    damage: (folder) => replaceFile(folder, 'golden.json', JSON.stringify(GOLDEN)),
    told: /golden case nothing known/,
  },
  { name: 'a port that is taken', env: { ACUITY_PORT: String(port) }, told: PORT_TAKEN },
  { name: 'an admin port that is taken', env: { ACUITY_ADMIN_PORT: String(port) }, told: PORT_TAKEN },
  { name: 'an address of another machine', env: { ACUITY_HOST: '192.0.2.1' }, told: FOREIGN },
  { name: 'an admin address of another machine', env: { ACUITY_ADMIN_HOST: '192.0.2.1' }, told: FOREIGN },
];

t.jobs = 2;
for (const { name, env, damage, told } of CASES) {
  t.test(`${name}: no start, and one line that says why`, { buffered: true }, async (t) => {
    const folder = damage === undefined ? undefined : copyModel(t.testdir());
    if (folder !== undefined) damage?.(folder);
    const keys = { ACUITY_KEYS: `file:${join(t.testdirName, 'keys.json')}` };
    const server = runServer({ env: { ...keys, ...(folder && { ACUITY_MODEL: folder }), ...env } });
    t.teardown(() => void server.child.kill('SIGKILL'));
    t.equal((await server.exited).code, 1);
    t.match(server.output(), told);
    for (const variable of Object.keys(env ?? {})) t.match(server.output(), `set ${variable} to`);
    t.notMatch(server.output(), '"event":"listening"');
    if (env !== undefined) t.notMatch(server.output(), /\bat .*\.js:\d+/, 'no stack');
  });
}

t.test('a failed start while leaving takes long: interrupted looks are not reported', async (t) => {
  const env = { ACUITY_KEYS: `file:${join(t.testdir(), 'keys.json')}`, ACUITY_PORT: String(port) };
  const server = runServer({ nodeOptions: SLOW_THREADS, env });
  t.teardown(() => void server.child.kill('SIGKILL'));
  t.equal((await server.exited).code, 1);
  // The log and the sentence for the operator go to different streams: which is read first is chance.
  t.match(server.output().trimEnd().split('\n').toSorted(), [/^acuity: cannot listen on /, '"start failed"']);
});

t.test('a service without a valid key says so at the start, with the command', async (t) => {
  const server = runServer({
    env: { ACUITY_KEYS: `file:${join(t.testdir(), 'keys.json')}`, ACUITY_LOG_LEVEL: 'warn' },
  });
  t.teardown(() => void server.child.kill('SIGKILL'));
  while (!server.output().includes('no key is valid'))
    await new Promise((resolve) => setTimeout(resolve, 20));
  t.match(server.output(), /no key is valid[^\n]*keys issue --kind demo/);
  server.child.kill('SIGTERM');
  t.match(await server.exited, { code: 0 });
});
