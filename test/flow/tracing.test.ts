import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { requestBody } from '../fixtures/bodies.js';
import { Connection, head, send } from '../fixtures/connection.js';
import { startServer, type RunningServer } from '../fixtures/server.js';
import { loopsOf } from '../fixtures/stops.js';

/** Traces of a running service; which request is traced, and its stages, are the matter of test/http/requestTracer. */

const MARKED = 61.73291;

interface Context {
  readonly traceId: string;
  readonly header: string;
}

function context(flags = '01'): Context {
  const traceId = randomBytes(16).toString('hex');
  return { traceId, header: `00-${traceId}-${randomBytes(8).toString('hex')}-${flags}` };
}

const BODY = JSON.stringify({
  current_session: { ...requestBody().current_session, HR_night: Array(30).fill(MARKED) },
});

interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly target?: string;
}

async function ask({ port, key }: RunningServer, traceparent: string, asked: Asked = {}): Promise<number> {
  const { headers = {}, body = BODY, target = '/predict' } = asked;
  const own = { 'X-API-Key': key, traceparent, ...headers };
  return (await send(port, { headers: own, body, target })).status;
}

interface Collector {
  /** The base address, as `OTEL_EXPORTER_OTLP_ENDPOINT` names it. */
  readonly url: string;
  /** Everything that was sent: protobuf, in which texts and ids stand as they are. */
  sent(): Buffer;
}

async function startCollector(t: Test): Promise<Collector> {
  const sent: Buffer[] = [];
  const server = createHttpServer(async (request, response) => {
    const isOurs = request.method === 'POST' && request.url === '/v1/traces';
    sent.push(Buffer.concat(await request.toArray()));
    response.writeHead(isOurs ? 200 : 404, { 'Content-Type': 'application/x-protobuf' }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, sent: () => Buffer.concat(sent) };
}

t.test('sampled requests are traced, no others, and nothing of their content', async (t) => {
  const collector = await startCollector(t);
  const server = await startServer(t, {
    env: {
      ...loopsOf(2),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: 'scores',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    },
  });
  const traced = [context(), context(), context()];
  const [scored = context(), refused = context(), gone = context()] = traced;
  t.equal(await ask(server, scored.header, { headers: { 'X-Request-Id': 'mine' } }), 200);
  t.equal(await ask(server, refused.header, { body: '{"current_session":{"age":900}}' }), 422);
  // A caller that hangs up in the middle of its body.
  const connection = await Connection.open(server.port);
  const headers = { 'X-API-Key': server.key, 'Content-Length': '500', traceparent: gone.header };
  await connection.write(`${head({ headers })}{`);
  connection.destroy();
  // Without a valid key the sampled flag has no effect.
  const untraced = [context(), context(), context('00')];
  const [keyless = context(), elsewhere = context(), unsampled = context()] = untraced;
  t.equal(await ask(server, keyless.header, { headers: { 'X-API-Key': 'sk_live_nonsense' } }), 403);
  t.equal(await ask(server, elsewhere.header, { target: '/elsewhere/secret' }), 404);
  t.equal(await ask(server, unsampled.header), 200);
  server.signal('SIGTERM');
  t.equal((await server.exited).code, 0, 'the stop sends what is left');

  const sent = collector.sent();
  for (const { traceId } of traced)
    t.ok(sent.includes(Buffer.from(traceId, 'hex')), 'its trace is continued');
  for (const { traceId } of untraced) t.notOk(sent.includes(Buffer.from(traceId, 'hex')));
  const told =
    'POST /predict,http.response.status_code,http.route,acuity.key.kind,acuity.request_id,mine,acuity.batch.rows,scores,' +
    'service.version,service.instance.id,deployment.environment.name,receive,read,queue,dispatch,infer,reply,' +
    'acuity.refusal.cause,unprocessable,error.type,hung_up';
  for (const text of told.split(',')) t.ok(sent.includes(text), text);
  const doubles = [Buffer.alloc(8), Buffer.alloc(8)];
  doubles[0]?.writeDoubleLE(MARKED);
  doubles[1]?.writeDoubleBE(MARKED);
  for (const secret of [server.key, server.keys[0]?.id ?? '', String(MARKED), '/elsewhere', ...doubles])
    t.notOk(sent.includes(secret), 'no key, no sample, no path of the caller’s');
});

t.test('a collector that takes connections and says nothing holds nothing up', async (t) => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.teardown(() => {
    silent.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = silent.address() as AddressInfo;
  const server = await startServer(t, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` } });
  const statuses = await Promise.all(Array.from({ length: 100 }, () => ask(server, context().header)));
  t.ok(statuses.every((status) => status === 200));
  server.signal('SIGTERM');
  t.strictSame(await server.exited, { code: 0, signal: null });
});

t.test('without a collector, and where the SDK is disabled, nothing is sent', async (t) => {
  const collector = await startCollector(t);
  const off = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SDK_DISABLED: 'true' };
  const absent = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:1/v1/traces' };
  const [disabled, unreachable] = await Promise.all([off, absent].map((env) => startServer(t, { env })));
  if (disabled === undefined || unreachable === undefined) throw new Error('two servers');
  for (const server of [disabled, unreachable]) {
    t.equal(await ask(server, context().header), 200);
    server.signal('SIGTERM');
    t.equal((await server.exited).code, 0);
  }
  t.equal(collector.sent().length, 0);
  t.match(unreachable.output(), /traces are not sent/);
  t.notMatch(disabled.output(), /traces/);
});
