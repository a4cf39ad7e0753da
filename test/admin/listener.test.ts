import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { allocateHeartbeats, Heartbeats } from '#acuity/base/heartbeats.js';
import { defaultConfig } from '#acuity/config/options.js';
import { allocateLoopMetrics } from '#acuity/contract/metrics.js';
import { openAdmin } from '#acuity/serve/adminListener.js';
import { ask, listen, open, READY } from '../fixtures/adminScene.js';
import { Connection, exchange } from '../fixtures/connection.js';
import { until } from '../fixtures/until.js';

t.test('alive is alive; ready says whether requests are taken', async (t) => {
  const { state, get } = await listen(t);
  state.isReady = false;
  t.match(await get('/healthz'), { status: 200, body: '{"status":"alive"}' });
  t.match(await get('/readyz'), { status: 503, body: '{"status":"not ready"}' });
  state.isReady = true;
  t.match(await get('/readyz?verbose'), { status: 200, body: '{"status":"ready"}' });
  state.isStoreEmpty = true;
  t.match(await get('/readyz'), { status: 200, body: '{"status":"ready, but the key store is empty"}' });
  state.isStoreEmpty = false;
  state.keyStoreAgeMs = 60_000;
  t.match(await get('/readyz'), {
    status: 200,
    body: '{"status":"ready, but the key store is out of reach"}',
  });
  t.equal((await get('/readyz', 'POST')).status, 405);
});

/** A thread that asks for everything, then for health until that is a 503, and then wakes the waiting thread. */
const ASKING = `
const { parentPort, workerData: { base, paths, told } } = require('node:worker_threads');
const look = async (path) => {
  const { status, body } = await fetch(base + path);
  const { value } = await body.getReader().read();
  parentPort.postMessage([path, status, Buffer.from(value).toString()]);
};
const ask = async () => {
  const { status } = await fetch(base + '/healthz');
  if (status !== 503) return setTimeout(ask, 20);
  Atomics.store(told, 0, 1);
  Atomics.notify(told, 0);
};
Promise.all(paths.map(look)).then(ask);
`;
const BLOCKED_MS = 4_000;
const SERVED = '/healthz /readyz /metrics / /docs /try /try/service /openapi.json /events'.split(' ');

t.test('while the main thread is blocked everything is answered, and that it is blocked', async (t) => {
  const config = { ...defaultConfig(), adminPort: 0, tryPage: true };
  const heartbeats = allocateHeartbeats(2);
  const stop = new Heartbeats(heartbeats).beat(1); // the other loop has not started
  const fail = (error: Error): void => void t.fail(error);
  const admin = await openAdmin(
    { config, metrics: [allocateLoopMetrics()], heartbeats, silentMs: BLOCKED_MS },
    { state: () => READY, score: () => Promise.reject(new Error()), onCrash: fail, onProblem: fail },
  );
  t.teardown(() => admin.close());
  const base = `http://127.0.0.1:${admin.port}`;
  const told = new Int32Array(new SharedArrayBuffer(4));
  const asking = new Worker(ASKING, { eval: true, workerData: { base, paths: SERVED, told } });
  t.teardown(() => asking.terminate());
  const answers = new Map<string, readonly [status: number, body: string]>();
  asking.on('message', ([path, ...got]: [string, number, string]) => answers.set(path, got));
  // This thread waits for the other one: its loop stands still meanwhile.
  t.not(Atomics.wait(told, 0, 0, 30_000), 'timed-out');
  await until(() => answers.size === SERVED.length);
  for (const [path, [status, body]] of answers) t.ok(status === 200 && body !== '', `${path}: ${status}`);
  t.match(answers.get('/metrics')?.[1], 'acuity_model_info{version="1.2.3"} 1');
  t.match(answers.get('/events')?.[1], /^event: start\ndata: .*"ready":true,"model":"1.2.3"/);
  await until(async () => (await ask(admin.port, '/readyz')).status === 200);
  stop();
});

