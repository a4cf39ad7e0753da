import t from 'tap';
import { ended, lacking, running } from '../../fixtures/scripts.js';
import { skipElsewhere } from '../../fixtures/stops.js';

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

t.test(
  'a process that can’t wait for its threads exits once each of them is at rest',
  { skip: skipElsewhere },
  async (t) => {
    // Each uses what the C library's exit takes apart; one that answers late, from a disk for instance, does so too.
    const busy = `
    const { existsSync, writeSync } = require('node:fs');
    const { parentPort } = require('node:worker_threads');
    parentPort.postMessage('at work');
    for (const endsMs = Date.now() + 80; Date.now() < endsMs;) existsSync('/');
    writeSync(1, 'at rest\\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  `;
    const code = `
    import { once } from 'node:events';
    import { Worker } from 'node:worker_threads';
    import { ProcessEnd } from './dist/base/process/leave.js';
    const threads = { isHanging: true, close: () => Promise.resolve() };
    const end = new ProcessEnd({ output: { flushed: () => Promise.resolve(true) }, threads });
    await end.guarded();
    await once(new Worker(${JSON.stringify(busy)}, { eval: true, execArgv: [] }), 'message');
    const endsMs = performance.now();
    end.leave({ code: 70, signal: 'SIGKILL', endsMs, settled: () => [], hasWorkers: () => false });
  `;
    const { code: exitCode, stdout } = await ended(process.execPath, ['--input-type=module', '-e', code]);
    t.equal(exitCode, 70);
    t.equal(stdout, 'at rest\n');
  },
);

t.test(
  'a thread that never rests is not waited for, however late a starved process looks again',
  async (t) => {
    const code = `
    import { once } from 'node:events';
    import { Worker } from 'node:worker_threads';
    import { ProcessEnd } from './dist/base/process/leave.js';
    const threads = { isHanging: true, close: () => Promise.resolve() };
    const end = new ProcessEnd({ output: { flushed: () => Promise.resolve(true) }, threads });
    await end.guarded();
    const loops = "require('node:worker_threads').parentPort.postMessage('at work'); for (;;);";
    await once(new Worker(loops, { eval: true, execArgv: [] }), 'message');
    const wait = Atomics.wait;
    Atomics.wait = (cells, index, value, ms) => wait(cells, index, value, 20 * ms);
    const endsMs = performance.now();
    end.leave({ code: 70, signal: 'SIGKILL', endsMs, settled: () => [], hasWorkers: () => false });
  `;
    const { code: exitCode } = await ended(process.execPath, ['--input-type=module', '-e', code]);
    t.equal(exitCode, 70);
  },
);
