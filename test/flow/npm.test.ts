import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import t, { type Test } from 'tap';
import { BAD_AGES } from '../fixtures/ages.js';
import { send } from '../fixtures/connection.js';
import { REPOSITORY } from '../fixtures/repository.js';
import { FAULTY, serverEnvironment } from '../fixtures/stops.js';

const skip = spawnSync('npm', ['--version']).status === 0 ? false : 'no npm here (it comes with Node)';

interface NpmStart {
  readonly npm: ChildProcess;
  readonly pid: number;
  readonly port: number;
  readonly key: string;
  output(): string;
  /** Resolves when no process is left that could write: npm and the server have ended. */
  readonly ended: Promise<unknown>;
}

/** `npm start` as an operator types it, the keys in a folder of the test's own. */
async function npmStart(t: Test, env: Readonly<Record<string, string>> = {}): Promise<NpmStart> {
  const npm = spawn('npm', ['start'], {
    cwd: REPOSITORY,
    env: serverEnvironment(t, { ACUITY_DRAIN_MS: '20000', ACUITY_DEADLINE_MS: '30000', ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(npm, 'close');
  let hasEnded = false;
  let text = '';
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  }
  const isUp = (): boolean => /"event":"listening".*\n/.test(text) && /sk_demo_\w+'/.test(text);
  void ended.then(() => (hasEnded = true));
  while (!isUp()) {
    if (hasEnded) throw new Error(`npm start ended: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const line = /\{"event":"listening".*\}/.exec(text)?.[0] ?? '{}';
  const { pid, port } = JSON.parse(line) as { pid: number; port: number };
  const key = /sk_demo_\w+/.exec(text)?.[0] ?? '';
  return { npm, pid, port, key, output: () => text, ended };
}

function ask({ port, key }: NpmStart, age: number): Promise<{ readonly status: number }> {
  const body = JSON.stringify({ current_session: { age } });
  return send(port, { headers: { 'X-API-Key': key }, body });
}

for (const signal of ['SIGTERM', 'SIGHUP', 'SIGKILL'] as const) {
  t.test(`${signal} to npm drains the server: a request in flight is answered`, { skip }, async (t) => {
    // npm hands its node-options on to the script, and takes none itself.
    const started = await npmStart(t, { npm_config_node_options: FAULTY.join('=') });
    const inFlight = ask(started, BAD_AGES.lags);
    await send(started.port, { target: '/other' });
    await send(started.port, { target: '/other' });
    started.npm.kill(signal);
    t.equal((await inFlight).status, 200);
    await started.ended;
    t.match(started.output(), /"msg":"stopped"/);
  });
}

t.test('a terminal’s SIGINT, which npm passes on where its shell is bash, drains', { skip }, async (t) => {
  if (!existsSync('/bin/bash')) return t.plan(0, 'no bash here (Debian: apt-get install bash)');
  // bash becomes the script; npm then passes signals on to the server itself.
  const started = await npmStart(t, { npm_config_script_shell: '/bin/bash' });
  started.npm.kill('SIGINT');
  process.kill(started.pid, 'SIGINT');
  await started.ended;
  t.match(started.output(), /"msg":"stopped"/);
  t.notMatch(started.output(), /leaving at once/);
});

t.test('a server started without npm does not stop as an orphan', async (t) => {
  // A shell that starts it and ends at once.
  const shell = spawn('sh', ['-c', '"$@" & echo', 'sh', process.execPath, 'scripts/start.js'], {
    cwd: REPOSITORY,
    env: serverEnvironment(t, {}),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  shell.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  while (!text.includes('"listening"')) await once(shell.stdout, 'data');
  const { pid, adminPort } = JSON.parse(/\{"event".*\}/.exec(text)?.[0] ?? '{}') as Record<string, number>;
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const { status } = await send(adminPort ?? 0, { method: 'GET', target: '/readyz' });
  t.equal(status, 200);
  process.kill(pid ?? 0, 'SIGTERM');
  await once(shell, 'close');
});
