import { closeSync, openSync } from 'node:fs';
import t, { type Test } from 'tap';
import { BAD_AGES } from '../fixtures/ages.js';
import { metricsOf } from '../fixtures/atRest.js';
import { requestBody } from '../fixtures/bodies.js';
import { Connection, head, send, sendOn, type Reply } from '../fixtures/connection.js';
import { valueOf } from '../fixtures/promtool.js';
import { startServer, type RunningServer } from '../fixtures/server.js';
import {
  endOf,
  FAULTY,
  floodWithLines,
  pipe,
  predict,
  skipElsewhere,
  SLOW_THREADS,
  startToStop,
  terminate,
} from '../fixtures/stops.js';

/** Stops in which nothing hangs: every request that was taken in is answered, and the exit code is 0. */

const CONNECTIONS = 64;
const CLEAN = { code: 0, signal: null };

/** What one keep-alive connection has seen. */
interface Tally {
  answered: number;
  /** Whole requests, written to the last byte before the stop, that got no answer. */
  unanswered: number;
  /** Connections that ended after an answer that said so. */
  closed: number;
}

/** Sends requests one after the other until the connection ends. */
async function hammer(port: number, request: string, tally: Tally, isStopping: () => boolean): Promise<void> {
  const connection = await Connection.open(port);
  for (;;) {
    const wasStopping = isStopping();
    await connection.write(request);
    let reply: Reply;
    try {
      reply = await connection.reply();
    } catch {
      // Sent while the listener was closing, a request may meet a connection that ends: it was never taken in.
      if (!wasStopping) tally.unanswered++;
      return;
    }
    if (reply.status === 200) tally.answered++;
    else if (reply.status !== 503) throw new Error(`${reply.status} ${reply.body}`);
    if (reply.headers.get('connection') !== 'close') continue;
    tally.closed++;
    return;
  }
}

t.test('SIGTERM under load: every request that was taken in is answered', async (t) => {
  const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'warn' } });
  const body = JSON.stringify(requestBody(5));
  const headers = { 'X-API-Key': server.key, 'Content-Length': String(body.length) };
  const tally: Tally = { answered: 0, unanswered: 0, closed: 0 };
  let isStopping = false;
  const callers = Array.from({ length: CONNECTIONS }, () =>
    hammer(server.port, head({ headers }) + body, tally, () => isStopping),
  );
  while (tally.answered < 5 * CONNECTIONS) await new Promise((resolve) => setTimeout(resolve, 5));
  isStopping = true;
  server.signal('SIGTERM');
  t.strictSame(await server.exited, CLEAN);
  await Promise.all(callers);
  t.equal(tally.unanswered, 0);
  t.ok(tally.closed > CONNECTIONS / 2, `${tally.closed} of ${CONNECTIONS} were told that they end`);
});

t.test('a request that is being scored gets its scores; idle connections hold no stop up', async (t) => {
  const server = await startServer(t, { nodeOptions: FAULTY });
  const idle = await Promise.all(Array.from({ length: 10 }, () => Connection.open(server.port)));
  const body = JSON.stringify({ current_session: { age: BAD_AGES.lags } });
  const answer = send(server.port, { headers: { 'X-API-Key': server.key }, body });
  // Two answers later, the server has the first request.
  await send(server.port, { target: '/other' });
  await send(server.port, { target: '/other' });
  server.signal('SIGINT');
  const { status, headers } = await answer;
  t.equal(status, 200);
  t.equal(headers.get('connection'), 'close');
  t.strictSame(await server.exited, CLEAN);
  await Promise.all(idle.map((connection) => connection.closed()));
});

interface Case {
  readonly name: string;
  readonly loops: number;
  start(t: Test, loops: number): Promise<RunningServer>;
  before?(server: RunningServer): Promise<unknown>;
}

async function onFullDisk(t: Test, loops: number): Promise<RunningServer> {
  const full = openSync('/dev/full', 'w');
  const server = await startToStop(t, loops, { stdout: full });
  closeSync(full);
  return server;
}

/** Its log goes into a pipe that is not read, or whose reader has gone. */
async function onPipe(t: Test, loops: number, hasReader: boolean): Promise<RunningServer> {
  const { reading, writing } = pipe(t);
  const env = { ACUITY_ACCESS_LOG_EVERY: '1' };
  const server = await startToStop(t, loops, { stdout: writing, env });
  closeSync(writing);
  if (hasReader) t.teardown(() => closeSync(reading));
  else closeSync(reading);
  return server;
}

const CASES: readonly Case[] = [
  { name: 'a full disk under the log', loops: 1, start: onFullDisk },
  { name: 'a log whose reader has gone', loops: 2, start: (t, loops) => onPipe(t, loops, false) },
  {
    name: 'a log whose reader reads no more, and a flood of lines',
    loops: 1,
    start: (t, loops) => onPipe(t, loops, true),
    before: floodWithLines,
  },
  {
    name: 'threads that start slowly, and the workers of another model that start',
    loops: 2,
    start: (t, loops) => startToStop(t, loops, { nodeOptions: SLOW_THREADS }),
    before: async (server) => server.signal('SIGHUP'),
  },
];

for (const { name, loops, start, before } of CASES) {
  t.test(`a stop in time: ${name}`, { skip: skipElsewhere }, async (t) => {
    const server = await start(t, loops);
    await before?.(server);
    t.equal(await predict(server), 200);
    t.strictSame(await endOf(server, terminate(server)), CLEAN);
    t.notMatch(server.output(), 'model refused');
  });
}

t.test('the first explanation is answered, though the stop comes while its worker starts', async (t) => {
  const server = await startServer(t);
  const connection = await Connection.open(server.port);
  t.teardown(() => connection.destroy());
  const body = JSON.stringify({ ...requestBody(2, 1), explain: true });
  const reply = sendOn(connection, { headers: { 'X-API-Key': server.key }, body });
  const read = async (): Promise<number> =>
    valueOf(await metricsOf(server.adminPort), 'acuity_request_body_bytes_total');
  while ((await read()) === 0); // until it is admitted
  server.signal('SIGTERM');
  t.equal((await reply).status, 200);
  t.strictSame(await server.exited, CLEAN);
});
