import t from 'tap';
import { cleanEnvironment } from '../fixtures/repository.js';
import { ended, writeRepository } from '../fixtures/scripts.js';

/** Stands for the service: it "listens" at once, or fails, as MODE says. */
const FILES = {
  'dist/main.js': `
    export async function run(argv, hooks) {
      process.stdout.write(JSON.stringify(argv) + '\\n');
      process.kill(process.pid, 'SIGUSR1');
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (process.env.MODE === 'fail') throw new Error('address in use');
      if (process.env.MODE === 'exit') process.exit(78);
      const at = process.env.SOCKET ? { host: null, port: null, socket: process.env.SOCKET } : { host: process.env.HOST_SHOWN, port: 4321 };
      hooks.onListening({ ...at, adminHost: '127.0.0.1', adminPort: 9464, hasTry: process.env.TRY !== 'off' });
    }`,
  'dist/config/options.js': `
    export const environment = () => process.env;
    export const readConfig = (env) =>
      env.MODE === 'mistaken' ? { ok: false, mistakes: [] } : { ok: true, config: { keys: env.KEYS ?? 'file:data/keys.json' } };`,
  'dist/auth/location.js': `export const placeOf = (location) => location.replace(':', ':' + process.cwd() + '/');`,
  'dist/commands/keys.js': `
    export const issueFirstDemoKey = async (location) =>
      process.env.STORE === 'exists' ? undefined : { id: 'k1', key: 'sk_demo_FIRST:' + location };`,
};

const PAGES = 'Try it in a browser: http://127.0.0.1:9464/try\nLive dashboard: http://127.0.0.1:9464/\n';
const CURL = `curl -s http://127.0.0.1:4321/predict -H 'X-API-Key: sk_demo_FIRST:file:data/keys.json' -H 'Content-Type: application/json' -d @DIR/docs/examples/request.json`;

/** What differs, how it ends, and what is said. */
const CASES: readonly (readonly [
  env: Readonly<Record<string, string>>,
  code: number | undefined,
  ...said: (string | RegExp)[],
])[] = [
  [{}, 0, CURL, PAGES],
  [
    { STORE: 'exists' },
    0,
    `acuity answers at http://127.0.0.1:4321/predict\n${PAGES}Issue a key: ACUITY_KEYS=file:DIR/data/keys.json node DIR/scripts/acuity.js keys issue --kind demo\n`,
  ],
  [{ STORE: 'exists', TRY: 'off' }, 0, /^(?![^]*(Try it|sk_demo))[^]*acuity answers at/],
  [{ KEYS: 'redis://host' }, 0, /^(?![^]*sk_demo)[^]*acuity answers at/],
  [{ MODE: 'mistaken' }, undefined, /^(?![^]*sk_demo)/],
  // A server that does not come up still shows the key, which nothing else holds.
  [{ MODE: 'fail' }, 1, /^(?![^]*curl)[^]*sk_demo_FIRST/],
  [{ MODE: 'exit' }, 78, /^(?![^]*curl)[^]*sk_demo_FIRST/],
  [{ HOST_SHOWN: '0.0.0.0' }, 0, 'http://127.0.0.1:4321/predict'],
  [{ HOST_SHOWN: '::' }, 0, 'http://[::1]:4321/predict'],
  [{ SOCKET: '/a b' }, 0, "curl -s --unix-socket '/a b' http://localhost/predict -H"],
  [{ SOCKET: '/run/a', STORE: 'exists' }, 0, 'acuity answers at /run/a\n'],
  [{ HOST_SHOWN: 'example.test' }, 0, 'http://example.test:4321/predict'],
];

t.test('what a start says, and its key once at most', async (t) => {
  for (const [env, code, ...said] of CASES) {
    const what = JSON.stringify(env);
    const dir = t.testdir();
    writeRepository(dir, FILES);
    const given = cleanEnvironment({ HOST_SHOWN: '127.0.0.1', ...env });
    const found = await ended(process.execPath, ['scripts/start.js'], { cwd: dir, env: given });
    const stderr = found.stderr.replaceAll(dir, 'DIR');
    for (const part of said) t.match(stderr, part, what);
    t.ok(stderr.split('sk_demo_FIRST').length <= 2, what);
    t.notMatch(stderr, 'Debugger', 'a signal opens no inspector');
    t.equal(found.stdout, '["serve"]\n', 'standard output is the server’s alone');
    if (code !== undefined) t.equal(found.code, code, what);
  }
});
