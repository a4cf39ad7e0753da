import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { copyModel, manifestOf, replaceFile, MODEL } from '../fixtures/model.js';
import { runServer } from '../fixtures/server.js';
import { SLOW_THREADS } from '../fixtures/stops.js';

interface FailedStart {
  readonly code: number | null;
  readonly output: string;
}

/** Starts a server that can't serve and waits for its end. */
async function failedStart(
  t: Test,
  env: Readonly<Record<string, string>>,
  nodeOptions: readonly string[] = [],
): Promise<FailedStart> {
  const server = runServer({
    nodeOptions,
    env: { ACUITY_KEYS: `file:${join(t.testdirName, 'keys.json')}`, ...env },
  });
  t.teardown(() => void server.child.kill('SIGKILL'));
  const { code } = await server.exited;
  return { code, output: server.output() };
}

interface Refusal {
  readonly name: string;
  damage(folder: string): void;
  readonly told: RegExp;
}

const refusals: readonly Refusal[] = [
  {
    name: 'a graph that is none, its hash right',
    damage: (folder) => replaceFile(folder, manifestOf(folder).graphs.base.file, 'no graph'),
    told: /acuity: /,
  },
  {
    name: 'an invalid graph of explanations, though none is requested',
    damage: (folder) => replaceFile(folder, 'explain.onnx', 'no graph'),
    told: /explain\.onnx/,
  },
];

for (const { name, damage, told } of refusals) {
  t.test(`${name}: no start, and one line that says why`, async (t) => {
    const folder = copyModel(t.testdir());
    damage(folder);
    const { code, output } = await failedStart(t, { ACUITY_MODEL: folder });
    t.equal(code, 1);
    t.match(output, told);
    t.match(output, /^acuity: .+$/m);
    t.notMatch(output, /"event":"listening"/);
  });
}

t.test('a model that does not give its own golden scores does not serve', async (t) => {
  const folder = copyModel(t.testdir());
  const golden = {
    tolerance: 0.01,
    cases: [
      {
        name: 'nothing known',
        request: { current_session: {} },
        scores: {
          C_SCORE: 99.99,
          attention: 0.01,
          memory: 99.99,
          reasoning: 0.01,
          stress: 99.99,
          valence: 'Low',
          arousal: 'Low',
        },
      },
    ],
  };
  replaceFile(folder, 'golden.json', JSON.stringify(golden));
  const { code, output } = await failedStart(t, { ACUITY_MODEL: folder });
  t.equal(code, 1);
  t.match(output, /golden case nothing known/);
});

t.test('a port that is taken: no start, no second listener beside the first', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.teardown(() => taken.close());
  const address = taken.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  for (const variable of ['ACUITY_PORT', 'ACUITY_ADMIN_PORT']) {
    const { code, output } = await failedStart(t, { [variable]: String(address.port), ACUITY_MODEL: MODEL });
    t.equal(code, 1, variable);
    const line = `acuity: cannot listen on 127.0.0.1:${address.port}: the port is taken; set ${variable} to another (0 takes a free one)`;
    t.ok(output.split('\n').includes(line), output);
    t.notMatch(output, /\bat .*\.js:\d+/, 'no stack');
  }
});

t.test('a taken port while leaving takes long: interrupted looks are not reported', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.teardown(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const env = { ACUITY_PORT: String(port), ACUITY_MODEL: MODEL };
  const { code, output } = await failedStart(t, env, SLOW_THREADS);
  t.equal(code, 1);
  // The log and the sentence for the operator go to different streams: which is read first is chance.
  const lines = output.trimEnd().split('\n').toSorted();
  t.match(lines[0], /^acuity: cannot listen on /);
  t.match(lines[1], '"start failed"');
  t.equal(lines.length, 2, 'and nothing of looks');
});

t.test('an address of another machine is reported with its variable', async (t) => {
  for (const variable of ['ACUITY_HOST', 'ACUITY_ADMIN_HOST']) {
    const { code, output } = await failedStart(t, { [variable]: '192.0.2.1', ACUITY_MODEL: MODEL });
    t.equal(code, 1);
    t.match(
      output,
      new RegExp(
        `^acuity: cannot listen on 192\\.0\\.2\\.1:0: that is no address of this machine; set ${variable} to`,
        'm',
      ),
    );
    t.notMatch(output, /\bat .*\.js:\d+/, 'no stack');
  }
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
