import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { REPOSITORY } from '../fixtures/repository.js';
import { loopsOf, serverEnvironment, skipElsewhere } from '../fixtures/stops.js';

const PYTHON = '/usr/bin/python3';
const hasPython = spawnSync(PYTHON, ['--version']).status === 0;
const skip = hasPython ? skipElsewhere : `no ${PYTHON} here (Debian: apt-get install python3)`;

t.test('a terminal that is closed stops the server: SIGHUP', { skip }, async (t) => {
  t.equal(await endOnTerminal(t, 'controlling', 1), 'code 0');
});

for (const loops of [1, 2]) {
  t.test(`SIGTERM when the terminal is gone: ${loops} event loops`, { skip }, async (t) => {
    t.equal(await endOnTerminal(t, 'plain', loops), 'code 0');
  });
}

/** How a server ends whose terminal is closed, and that gets SIGTERM where that alone does not end it. */
async function endOnTerminal(t: Test, mode: 'controlling' | 'plain', loops: number): Promise<string> {
  const script = join(REPOSITORY, 'test/fixtures/terminal.py');
  const command = [script, mode, process.execPath, join(REPOSITORY, 'dist/main.js'), 'serve'];
  const terminal = spawn(PYTHON, command, {
    env: serverEnvironment(t, loopsOf(loops)),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  terminal.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece));
  while (!/"event":"listening"[^\n]*\n/.test(output)) await once(terminal.stdout, 'data');
  const pid = Number(/"pid":(\d+)/.exec(output)?.[1]);
  terminal.stdin.end('close\n');
  if (mode === 'plain') process.kill(pid, 'SIGTERM');
  await once(terminal, 'close');
  return /^ended: (.*)$/m.exec(output)?.[1] ?? output;
}
