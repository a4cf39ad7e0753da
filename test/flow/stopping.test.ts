import { closeSync, openSync } from 'node:fs';
import t from 'tap';
import {
  endOf,
  floodWithLines,
  pipe,
  predict,
  skipElsewhere,
  SLOW_THREADS,
  startToStop,
  terminate,
} from '../fixtures/stops.js';

/*
 * Even if something hangs, the process has ended at the latest two seconds after the drain, with the exit code that
 * docs/operations/stop.md promises.
 */

for (const loops of [1, 2]) {
  t.test(`a full disk under the log: ${loops} event loops`, { skip: skipElsewhere }, async (t) => {
    const full = openSync('/dev/full', 'w');
    const server = await startToStop(t, loops, { stdout: full });
    closeSync(full);
    t.equal(await predict(server), 200);
    t.strictSame(await endOf(t, server, terminate(server)), { code: 0, signal: null });
  });

  t.test(`a log whose reader has gone: ${loops} event loops`, { skip: skipElsewhere }, async (t) => {
    const { reading, writing } = pipe(t);
    const server = await startToStop(t, loops, { stdout: writing });
    closeSync(writing);
    closeSync(reading);
    t.equal(await predict(server), 200);
    t.strictSame(await endOf(t, server, terminate(server)), { code: 0, signal: null });
  });

  t.test(
    `a log whose reader reads no more, and a flood of lines: ${loops} event loops`,
    { skip: skipElsewhere },
    async (t) => {
      const { reading, writing } = pipe(t);
      const env = { ACUITY_ACCESS_LOG_EVERY: '1' };
      const server = await startToStop(t, loops, { stdout: writing, env });
      closeSync(writing);
      await floodWithLines(server);
      t.strictSame(await endOf(t, server, terminate(server)), { code: 0, signal: null });
      closeSync(reading);
    },
  );
}

t.test('threads that start slowly, as on a starved machine', async (t) => {
  const server = await startToStop(t, 1, { nodeOptions: SLOW_THREADS });
  t.equal(await predict(server), 200);
  t.strictSame(await endOf(t, server, terminate(server)), { code: 0, signal: null });
});

t.test('a stop while the workers of another model start', async (t) => {
  const server = await startToStop(t, 2, { nodeOptions: SLOW_THREADS });
  server.signal('SIGHUP');
  t.equal(await predict(server), 200);
  t.strictSame(await endOf(t, server, terminate(server)), { code: 0, signal: null });
  t.notMatch(server.output(), 'model refused');
});
