import { randomBytes } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { createKey } from '#acuity/auth/key.js';
import { metricsOf, valueOf, type Series } from '../fixtures/promtool.js';
import { requestBody } from '../fixtures/bodies.js';
import { Connection, head, send, sendMany } from '../fixtures/connection.js';
import { CLEAN, startServer, type RunningServer } from '../fixtures/server.js';
import { loopsOf } from '../fixtures/stops.js';
import { listening, until } from '../fixtures/until.js';

/**
 * What a running service tells of its requests in metrics, log and traces: what was sent is what is counted, and no
 * value and no key is in any of them. Which request is traced, and its stages, are the matter of test/http/requestTracer.
 */

const SCORED = 200;
const LOOPS = 2;

/** Its base address, and everything that was sent: protobuf, in which texts and ids stand as they are. */
async function startCollector(t: Test) {
  const sent: Buffer[] = [];
  const server = createHttpServer(async (request, response) => {
    const isOurs = request.method === 'POST' && request.url === '/v1/traces';
    sent.push(Buffer.concat(await request.toArray()));
    response.writeHead(isOurs ? 200 : 404, { 'Content-Type': 'application/x-protobuf' }).end();
  });
  const port = await listening(t, server);
  return { url: `http://127.0.0.1:${port}`, sent: () => Buffer.concat(sent) };
}

function context(flags = '01') {
  const traceId = randomBytes(16);
  const traceparent = `00-${traceId.toString('hex')}-${randomBytes(8).toString('hex')}-${flags}`;
  return { traceId, headers: { traceparent } };
}

const collector = await startCollector(t);
const server = await startServer(t, {
  env: {
    ...loopsOf(LOOPS),
    ACUITY_LOG_LEVEL: 'trace',
    ACUITY_ACCESS_LOG_EVERY: '1',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SERVICE_NAME: 'scores',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  },
  keys: [{ kind: 'demo', expiresAt: '2020-01-01T00:00:00.000Z' }],
});
const [, expired] = server.keys;
if (expired === undefined) throw new Error('two keys were ordered');
const KEYED = { 'X-API-Key': server.key };
const scrape = (): Promise<Series[]> => metricsOf(server.adminPort);

/** An event loop counts an answer after it has sent it: until all are counted, or a minute has passed. */
async function untilCounted(count: number, name: string, labels = {}): Promise<void> {
  await until(async () => valueOf(await scrape(), name, labels) >= count);
}

async function ask(body: string, headers: Readonly<Record<string, string>> = KEYED): Promise<number> {
  return (await send(server.port, { headers, body })).status;
}

t.test('counts of scored requests equal the load, in every stage', async (t) => {
  const rowsBefore = valueOf(await scrape(), 'acuity_batch_rows_sum'); // the golden requests
  for (const body of [0, 5].map((past) => JSON.stringify(requestBody(past))))
    t.strictSame(new Set(await sendMany(server.port, { headers: KEYED, body }, SCORED)), new Set([200]));
  await untilCounted(2 * SCORED, 'acuity_stage_seconds_count', { stage: 'total' }); // the last of a request
  const series = await scrape();
  t.equal(valueOf(series, 'acuity_requests_total'), 2 * SCORED);
  t.equal(valueOf(series, 'acuity_requests_total', { status: '200', key: 'live' }), 2 * SCORED);
  for (const stage of ['receive', 'read', 'queue', 'dispatch', 'infer', 'reply', 'total'])
    t.equal(valueOf(series, 'acuity_stage_seconds_count', { stage }), 2 * SCORED, stage);
  t.equal(valueOf(series, 'acuity_batch_rows_sum') - rowsBefore, 2 * SCORED);
  t.equal(valueOf(series, 'acuity_refusals_total'), 0);
  const sampled = valueOf(series, 'acuity_sessions_sampled_total');
  t.ok(sampled >= 2 * Math.floor(SCORED / 16) && sampled <= (2 * SCORED) / 16 + LOOPS);
  t.equal(valueOf(series, 'acuity_fields_missing_total'), 0);
  t.equal(valueOf(series, 'acuity_ready'), 1);
  t.equal(valueOf(series, 'acuity_workers'), LOOPS);
  t.equal(series.filter(({ name }) => name === 'acuity_event_loop_busy_seconds_total').length, LOOPS);
  t.ok(valueOf(series, 'process_resident_memory_bytes') > 1e7);
});

/** Values that occur nowhere by chance: any part of a body that leaks contains one of them. */
const MARKED = {
  HR_night: Array(30).fill(61.73291),
  RR_night: Array(30).fill(14.91837),
  age: 43.71913,
  height_cm: 171.83917,
  weight_kg: 67.19283,
  sleepTimeSeconds: 23_917,
  note: 'marker_a8f3',
};
const MARKERS = [61.73291, 14.91837, 43.71913, 171.83917, 67.19283, 'marker_a8f3', 23_917, 'acu1.'].map(
  String,
);

function markedBody(past: number): string {
  const { current_session, past_sessions, ...body } = requestBody(past);
  return JSON.stringify({
    ...body,
    current_session: { ...current_session, ...MARKED },
    ...(past_sessions && { past_sessions: past_sessions.map((one) => ({ ...one, ...MARKED })) }),
  });
}

