import t from 'tap';
import { BAD_AGES } from '../fixtures/ages.js';
import { requestBody } from '../fixtures/bodies.js';
import { Connection, head, type Reply } from '../fixtures/connection.js';
import { CLEAN, startServer } from '../fixtures/server.js';
import { FAULTY } from '../fixtures/stops.js';

/** Stops of a sound service: every request that was taken in is answered, and the exit code is 0. Others: flow/hanging. */

const CONNECTIONS = 64;

/** What the keep-alive connections have seen. */
const tally = {
  answered: 0,
  /** Whole requests, written to the last byte before the stop, that got no answer. */
  unanswered: 0,
  /** Connections that ended after an answer that said so. */
  closed: 0,
  isStopping: false,
  onAnswered: (): void => undefined,
};

/** Sends requests one after the other until the connection ends. */
async function hammer(port: number, request: string): Promise<void> {
  const connection = await Connection.open(port);
  for (;;) {
    const wasStopping = tally.isStopping;
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
    tally.onAnswered();
    if (reply.headers.get('connection') !== 'close') continue;
    tally.closed++;
    return;
  }
}

t.test('SIGTERM under load: every request that was taken in is answered', async (t) => {
  const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'warn' } });
  const body = JSON.stringify(requestBody(5));
  const headers = { 'X-API-Key': server.key, 'Content-Length': String(body.length) };
  tally.onAnswered = () => {
    if (tally.isStopping || tally.answered < 5 * CONNECTIONS) return;
    tally.isStopping = true;
    server.signal('SIGTERM');
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, () => hammer(server.port, head({ headers }) + body)));
  t.strictSame(await server.exited, CLEAN);
  t.equal(tally.unanswered, 0);
  t.ok(tally.closed > CONNECTIONS / 2, `${tally.closed} of ${CONNECTIONS} were told that they end`);
});

t.test(
  'what is being scored is answered, and the first explanation, whose worker starts; idle connections hold no stop up',
  async (t) => {
    const server = await startServer(t, { nodeOptions: FAULTY });
    const idle = await Promise.all(Array.from({ length: 10 }, () => Connection.open(server.port)));
    const bodies = [{ current_session: { age: BAD_AGES.lags } }, { ...requestBody(2, 1), explain: true }].map(
      (body) => JSON.stringify(body),
    );
    const answers = bodies.map((body) => server.predict(body));
    while ((await server.metric('acuity_request_body_bytes_total')) < bodies.join('').length);
    server.signal('SIGINT');
    for (const { status, headers } of await Promise.all(answers)) {
      t.equal(status, 200);
      t.equal(headers.get('connection'), 'close');
    }
    t.strictSame(await server.exited, CLEAN);
    await Promise.all(idle.map((connection) => connection.closed()));
  },
);
