import t from 'tap';
import { lacking, running } from '../../fixtures/scripts.js';

/** Ends of a process that hangs, as the first process of a container too: it gets no signal of its own. */

const FIRST = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];

const skip = lacking(`${FIRST.join(' ')} true`, 'needs root: a machine or a privileged container');

t.test('a first process that hangs is ended by its watchdog', { skip }, async (t) => {
  const code = `
    import { Watchdog } from './dist/base/process/leave.js';
    const watchdog = new Watchdog();
    await watchdog.started;
    watchdog.limit(100);
    for (;;);
  `;
  const { exited } = running(t, [...FIRST, process.execPath, '--input-type=module', '-e', code]);
  t.strictSame(await exited, { code: 137, signal: null });
});
