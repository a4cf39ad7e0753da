import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { BAD_AGES } from '../fixtures/ages.js';
import { send } from '../fixtures/connection.js';
import { REPOSITORY } from '../fixtures/repository.js';
import { lacking, running } from '../fixtures/scripts.js';
import { serverEnvironment } from '../fixtures/server.js';
import { FAULTY, loopsOf, skipElsewhere } from '../fixtures/stops.js';

/** Stops of servers that npm, a shell or a terminal has started. */

const skip = lacking('npm --version', 'no npm here (it comes with Node)');
const keysOf = (t: Test) => ({ ACUITY_KEYS: `file:${join(t.testdir(), 'keys.json')}` });

/** Waits until a server listens. */
const announced = async ({ says }: ReturnType<typeof running>): Promise<Readonly<Record<string, number>>> =>
  JSON.parse(await says(/\{"event":"listening".*\}(?=[^\n]*\n)/)) as Record<string, number>;

/** `npm start` as an operator types it, the keys in a folder of the test's own. */
async function npmStart(t: Test, env: Readonly<Record<string, string>> = {}) {
  const started = running(t, ['npm', 'start'], {
    env: serverEnvironment({ ...keysOf(t), ACUITY_DRAIN_MS: '20000', ...env }),
  });
  const { pid = 0, port = 0 } = await announced(started);
  return { ...started, pid, port, key: await started.says(/sk_demo_\w+(?=')/) };
}

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  t.test(`${signal} to npm drains the server: a request in flight is answered`, { skip }, async (t) => {
    // npm hands its node-options on to the script, and takes none itself.
    const { child, port, key, output, exited } = await npmStart(t, {
      npm_config_node_options: FAULTY.join('='),
    });
    const body = JSON.stringify({ current_session: { age: BAD_AGES.lags } });
    const inFlight = send(port, { headers: { 'X-API-Key': key }, body });
    await send(port, { target: '/other' });
    await send(port, { target: '/other' });
    child.kill(signal);
    t.equal((await inFlight).status, 200);
    await exited; // npm and the server: no process is left that could write
    t.match(output(), /"msg":"stopped"/);
  });
}

t.test('a terminal’s SIGINT, which npm passes on where its shell is bash, drains', { skip }, async (t) => {
  if (!existsSync('/bin/bash')) return t.plan(0, 'no bash here (Debian: apt-get install bash)');
  // bash becomes the script; npm then passes signals on to the server itself.
  const started = await npmStart(t, { npm_config_script_shell: '/bin/bash' });
  started.child.kill('SIGINT');
  process.kill(started.pid, 'SIGINT');
  await started.exited;
  t.match(started.output(), /"msg":"stopped"/);
  t.notMatch(started.output(), /leaving at once/);
});

t.test('a server started without npm does not stop as an orphan', async (t) => {
  // A shell that starts it and ends at once.
  const command = ['sh', '-c', '"$@" & echo', 'sh', process.execPath, 'scripts/start.js'];
  const shell = running(t, command, {
    env: serverEnvironment(keysOf(t)),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { pid = 0, adminPort = 0 } = await announced(shell);
  await new Promise((resolve) => setTimeout(resolve, 1500)); // it looks for its parent once a second
  t.equal((await send(adminPort, { method: 'GET', target: '/readyz' })).status, 200);
  process.kill(pid, 'SIGTERM');
  await shell.exited;
});

/** Runs a command on a terminal of its own; closes it, as a window is closed, at a line on standard input. */
const TERMINAL = `
import os, pty, select, sys
pid, master = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
while sys.stdin not in select.select([master, sys.stdin], [], [])[0]:
    os.write(1, os.read(master, 65536))
os.close(master)
print("ended:", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
`;
const PYTHON = '/usr/bin/python3';
const withoutTerminal = skipElsewhere || lacking(`${PYTHON} --version`, 'python3');

t.test('a closed terminal stops the server', { skip: withoutTerminal }, async (t) => {
  const command = [process.execPath, join(REPOSITORY, 'dist/main.js'), 'serve'];
  const terminal = running(t, [PYTHON, '-c', TERMINAL, ...command], {
    env: serverEnvironment({ ...keysOf(t), ...loopsOf(2) }),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await announced(terminal);
  terminal.child.stdin?.end('close\n');
  await terminal.says(/^ended: 0$/m);
});
