import t, { type Test } from 'tap';
import { cleanEnvironment } from '../fixtures/repository.js';
import { ended, writeRepository } from '../fixtures/scripts.js';

/** Stands for the service: it "listens" at once, or fails, as MODE says. */
const FILES = {
  'dist/main.js': `
    export async function run(argv, hooks) {
      process.stdout.write(JSON.stringify(argv) + '\\n');
      if (process.env.MODE === 'fail') throw new Error('address in use');
      if (process.env.MODE === 'exit') process.exit(78);
      hooks.onListening({ host: process.env.HOST_SHOWN, port: 4321, adminHost: '127.0.0.1', adminPort: 9464, hasTry: process.env.TRY !== 'off' });
    }`,
  'dist/config/options.js': `
    export const environment = () => process.env;
    export const readConfig = (env) =>
      env.MODE === 'mistaken' ? { ok: false, mistakes: [] } : { ok: true, config: { keys: env.KEYS ?? 'file:data/keys.json' } };`,
  'dist/commands/keys.js': `
    export const issueFirstDemoKey = async (location) =>
      process.env.STORE === 'exists' ? undefined : { id: 'k1', key: 'sk_demo_FIRST:' + location };`,
};

const KEY = 'sk_demo_FIRST:file:data/keys.json';

async function start(t: Test, env: Readonly<Record<string, string>>) {
  const dir = t.testdir();
  writeRepository(dir, FILES);
  const { code, stdout, stderr } = await ended(process.execPath, ['scripts/start.js'], {
    cwd: dir,
    env: cleanEnvironment({ HOST_SHOWN: '127.0.0.1', ...env }),
  });
  return { dir, code, stdout, stderr, keysShown: stderr.split('sk_demo_FIRST').length - 1 };
}

t.test('the first start shows the key once, in a curl line for the port listened on', async (t) => {
  const { code, stdout, stderr, dir, keysShown } = await start(t, {});
  t.equal(code, 0);
  t.equal(stdout, '["serve"]\n', 'standard output is the server’s alone');
  t.equal(keysShown, 1);
  t.match(
    stderr,
    `curl -s http://127.0.0.1:4321/predict -H 'X-API-Key: ${KEY}' -H 'Content-Type: application/json' -d @`,
  );
  t.match(stderr, `${dir}/docs/examples/request.json`);
  t.match(stderr, 'Try it in a browser: http://127.0.0.1:9464/try\nLive dashboard: http://127.0.0.1:9464/');
});

t.test(
  'a later start says in four lines where it answers, what shows it, and how to get a key',
  async (t) => {
    const { code, stdout, stderr, dir } = await start(t, { STORE: 'exists' });
    t.equal(code, 0);
    t.equal(stdout, '["serve"]\n', 'standard output is the server’s alone');
    t.strictSame(stderr.trimEnd().split('\n').slice(-4), [
      'acuity answers at http://127.0.0.1:4321/predict',
      'Try it in a browser: http://127.0.0.1:9464/try',
      'Live dashboard: http://127.0.0.1:9464/',
      `Issue a key: node ${dir}/dist/main.js keys issue --kind demo`,
    ]);
  },
);

t.test('a page that is off is not named', async (t) => {
  t.notMatch((await start(t, { STORE: 'exists', TRY: 'off' })).stderr, 'Try it');
});

t.test('with a shared key store there is no first key', async (t) => {
  t.equal((await start(t, { KEYS: 'redis://host' })).keysShown, 0);
});

t.test('no key is made while the configuration is mistaken', async (t) => {
  t.equal((await start(t, { MODE: 'mistaken' })).keysShown, 0);
});

for (const [mode, exitCode] of [
  ['fail', 1],
  ['exit', 78],
] as const) {
  t.test(
    `a server that does not come up (${mode}) still shows the key, which nothing else holds`,
    async (t) => {
      const { code, stderr, keysShown } = await start(t, { MODE: mode });
      t.equal(code, exitCode);
      t.equal(keysShown, 1);
      t.notMatch(stderr, 'curl');
    },
  );
}

for (const [host, shown] of [
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
  ['example.test', 'example.test'],
] as const) {
  t.test(`a listener on ${host} is reached at ${shown}`, async (t) => {
    t.match((await start(t, { HOST_SHOWN: host })).stderr, `http://${shown}:4321/predict`);
  });
}
