import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { requestBody } from '../fixtures/bodies.js';
import { Connection, head, send } from '../fixtures/connection.js';
import { startServer, type RunningServer } from '../fixtures/server.js';

const STAGES = ['receive', 'read', 'queue', 'dispatch', 'infer', 'reply'];
const ERROR = 2;
/** In nanoseconds a span is rounded. */
const ROUNDING_MS = 0.001;
/** The caller may have its answer before the server has the core again to look at its clock. */
const CLOCK_MS = 1000;
const MARKED = 61.73291;

interface Context {
  readonly traceId: string;
  readonly spanId: string;
  readonly header: string;
}

function context(flags = '01'): Context {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, header: `00-${traceId}-${spanId}-${flags}` };
}

function bodyOf(past: number): string {
  const body = requestBody(past);
  return JSON.stringify({
    ...body,
    current_session: { ...body.current_session, HR_night: Array(30).fill(MARKED) },
  });
}

interface Asked {
  readonly traceparent: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly target?: string;
}

async function ask({ port, key }: RunningServer, asked: Asked): Promise<number> {
  const { traceparent, headers = {}, body = bodyOf(2), target = '/predict' } = asked;
  const own = { 'X-API-Key': key, traceparent, ...headers };
  return (await send(port, { headers: own, body, target })).status;
}

t.test('sampled requests are traced, no others', async (t) => {
  const collector = await startCollector(t);
  const server = await startServer(t, {
    env: {
      ACUITY_HTTP_THREADS: '2',
      ACUITY_WORKERS: '2',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: 'scores',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    },
  });
  const scored = context();
  const beforeMs = Date.now();
  t.equal(await ask(server, { traceparent: scored.header, headers: { 'X-Request-Id': 'mine' } }), 200);
  const afterMs = Date.now();
  const refused: readonly (readonly [Context, string, number, Partial<Asked>])[] = [
    [context(), 'unprocessable', 422, { body: '{"current_session":{"age":900}}' }],
    [context(), 'malformed', 400, { body: '{' }],
  ];
  // Without a valid key the sampled flag has no effect.
  for (const asked of [{ headers: { 'X-API-Key': 'sk_live_nonsense' } }, { target: '/elsewhere/secret' }])
    t.notOk((await ask(server, { traceparent: context().header, ...asked })) === 200);
  for (const [{ header }, cause, status, asked] of refused)
    t.equal(await ask(server, { traceparent: header, ...asked }), status, cause);
  // A caller that hangs up in the middle of its body.
  const gone = context();
  const connection = await Connection.open(server.port);
  const headers = { 'X-API-Key': server.key, 'Content-Length': '500', traceparent: gone.header };
  await connection.write(`${head({ headers })}{`);
  connection.destroy();
  for (const traceparent of ['', context('00').header, `${context().header}-more`, 'nonsense'])
    t.equal(await ask(server, { traceparent }), 200);
  server.signal('SIGTERM');
  t.equal((await server.exited).code, 0);

  const servers = collector.spans.filter(({ kind }) => kind === SERVER);
  const ofTrace = (wanted: Context): CollectedSpan | undefined =>
    servers.find(({ traceId, parentId }) => traceId === wanted.traceId && parentId === wanted.spanId);
  t.equal(servers.length, refused.length + 2, 'the stop sends what is left, and nothing else is traced');

  const span = ofTrace(scored);
  t.match(span, {
    name: 'POST /predict',
    statusCode: 0,
    attributes: {
      'http.response.status_code': 200,
      'http.route': '/predict',
      'acuity.key.kind': 'live',
      'acuity.request_id': 'mine',
      'acuity.batch.rows': 1,
    },
    resource: {
      'service.name': 'scores',
      'service.version': /\d/,
      'service.instance.id': new RegExp(`-${server.pid}$`),
      'deployment.environment.name': 'test',
    },
  });
  const { startMs = NaN, endMs = NaN, spanId } = span ?? {};
  t.ok(startMs >= beforeMs - CLOCK_MS && endMs <= afterMs + CLOCK_MS, 'within what the caller saw');
  const stages = collector.spans.filter(({ parentId }) => parentId === spanId);
  t.strictSame(
    stages.map(({ name }) => name),
    STAGES,
  );
  let atMs = startMs;
  for (const stage of stages) {
    t.ok(Math.abs(stage.startMs - atMs) < ROUNDING_MS, `${stage.name} begins where the one before ends`);
    atMs = stage.endMs;
  }
  t.ok(Math.abs(atMs - endMs) < ROUNDING_MS, 'the last one ends with the request');

  for (const [wanted, cause, status] of refused) {
    const { attributes, statusCode } = ofTrace(wanted) ?? {};
    t.match(attributes, { 'http.response.status_code': status, 'acuity.refusal.cause': cause });
    t.equal(statusCode, 0, 'what a caller does wrong is no error of ours');
  }
  t.match(ofTrace(gone), { statusCode: ERROR, attributes: { 'error.type': 'hung_up' } });

  const sent = Buffer.concat(collector.sent);
  const doubles = [Buffer.alloc(8), Buffer.alloc(8)];
  doubles[0]?.writeDoubleLE(MARKED);
  doubles[1]?.writeDoubleBE(MARKED);
  for (const secret of [server.key, server.keys[0]?.id ?? '', String(MARKED), '/elsewhere', ...doubles])
    t.notOk(sent.includes(secret), 'no key, no sample, no path of the caller’s');
});

