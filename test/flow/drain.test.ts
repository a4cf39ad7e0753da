import t from 'tap';
import { BAD_AGES } from '../fixtures/ages.js';
import { requestBody } from '../fixtures/bodies.js';
import { Connection, head, send, type Reply } from '../fixtures/connection.js';
import { startServer } from '../fixtures/server.js';

const CONNECTIONS = 64;

/** What one keep-alive connection has seen. */
interface Tally {
  answered: number;
  refused: number;
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
    else if (reply.status === 503) tally.refused++;
    else throw new Error(`${reply.status} ${reply.body}`);
    if (reply.headers.get('connection') !== 'close') continue;
    tally.closed++;
    return;
  }
}

t.test('SIGTERM under load: every request that was taken in is answered', async (t) => {
  const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'warn' } });
  const body = JSON.stringify(requestBody(5));
  const headers = { 'X-API-Key': server.key, 'Content-Length': String(body.length) };
  const request = head({ headers }) + body;
  const tally: Tally = { answered: 0, refused: 0, unanswered: 0, closed: 0 };
  let isStopping = false;
  const callers = Array.from({ length: CONNECTIONS }, () =>
    hammer(server.port, request, tally, () => isStopping),
  );
  const everybody = Promise.all(callers);
  while (tally.answered < 5 * CONNECTIONS) await new Promise((resolve) => setTimeout(resolve, 5));
  isStopping = true;
  server.signal('SIGTERM');
  t.strictSame(await server.exited, { code: 0, signal: null });
  await everybody;
  t.equal(tally.unanswered, 0);
  t.ok(tally.answered >= 5 * CONNECTIONS);
  t.ok(tally.closed > CONNECTIONS / 2, `${tally.closed} of ${CONNECTIONS} were told that they end`);
});

t.test(
  'a request that is being scored when the stop comes gets its scores, however long that takes',
  async (t) => {
    const faulty = new URL('../fixtures/faultyWorkers.js', import.meta.url).href;
    const server = await startServer(t, { nodeOptions: ['--import', faulty] });
    const body = JSON.stringify({ current_session: { age: BAD_AGES.lags } });
    const answer = send(server.port, { headers: { 'X-API-Key': server.key }, body });
    // Two answers later, the server has the first request.
    await send(server.port, { target: '/other' });
    await send(server.port, { target: '/other' });
    server.signal('SIGTERM');
    const { status, headers } = await answer;
    t.equal(status, 200);
    t.equal(headers.get('connection'), 'close');
    t.strictSame(await server.exited, { code: 0, signal: null });
  },
);

t.test('idle connections hold no stop up', async (t) => {
  const server = await startServer(t, { env: { ACUITY_DRAIN_MS: '200' } });
  const connections = await Promise.all(Array.from({ length: 10 }, () => Connection.open(server.port)));
  server.signal('SIGINT');
  t.strictSame(await server.exited, { code: 0, signal: null });
  await Promise.all(connections.map((connection) => connection.closed()));
});
