import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { REPOSITORY } from '../../fixtures/repository.js';

/** Ends of a process that hangs, as the first process of a container too: it gets no signal of its own. */

const FIRST = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];

function mayUnshare(): boolean {
  try {
    execFileSync('unshare', [...FIRST.slice(1), 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

t.test('a first process that hangs is ended by its watchdog', { skip: !mayUnshare() }, async (t) => {
  const code = `
    import { Watchdog } from './dist/base/process/leave.js';
    const watchdog = new Watchdog();
    await watchdog.started;
    watchdog.limit(100);
    for (;;);
  `;
  const [command = '', ...args] = [...FIRST, process.execPath, '--input-type=module', '-e', code];
  const first = spawn(command, args, { cwd: REPOSITORY, stdio: 'ignore' });
  t.teardown(() => first.kill('SIGKILL'));
  t.strictSame(await once(first, 'exit'), [137, null]);
});
