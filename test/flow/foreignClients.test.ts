import t, { type Test } from 'tap';
import {
  FOREIGN_PROGRAMS,
  ForeignCaller,
  PYTHON_HTTP_CLIENT,
  type ForeignProgram,
} from '../fixtures/foreign.js';
import {
  foreignBodies,
  foreignTries,
  tryForeign,
  type ForeignTarget,
  type ForeignTry,
} from '../fixtures/foreignMatrix.js';
import { startServer } from '../fixtures/server.js';

/**
 * Callers on HTTP libraries that cut their requests into packets in ways of their own. Our own tools send head and
 * body in one packet, which hides what a server does with the others.
 */

const MIB = 1024 * 1024;
const TIMES_KEPT = 2;
const folder = t.testdir();

/** Whether nothing was left behind. */
async function tryOne(
  t: Test,
  target: ForeignTarget,
  caller: ForeignCaller,
  given: ForeignTry,
): Promise<boolean> {
  const { answers, expected, left } = await tryForeign(target, caller, given);
  t.strictSame(answers, expected, `${given.reuse}, ${given.way}: the answers`);
  return t.equal(left, undefined, `${given.reuse}, ${given.way}: nothing is left behind`);
}

async function tryProgram(t: Test, target: ForeignTarget, program: ForeignProgram): Promise<void> {
  const { port, key } = target.server;
  const caller = new ForeignCaller(program, await program.command(), port, key);
  t.teardown(() => caller.stop());
  for (const given of foreignTries(program, TIMES_KEPT)) {
    // What was left behind stays, so the next cases would wait in vain.
    if (!(await tryOne(t, target, caller, given))) return;
  }
}

// Compilers run beside the first programs. Where one fails, the test of its program says so.
for (const { missing, command } of FOREIGN_PROGRAMS)
  if (missing === undefined) command().catch(() => undefined);

t.jobs = 2; // most of the time is spent on waiting for the gauges
for (const loops of ['1', '2']) {
  t.test(`event loops: ${loops}`, { buffered: true }, async (t) => {
    const server = await startServer(t, {
      env: { ACUITY_HTTP_THREADS: loops, ACUITY_WORKERS: loops, ACUITY_LOG_LEVEL: 'fatal' },
    });
    const bodies = await foreignBodies(server, folder);
    for (const program of FOREIGN_PROGRAMS) {
      t.test(program.name, { skip: program.missing ?? false }, (t) =>
        tryProgram(t, { server, bodies }, program),
      );
    }
  });
}

t.test(
  'bodies that follow their heads leave nothing in the body budget',
  { buffered: true, skip: PYTHON_HTTP_CLIENT.missing ?? false },
  async (t) => {
    const server = await startServer(t, {
      env: {
        ACUITY_BODIES_MAX_BYTES: String(4 * MIB),
        ACUITY_BODY_MAX_BYTES: String(MIB),
        ACUITY_LOG_LEVEL: 'fatal',
      },
    });
    const bodies = (await foreignBodies(server, folder)).filter(({ path }) => path.endsWith('large.json'));
    const caller = new ForeignCaller(
      PYTHON_HTTP_CLIENT,
      await PYTHON_HTTP_CLIENT.command(),
      server.port,
      server.key,
    );
    t.teardown(() => caller.stop());
    for (const [way, times] of [
      ['apart', 300],
      ['plain', 3_000],
    ] as const) {
      if (!(await tryOne(t, { server, bodies }, caller, { reuse: 'kept', way, times }))) return;
    }
  },
);
