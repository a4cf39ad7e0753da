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

/** What differs, what is said, and how it ends; every other start shows its key once. */
const CASES: readonly (readonly [
  env: Readonly<Record<string, string>>,
  said: string | RegExp,
  code?: number,
])[] = [
  [{ STORE: 'exists', TRY: 'off' }, /^(?![^]*(Try it|sk_demo))[^]*acuity answers at/, 0],
  [{ KEYS: 'redis://host' }, /^(?![^]*sk_demo)[^]*acuity answers at/, 0],
  [{ MODE: 'mistaken' }, /^(?![^]*sk_demo)/],
  // A server that does not come up still shows the key, which nothing else holds.
  [{ MODE: 'fail' }, /^(?![^]*curl)[^]*sk_demo_FIRST/, 1],
  [{ MODE: 'exit' }, /^(?![^]*curl)[^]*sk_demo_FIRST/, 78],
  [{ HOST_SHOWN: '0.0.0.0' }, 'http://127.0.0.1:4321/predict'],
  [{ HOST_SHOWN: '::' }, 'http://[::1]:4321/predict'],
  [{ HOST_SHOWN: 'example.test' }, 'http://example.test:4321/predict'],
];

t.test(
  'what a start says follows from the store, the configuration, the outcome and the address',
  async (t) => {
    for (const [env, said, code] of CASES) {
      const ended = await start(t, env);
      t.match(ended.stderr, said, JSON.stringify(env));
      if (code !== undefined) t.equal(ended.code, code, JSON.stringify(env));
    }
  },
);
