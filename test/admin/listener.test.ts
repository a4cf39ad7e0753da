import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import t, { type Test } from 'tap';
import { manualClock } from '#acuity/base/clock.js';
import { MetricReader } from '#acuity/base/metrics.js';
import { METRICS, allocateLoopMetrics } from '#acuity/contract/metrics.js';
import { listenAdmin } from '#acuity/admin/listener.js';
import { Dashboard } from '#acuity/admin/dashboard.js';
import { TimeSeries } from '#acuity/admin/timeSeries.js';

async function scene(
  t: Test,
  { isReady = (): boolean => true, text = () => Promise.resolve('up 1\n') } = {},
) {
  const reader = new MetricReader(METRICS, [allocateLoopMetrics()]);
  const timeSeries = new TimeSeries({ reader, clock: manualClock(), workers: 1, rssBytes: () => 1 });
  const dashboard = new Dashboard({
    timeSeries,
    isReady,
    modelVersion: () => '1.2.3',
    version: '0.0.0',
    startedMs: 0,
    settings: [{ name: 'ACUITY_KEYS', value: 'redis://user:***@host', meaning: 'Key store' }],
    batchMax: 32,
    deadlineMs: 1000,
  });
  const metrics = { contentType: 'text/plain; version=0.0.4', text };
  const admin = await listenAdmin({ host: '127.0.0.1', port: 0, isReady, metrics, dashboard });
  t.teardown(() => admin.close());
  return {
    admin,
    dashboard,
    timeSeries,
    get: (path: string, method = 'GET') => ask(admin.port, path, method),
  };
}

interface Answer {
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

async function open(port: number, path: string, method = 'GET'): Promise<IncomingMessage> {
  const sent = request({ port, host: '127.0.0.1', path, method, agent: false }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response.setEncoding('utf8');
}

async function ask(port: number, path: string, method: string): Promise<Answer> {
  const response = await open(port, path, method);
  let body = '';
  response.on('data', (piece: string) => (body += piece));
  await once(response, 'end');
  const { statusCode: status, headers } = response;
  return { status, type: headers['content-type'], headers, body };
}

t.test('alive is alive; ready says whether requests are taken', async (t) => {
  let ready = false;
  const { get } = await scene(t, { isReady: () => ready });
  t.match(await get('/healthz'), { status: 200, body: '{"status":"alive"}' });
  t.match(await get('/readyz'), { status: 503, body: '{"status":"not ready"}' });
  ready = true;
  t.match(await get('/readyz?verbose'), { status: 200, body: '{"status":"ready"}' });
});

t.test('metrics come with their own type', async (t) => {
  const { get } = await scene(t);
  t.match(await get('/metrics'), { status: 200, type: 'text/plain; version=0.0.4', body: 'up 1\n' });
});

t.test('what goes wrong while somebody looks is told there and ends nothing', async (t) => {
  const failing = {
    text: () => Promise.reject<string>(new Error('no numbers')),
    isReady: () => JSON.parse('{') as boolean,
  };
  const { get } = await scene(t, failing);
  t.match(await get('/metrics'), { status: 500, body: '{"detail":"no numbers"}' });
  t.equal((await get('/readyz')).status, 500);
  t.equal((await get('/healthz')).status, 200);
});

t.test('the page and everything it is made of come from here, under a strict policy', async (t) => {
  const { get } = await scene(t);
  const page = await get('/');
  t.match(page, { status: 200, type: /^text\/html/ });
  const linked = [...page.body.matchAll(/(?:src|href)="(dashboard\/[^"]+)"/g)].map(([, path]) => path ?? '');
  t.ok(linked.length >= 3);
  for (const path of [...linked, 'dashboard/uplot.js']) {
    t.match(await get(`/${path}`), { status: 200, headers: { 'x-content-type-options': 'nosniff' } }, path);
  }
  const policy = String(page.headers['content-security-policy']);
  t.match(policy, /^default-src 'none'; /);
  t.notMatch(policy, /unsafe|https?:|\*/);
  t.notMatch(
    page.body,
    /<script>|<style| style=| on\w+=|https?:\/\//,
    'nothing inline, nothing from elsewhere',
  );
});

t.test('nothing but reading, and nothing but what is listed', async (t) => {
  const { get } = await scene(t);
  for (const method of ['POST', 'PUT', 'DELETE']) t.equal((await get('/metrics', method)).status, 405);
  for (const path of [
    '/predict',
    '/dashboard/',
    '/dashboard/../package.json',
    '/%2e%2e/package.json',
    '/x',
  ]) {
    t.match(await get(path), { status: 404, body: '{"detail":"Not Found"}' }, path);
  }
  t.match(await get('/', 'HEAD'), { status: 200, body: '' });
  t.match(await get('/events', 'HEAD'), { status: 200, body: '' });
});

t.test('a viewer is told everything once, then a point a second', async (t) => {
  const { admin, dashboard, timeSeries } = await scene(t);
  timeSeries.sample();
  const feed = await open(admin.port, '/events');
  t.equal(feed.headers['content-type'], 'text/event-stream');
  let text = '';
  while (!text.includes('event: point')) text += String((await once(feed, 'data'))[0]);
  const [start = '', point = ''] = text.split('\n\n');
  const everything = JSON.parse(start.slice(start.indexOf('{'))) as Record<string, unknown>;
  t.match(everything, {
    model: '1.2.3',
    ready: true,
    red: [],
    settings: [{ name: 'ACUITY_KEYS', value: 'redis://user:***@host' }],
    causes: [{ cause: 'notFound', status: 404 }],
  });
  t.ok(Array.isArray(everything['points']) && everything['points'].length >= 1);
  t.match(JSON.parse(point.slice(point.indexOf('{'))), { point: { served: 0 }, model: '1.2.3' });
  t.equal(dashboard.viewerCount, 1);
  feed.destroy();
});

t.test('viewers are several, bounded, and forgotten when they leave', async (t) => {
  const { admin, dashboard, get } = await scene(t);
  const viewers = await Promise.all(Array.from({ length: 32 }, () => open(admin.port, '/events')));
  t.equal(dashboard.viewerCount, 32);
  t.match(await get('/events'), { status: 503, body: '{"detail":"Too many viewers"}' });
  for (const viewer of viewers) viewer.destroy();
  while (dashboard.viewerCount > 0) await new Promise((resolve) => setImmediate(resolve));
  t.pass('all are forgotten');
});