t.test('an error while a page is open is shown there and ends nothing', async (t) => {
  const { get } = await listen(t, { text: () => Promise.reject<string>(new Error('no numbers')) });
  t.match(await get('/metrics'), { status: 500, body: '{"detail":"no numbers"}' });
  t.equal((await get('/healthz')).status, 200);
});

t.test('the pages load only their own files, under a strict policy; /try may be off', async (t) => {
  const on = await listen(t);
  for (const path of ['/', '/try']) {
    const page = await on.get(path);
    t.match(page, { status: 200, headers: { 'content-type': /^text\/html/ } });
    const policy = String(page.headers['content-security-policy']);
    t.match(policy, /^default-src 'none'; /);
    t.notMatch(policy, /unsafe|https?:|\*/);
    t.notMatch(page.body, /<script>|<style| style=| on\w+=|https?:\/\//, 'nothing inline or from elsewhere');
    const linked = [...page.body.matchAll(/(?:src|href)="((?:dashboard|try)\/[^"]+)"/g)].map(([, one]) =>
      String(one),
    );
    t.ok(linked.length >= 3);
    // What it is made of is followed through its imports, for which the list grows.
    for (const path of linked) {
      const { status, headers, body } = await on.get(`/${path}`);
      t.strictSame([status, headers['x-content-type-options']], [200, 'nosniff'], path);
      for (const [, imported] of body.matchAll(/from '(\.[^']+)'/g)) {
        const further = new URL(String(imported), `http://x/${path}`).pathname.slice(1);
        if (!linked.includes(further)) linked.push(further);
      }
    }
  }
  const { headers } = await on.get('/docs');
  t.notMatch(headers['content-security-policy'], /script-src|connect-src/, 'the reference sends nothing');
  const off = await listen(t, { hasTry: false });
  for (const path of ['/try', '/try/try.js', '/try/service'])
    t.match(await off.get(path), { status: 404, body: '{"detail":"Not Found; see ACUITY_TRY"}' }, path);
  t.notMatch((await off.get('/docs')).body, 'href="try"');
});

t.test('a connection that the system could not hand over ends nothing', async (t) => {
  const { get } = await listen(t);
  const started = channel('http.server.request.start');
  const fail = (message: unknown): void => {
    const { server } = message as { readonly server: Server };
    server.emit('error', Object.assign(new Error('accept'), { code: 'EMFILE' }));
  };
  started.subscribe(fail);
  t.teardown(() => started.unsubscribe(fail));
  for (let asked = 0; asked < 2; asked++) t.equal((await get('/metrics')).status, 200);
});

t.test('only reads, and only the listed paths', async (t) => {
  const { get } = await listen(t);
  for (const method of ['POST', 'PUT', 'DELETE']) t.equal((await get('/metrics', method)).status, 405);
  for (const path of '/predict /dashboard/ /dashboard/../package.json /%2e%2e/package.json /x'.split(' '))
    t.match(await get(path), { status: 404, body: '{"detail":"Not Found"}' }, path);
  t.match(await get('/', 'HEAD'), { status: 200, body: '' });
  t.match(await get('/events', 'HEAD'), { status: 200, body: '' });
});

t.test('a viewer gets everything once, then a point a second', async (t) => {
  const { admin, dashboard, timeSeries } = await listen(t);
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
    diagnosis: { level: 'calm', symptoms: [] },
    stages: ['receive', 'read', 'queue', 'dispatch', 'infer', 'reply'],
    causes: [{ cause: 'notFound', status: 404 }],
  });
  const settings = everything['settings'] as readonly { name: string; value: string }[];
  t.equal(settings.find(({ name }) => name === 'ACUITY_KEYS')?.value, 'redis://user:***@host');
  t.ok(Array.isArray(everything['points']) && everything['points'].length >= 1);
  t.match(JSON.parse(point.slice(point.indexOf('{'))), { point: { served: 0 }, model: '1.2.3' });
  t.equal(dashboard.viewerCount, 1);
  feed.destroy();
});