/** Everything that a caller may do, right and wrong, with markers in all of it. */
async function exercise(refused: readonly string[]): Promise<number[]> {
  const good = markedBody(2);
  const begun = JSON.stringify({ ...(JSON.parse(markedBody(0)) as object), history: '' });
  const answer = await send(server.port, { headers: KEYED, body: begun });
  const { history } = JSON.parse(answer.body) as { history: string };
  const bodies = [
    good,
    markedBody(0),
    good.slice(0, -10),
    good.replace('"age":43.71913', '"age":-43.71913'),
    good.replaceAll('61.73291', '"61.73291"'),
    good.replaceAll('61.73291', '6173.291'),
    good.replaceAll('"marker_a8f3"', '"marker_a8f3'),
    `{"marker_a8f3":${good}}`,
    begun.replace('"history":""', `"history":"${history}"`),
    begun.replace('"history":""', `"history":"${history.slice(0, -1)}"`),
    begun.replace('"history":""', `"history":"${history}","night":"marker_a8f3"`),
  ];
  const heads = [
    {},
    ...refused.map((key) => ({ 'X-API-Key': key })),
    { ...KEYED, 'Content-Type': 'text/marker_a8f3' },
    { ...KEYED, 'X-Request-Id': `?marker_a8f3 ${server.key}` },
  ];
  const statuses: number[] = [];
  for (const body of bodies) statuses.push(await ask(body));
  for (const headers of heads) statuses.push(await ask(good, headers));
  const target = `/predict/${server.key}?marker_a8f3`;
  statuses.push((await send(server.port, { target, body: good })).status);
  return statuses;
}

t.test('no value and no key is in log, metrics and traces; what is sampled is traced, no more', async (t) => {
  const refused = [expired.key, createKey('live'), 'sk_live_notWhole', 'sk_demo_'];
  const statuses = await exercise(refused);
  t.strictSame([...new Set(statuses)].toSorted(), [200, 400, 401, 403, 404, 415, 422]);

  const traced = [context(), context(), context()];
  const [scored = context(), unprocessable = context(), gone = context()] = traced;
  t.equal(await ask(markedBody(0), { ...KEYED, ...scored.headers, 'X-Request-Id': 'mine' }), 200);
  t.equal(await ask('{"current_session":{"age":900}}', { ...KEYED, ...unprocessable.headers }), 422);
  // A caller that hangs up in the middle of its body is counted as gone, not as answered.
  const answered = 2 * SCORED + statuses.length + 3; // the load, the exercise with its history, and these two
  await untilCounted(answered, 'acuity_requests_total');
  const connection = await Connection.open(server.port);
  await connection.write(`${head({ headers: { ...KEYED, 'Content-Length': '500', ...gone.headers } })}{`);
  connection.destroy();
  while (valueOf(await scrape(), 'acuity_callers_gone_total') === 0);
  t.equal(valueOf(await scrape(), 'acuity_requests_total'), answered);
  // Without a valid key the sampled flag has no effect.
  const untraced = [context(), context('00')];
  const [keyless = context(), unsampled = context()] = untraced;
  t.equal(await ask('{}', { 'X-API-Key': 'sk_live_nonsense', ...keyless.headers }), 403);
  t.equal(await ask(markedBody(0), { ...KEYED, ...unsampled.headers }), 200);

  const pages = await Promise.all(['/metrics', '/healthz', '/readyz'].map((target) => server.get(target)));
  t.notMatch(pages[0]?.body, /sk_|NaN/);
  t.strictSame(await server.stop(), CLEAN, 'the stop sends the traces that are left');
  const sent = collector.sent();
  for (const { traceId } of traced) t.ok(sent.includes(traceId), 'its trace is continued');
  for (const { traceId } of untraced) t.notOk(sent.includes(traceId));
  const told =
    'POST /predict,http.response.status_code,http.route,acuity.key.kind,acuity.request_id,mine,acuity.batch.rows,scores,' +
    'service.version,service.instance.id,deployment.environment.name,receive,read,queue,dispatch,infer,reply,' +
    'acuity.refusal.cause,unprocessable,error.type,hung_up';
  for (const text of told.split(',')) t.ok(sent.includes(text), text);
  for (const text of ['"msg":"request served"', '"msg":"request refused"']) t.match(server.output(), text);

  const all = server.output() + pages.map(({ body }) => body).join('\n') + sent.toString('latin1');
  for (const marker of MARKERS) t.notOk(all.includes(marker), marker);
  const double = Buffer.alloc(8);
  double.writeDoubleLE(MARKED.HR_night[0] as number);
  for (const bytes of [double, Buffer.from(double).swap64()]) t.notOk(sent.includes(bytes), 'a sample');
  for (const key of [server.key, ...refused.slice(0, 3)]) {
    t.notOk(all.includes(key), 'a key');
    t.notOk(all.includes(key.slice(8, 40)), 'the secret of a key');
  }
});

t.test(
  'a collector that is not there, or says nothing, holds nothing up; disabled, nothing is sent',
  async (t) => {
    const before = collector.sent().length;
    const sockets = new Set<Socket>();
    const silent = await listening(
      t,
      createServer((socket) => void sockets.add(socket)),
    );
    t.teardown(() => sockets.forEach((socket) => socket.destroy()));
    const endpoint = (url: string) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
    const envs = [
      endpoint(`http://127.0.0.1:${silent}`),
      endpoint('http://127.0.0.1:1'),
      { ...endpoint(collector.url), OTEL_SDK_DISABLED: 'true' },
    ];
    const tried = envs.map(async (env): Promise<RunningServer> => {
      const other = await startServer(t, { env });
      const headers = { 'X-API-Key': other.key, ...context().headers };
      for (let request = 0; request < 20; request++)
        t.equal((await send(other.port, { headers, body: markedBody(0) })).status, 200);
      t.strictSame(await other.stop(), CLEAN);
      return other;
    });
    const [, absent] = await Promise.all(tried);
    t.match(absent?.output(), /traces are not sent/);
    t.equal(collector.sent().length, before);
  },
);