/** As OTLP numbers it. */
const SERVER = 2;

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
  const statuses = await Promise.all(
    Array.from({ length: 300 }, () => ask(server, { traceparent: context().header, body: bodyOf(0) })),
  );
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
    t.equal(await ask(server, { traceparent: context().header }), 200);
    server.signal('SIGTERM');
    t.equal((await server.exited).code, 0);
  }
  t.equal(collector.sent.length, 0);
  t.match(unreachable.output(), /traces are not sent/);
  t.notMatch(disabled.output(), /traces/);
});

/** A collector of traces: OTLP over HTTP in protobuf, as far as the service sends it. */

type Attributes = Readonly<Record<string, string | number>>;

interface Collector {
  /** The base address, as `OTEL_EXPORTER_OTLP_ENDPOINT` names it. */
  readonly url: string;
  /** All spans so far. */
  readonly spans: CollectedSpan[];
  /** Everything that was sent, as it came. */
  readonly sent: Buffer[];
}

async function startCollector(t: Test): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const sent: Buffer[] = [];
  const server = createHttpServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    sent.push(body);
    const isOurs = request.method === 'POST' && request.url === '/v1/traces';
    if (isOurs) spans.push(...spansIn(body));
    response.writeHead(isOurs ? 200 : 404, { 'Content-Type': 'application/x-protobuf' }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, spans, sent };
}

/** Times in milliseconds since 1970; no parent at the root of a trace. opentelemetry/proto/trace/v1/trace.proto */
type CollectedSpan = ReturnType<typeof spanOf>;

function spansIn(body: Buffer): CollectedSpan[] {
  return all(body, 1).flatMap((ofResource) => {
    const resource = attributesOf(bytes(ofResource, 1), 1);
    return all(ofResource, 2)
      .flatMap((ofScope) => all(ofScope, 2))
      .map((span) => spanOf(span, resource));
  });
}

function spanOf(span: Buffer, resource: Attributes) {
  return {
    traceId: bytes(span, 1).toString('hex'),
    spanId: bytes(span, 2).toString('hex'),
    parentId: bytes(span, 4).toString('hex'),
    name: bytes(span, 5).toString(),
    kind: number(span, 6),
    startMs: number(span, 7) / 1e6,
    endMs: number(span, 8) / 1e6,
    attributes: attributesOf(span, 9),
    statusCode: number(bytes(span, 15), 3),
    resource,
  };
}

function attributesOf(message: Buffer, field: number): Attributes {
  const pairs = all(message, field).map((pair) => {
    const value = bytes(pair, 2);
    const isText = fieldsOf(value).some(([key]) => key === 1);
    return [bytes(pair, 1).toString(), isText ? bytes(value, 1).toString() : number(value, 3)] as const;
  });
  return Object.fromEntries(pairs);
}

const all = (message: Buffer, wanted: number): Buffer[] =>
  fieldsOf(message).flatMap(([field, value]) =>
    field === wanted && typeof value !== 'number' ? [value] : [],
  );
const bytes = (message: Buffer, wanted: number): Buffer => all(message, wanted)[0] ?? Buffer.alloc(0);
const number = (message: Buffer, wanted: number): number =>
  Number(fieldsOf(message).find(([field]) => field === wanted)?.[1] ?? 0);

/** Protobuf's wire format: a key of field and form, then a number or bytes as the form says. */
function fieldsOf(message: Buffer): (readonly [field: number, value: Buffer | number])[] {
  const fields: (readonly [number, Buffer | number])[] = [];
  let at = 0;
  const varint = (): number => {
    for (let value = 0, unit = 1; ; unit *= 128) {
      const byte = message.readUInt8(at++);
      value += unit * (byte & 127);
      if (byte < 128) return value;
    }
  };
  const take = (length: number): Buffer => message.subarray(at, (at += length));
  const forms = [varint, () => Number(take(8).readBigUInt64LE()), () => take(varint())];
  forms[5] = () => take(4).readUInt32LE();
  while (at < message.length) {
    const key = varint();
    fields.push([key >> 3, forms[key & 7]?.() ?? 0]);
  }
  return fields;
}