t.test('viewers are several, bounded, and forgotten when they leave', async (t) => {
  const { admin, dashboard, get } = await listen(t);
  const viewers = await Promise.all(Array.from({ length: 32 }, () => open(admin.port, '/events')));
  t.equal(dashboard.viewerCount, 32);
  t.match(await get('/events'), { status: 503, body: '{"detail":"Too many viewers"}' });
  for (const viewer of viewers) viewer.destroy();
  await until(() => dashboard.viewerCount === 0);
});

const ALLOWED =
  '127.0.0.1 127.0.0.1:9464 [::1]:9464 localhost LOCALHOST:9464 localhost. ops.example OPS.Example.:9464';
const FOREIGN =
  'localhost.evil.example xlocalhost a.ops.example 127.0.0.1.evil.example 127.1 2130706433 [evil.example]';
const OWN = '/ /try /try/service /metrics /events /docs /openapi.json /dashboard/dashboard.js /nothing';
const hosts = (names: string): string[] => names.split(' ').map((name) => `HTTP/1.1\r\nHost: ${name}`);
const WITHOUT = ['HTTP/1.0', 'HTTP/1.1', 'HTTP/1.1\r\nHost:'];

t.test('under another name, as by DNS rebinding, or without one, only probes are answered', async (t) => {
  const { admin } = await listen(t);
  for (const [heads, paths, status] of [
    [hosts(ALLOWED), '/metrics', 200],
    [hosts(FOREIGN), '/metrics', 421],
    [hosts('evil.example'), OWN, 421],
    [WITHOUT, '/metrics', 421],
    [[...hosts(`${FOREIGN} evil.example`), ...WITHOUT], '/healthz /readyz', 200],
  ] as const)
    for (const head of heads)
      for (const path of paths.split(' ')) {
        const text = await exchange(admin.port, `GET ${path} ${head}\r\nConnection: close\r\n\r\n`);
        t.ok(text.startsWith(`HTTP/1.1 ${status} `), `${path} ${head}`);
        t.equal(text.includes('{"detail":"Host not allowed; see ACUITY_ADMIN_HOSTS"}'), status === 421);
      }
});

t.test('half heads and pages that wait take no places from probes', async (t) => {
  const { admin, get } = await listen(t, { text: () => new Promise<string>(() => {}) });
  const heads = await Promise.all(Array.from({ length: 160 }, () => Connection.open(admin.port)));
  await Promise.all(heads.map((connection) => connection.write('GET /readyz HTTP/1.1\r\nHost: a')));
  const pages = await Promise.all(Array.from({ length: 64 }, () => Connection.open(admin.port)));
  t.teardown(() => [...heads, ...pages].forEach((connection) => connection.destroy()));
  const page = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n';
  await Promise.all(pages.map((connection) => connection.write(page)));
  for (let probe = 0; probe < 60; probe++) t.equal((await get('/readyz')).status, 200);
  t.match(await get('/metrics'), { status: 503, body: '{"detail":"Service overloaded"}' });
  await Promise.all(heads.slice(0, 96).map((connection) => connection.closed()));
  t.pass('the oldest connections that say nothing are closed');
});

t.test('a request after another on its connection is refused, and takes no place', async (t) => {
  const { admin, dashboard, get } = await listen(t);
  const connection = await Connection.open(admin.port);
  const requests = ['/events', ...Array.from({ length: 64 }, () => '/metrics')].map(
    (path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  );
  await connection.write(requests.join(''));
  await until(() => dashboard.viewerCount === 1);
  connection.destroy();
  await until(() => dashboard.viewerCount === 0);
  const viewer = await open(admin.port, '/events');
  t.equal((await get('/metrics')).status, 200);
  viewer.destroy();
});
