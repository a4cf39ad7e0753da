import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { session } from '../fixtures/bodies.js';
import { send } from '../fixtures/connection.js';
import {
  FOREIGN_PROGRAMS,
  ForeignCaller,
  PYTHON_HTTP_CLIENT,
  type ForeignProgram,
  type Reuse,
  type Way,
} from '../fixtures/foreign.js';
import { parseMetrics, valueOf } from '../fixtures/promtool.js';
import { REPOSITORY } from '../fixtures/scripts.js';
import { startServer, type RunningServer } from '../fixtures/server.js';

/**
 * Callers on HTTP libraries that cut their requests into packets in ways of their own. Our own tools send head and
 * body in one packet, which hides what a server does with the others.
 */

/** What must be back at 0 when nobody is connected. */
const GAUGES = ['acuity_bodies_held_bytes', 'acuity_requests_in_flight', 'acuity_connections'];
/** Older than any gauge. */
const GAUGE_MS = 300;
const GAUGES_WAIT_MS = 8_000;
const KIB = 1024;
const MIB = KIB * KIB;

/** A body with a night of so many samples, and its scores as the server gives them to one packet. */
interface Body {
  readonly path: string;
  readonly scores: string;
}

const folder = t.testdir();
const texts: Readonly<Record<string, string>> = {
  small: readFileSync(join(REPOSITORY, 'docs/examples/request.json'), 'utf8'),
  large: night(8_000, 65 * KIB),
  huge: night(36_000, 290 * KIB),
};

/** A night of `samples`, filled up to at least `bytes` with white space. */
function night(samples: number, bytes: number): string {
  const series = (from: number, over: number): number[] =>
    Array.from({ length: samples }, (_, index) => from + ((index * 7) % over));
  const current = { ...session(), HR_night: series(52, 13), RR_night: series(11, 6) };
  return JSON.stringify({ current_session: current }).padEnd(bytes);
}

function withoutTime(answer: string): string {
  return answer.replace(/"inference_time_ms":[\d.]+/, '');
}

async function bodiesOf(server: RunningServer): Promise<Body[]> {
  const bodies: Body[] = [];
  for (const [name, body] of Object.entries(texts)) {
    const path = join(folder, `${name}.json`);
    writeFileSync(path, body);
    const reply = await send(server.port, { headers: { 'X-API-Key': server.key }, body });
    if (reply.status !== 200) throw new Error(`${name}: ${reply.status} ${reply.body}`);
    bodies.push({ path, scores: withoutTime(`200 ${reply.body}`) });
  }
  return bodies;
}

async function gauges({ adminPort }: RunningServer): Promise<Record<string, number>> {
  const sent = { method: 'GET', target: '/metrics', headers: { Connection: 'close' } };
  const series = parseMetrics((await send(adminPort, sent)).body);
  return Object.fromEntries(GAUGES.map((name) => [name, valueOf(series, name)]));
}

/** What the gauges come to rest at: 0, or else what they still are at the end of the wait. */
async function rest(server: RunningServer): Promise<Record<string, number>> {
  const endsMs = Date.now() + GAUGES_WAIT_MS;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, GAUGE_MS));
    const values = await gauges(server);
    if (Date.now() > endsMs || Object.values(values).every((value) => value === 0)) return values;
  }
}

const AT_REST = Object.fromEntries(GAUGES.map((name) => [name, 0]));

interface Started {
  readonly server: RunningServer;
  readonly bodies: readonly Body[];
}

/** Whether nothing was left behind. */
async function tryCase(
  t: Test,
  { server, bodies }: Started,
  caller: ForeignCaller,
  { reuse, way, times }: { readonly reuse: Reuse; readonly way: Way; readonly times: number },
): Promise<boolean> {
  const answers = await caller.run({ reuse, way, times, paths: bodies.map(({ path }) => path) });
  const isDropped = way === 'cut' || way === 'left';
  const expected = Array.from({ length: isDropped ? 0 : times }, () => bodies.map(({ scores }) => scores));
  t.strictSame(answers.map(withoutTime), expected.flat(), `${reuse}, ${way}: the answers`);
  return t.strictSame(await rest(server), AT_REST, `${reuse}, ${way}: nothing is left behind`);
}

async function tryProgram(t: Test, started: Started, program: ForeignProgram): Promise<void> {
  const { port, key } = started.server;
  const caller = new ForeignCaller(program, await program.command(), port, key);
  t.teardown(() => caller.stop());
  for (const way of program.ways) {
    for (const reuse of ['kept', 'fresh'] as const) {
      if (reuse === 'kept' && (way === 'cut' || way === 'left')) continue;
      const times = reuse === 'kept' ? 2 : 1;
      // What was left behind stays: the cases behind it would wait for nothing.
      if (!(await tryCase(t, started, caller, { reuse, way, times }))) return;
    }
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
    const bodies = await bodiesOf(server);
    for (const program of FOREIGN_PROGRAMS) {
      t.test(program.name, { skip: program.missing ?? false }, (t) =>
        tryProgram(t, { server, bodies }, program),
      );
    }
  });
}

t.test(
  'bodies behind their heads leave nothing in the memory set aside for bodies',
  { buffered: true, skip: PYTHON_HTTP_CLIENT.missing ?? false },
  async (t) => {
    const server = await startServer(t, {
      env: {
        ACUITY_BODIES_MAX_BYTES: String(4 * MIB),
        ACUITY_BODY_MAX_BYTES: String(MIB),
        ACUITY_LOG_LEVEL: 'fatal',
      },
    });
    const bodies = (await bodiesOf(server)).filter(({ path }) => path.endsWith('large.json'));
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
      if (!(await tryCase(t, { server, bodies }, caller, { reuse: 'kept', way, times }))) return;
    }
  },
);
