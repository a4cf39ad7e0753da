import t from 'tap';
import { requestBody, session } from '../fixtures/bodies.js';
import { Connection, head, send, sendOn } from '../fixtures/connection.js';
import { parseMetrics, valueOf, type Series } from '../fixtures/promtool.js';
import { startServer, type RunningServer } from '../fixtures/server.js';

/** Metrics of a running server: what was sent is what is counted. */

const SCORED = 200;
const CALLERS = 8;

async function metricsText({ adminPort }: RunningServer): Promise<string> {
  return (await send(adminPort, { method: 'GET', target: '/metrics', headers: { Connection: 'close' } }))
    .body;
}

async function scrape(server: RunningServer): Promise<Series[]> {
  return parseMetrics(await metricsText(server));
}

/** Sends `count` requests over a few connections at once; returns the statuses. */
async function load(server: RunningServer, count: number, body: string, key = server.key): Promise<number[]> {
  const statuses: number[] = [];
  let left = count;
  const caller = async (): Promise<void> => {
    const connection = await Connection.open(server.port);
    while (left-- > 0)
      statuses.push((await sendOn(connection, { headers: { 'X-API-Key': key }, body })).status);
    connection.destroy();
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return statuses;
}

const LOOPS = 2;

t.test('what was sent is what is counted', async (t) => {
  const server = await startServer(t, {
    env: { ACUITY_HTTP_THREADS: String(LOOPS), ACUITY_WORKERS: '2', ACUITY_LOG_LEVEL: 'fatal' },
    keys: [{ kind: 'demo', ratePerS: 1, dailyMax: null }],
  });
  const [, demo] = server.keys;
  if (demo === undefined) throw new Error('two keys were ordered');
  const rowsBefore = valueOf(await scrape(server), 'acuity_batch_rows_sum'); // the golden requests

  await t.test('counts of scored requests equal the load, in every stage', async (t) => {
    const statuses = await load(server, SCORED, JSON.stringify(requestBody(0)));
    statuses.push(...(await load(server, SCORED, JSON.stringify(requestBody(5)))));
    t.ok(statuses.every((status) => status === 200));
    const series = await scrape(server);
    t.equal(valueOf(series, 'acuity_requests_total'), 2 * SCORED);
    t.equal(valueOf(series, 'acuity_requests_total', { status: '200', key: 'live' }), 2 * SCORED);
    for (const stage of ['receive', 'read', 'queue', 'dispatch', 'infer', 'reply', 'total']) {
      t.equal(valueOf(series, 'acuity_stage_seconds_count', { stage }), 2 * SCORED, stage);
    }
    t.equal(valueOf(series, 'acuity_batch_rows_sum') - rowsBefore, 2 * SCORED);
    t.equal(valueOf(series, 'acuity_refusals_total'), 0);
    const sampled = valueOf(series, 'acuity_sessions_sampled_total');
    t.ok(sampled >= 2 * Math.floor(SCORED / 16) && sampled <= (2 * SCORED) / 16 + LOOPS);
    t.equal(valueOf(series, 'acuity_fields_missing_total'), 0);
  });

  await t.test('each refusal has its cause, its status and the kind of its key', async (t) => {
    const before = await scrape(server);
    const body = '{"current_session":{}}';
    const ask = (key: string, sent: string): Promise<unknown> =>
      send(server.port, { headers: key === '' ? {} : { 'X-API-Key': key }, body: sent });
    await ask('', body);
    await ask('sk_live_nonsense', body);
    await ask('sk_live_nonsense', body);
    await ask(server.key, '{');
    await ask(server.key, JSON.stringify({ current_session: { ...session(), age: 500, sex: 'X' } }));
    await send(server.port, { target: '/elsewhere' });
    for (let sent = 0; sent < 5; sent++) await ask(demo.key, body);
    const after = await scrape(server);
    const grown = (name: string, labels: Record<string, string>): number =>
      valueOf(after, name, labels) - valueOf(before, name, labels);
    const causes = {
      keyMissing: 1,
      keyInvalid: 2,
      malformed: 1,
      unprocessable: 1,
      notFound: 1,
      rateBurst: 3,
    };
    for (const [cause, count] of Object.entries(causes)) {
      t.equal(grown('acuity_refusals_total', { cause }), count, cause);
    }
    t.equal(grown('acuity_refusals_total', {}), 9);
    t.equal(grown('acuity_requests_total', { status: '401', key: 'none' }), 1);
    t.equal(grown('acuity_requests_total', { status: '403', key: 'none' }), 2);
    t.equal(grown('acuity_requests_total', { status: '422', key: 'live' }), 1);
    t.equal(grown('acuity_requests_total', { status: '429', key: 'demo' }), 3);
    t.equal(grown('acuity_requests_total', { status: '200', key: 'demo' }), 2);
    t.equal(grown('acuity_findings_total', { type: 'less_than_equal' }), 1);
    t.equal(grown('acuity_findings_total', { type: 'literal_error' }), 1);
  });

  await t.test('a caller that hangs up is counted as gone, not as answered', async (t) => {
    const before = await scrape(server);
    const connection = await Connection.open(server.port);
    await connection.write(head({ headers: { 'X-API-Key': server.key, 'Content-Length': '100' } }));
    connection.destroy();
    const gone = async (): Promise<number> => valueOf(await scrape(server), 'acuity_callers_gone_total');
    while ((await gone()) === 0) await new Promise((resolve) => setImmediate(resolve));
    const answered = (series: readonly Series[]): number => valueOf(series, 'acuity_requests_total');
    t.equal(answered(await scrape(server)), answered(before));
  });

  await t.test('the metrics describe the process, and show no key', async (t) => {
    const text = await metricsText(server);
    const series = parseMetrics(text);
    t.equal(valueOf(series, 'acuity_ready'), 1);
    t.equal(valueOf(series, 'acuity_workers'), 2);
    t.equal(series.filter(({ name }) => name === 'acuity_event_loop_busy_seconds_total').length, LOOPS);
    t.ok(valueOf(series, 'process_resident_memory_bytes') > 1e7);
    t.equal(valueOf(series, 'acuity_worker_restarts_total'), 0);
    for (const { key, id } of server.keys) t.notOk(text.includes(key) || text.includes(id));
    t.notMatch(text, /sk_|NaN/);
  });
});
