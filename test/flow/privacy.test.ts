import t from 'tap';
import { createKey } from '#acuity/auth/key.js';
import { requestBody } from '../fixtures/bodies.js';
import { Connection, head, send } from '../fixtures/connection.js';
import { startServer, type RunningServer } from '../fixtures/server.js';

/** Values that occur nowhere by chance: any part of a body that leaks contains one of them. */
const MARKERS = [
  '61.73291',
  '14.91837',
  '43.71913',
  '171.83917',
  '67.19283',
  'marker_a8f3',
  '23917',
  'acu1.',
];

function markedBody(past: number): string {
  const body = requestBody(past);
  const marked = {
    HR_night: Array(30).fill(61.73291),
    RR_night: Array(30).fill(14.91837),
    age: 43.71913,
    height_cm: 171.83917,
    weight_kg: 67.19283,
    sleepTimeSeconds: 23_917,
    note: 'marker_a8f3',
  };
  return JSON.stringify({
    ...body,
    current_session: { ...body.current_session, ...marked },
    past_sessions: body.past_sessions?.map((session) => ({ ...session, ...marked })) ?? [],
    past_targets: body.past_targets ?? [],
  });
}

/** Everything that a caller may do, right and wrong, with markers in all of it. */
async function exercise({ port, key }: RunningServer, keys: readonly string[]): Promise<number[]> {
  const statuses: number[] = [];
  const ask = async (body: string, headers: Record<string, string> = { 'X-API-Key': key }): Promise<void> => {
    statuses.push((await send(port, { headers, body })).status);
  };
  const good = markedBody(2);
  await ask(good);
  await ask(markedBody(0));
  await ask(good.slice(0, -10));
  await ask(good.replace('"age":43.71913', '"age":-43.71913'));
  await ask(good.replaceAll('61.73291', '"61.73291"'));
  await ask(good.replaceAll('61.73291', '6173.291'));
  await ask(good.replaceAll('"marker_a8f3"', '"marker_a8f3'));
  await ask(`{"marker_a8f3":${good}}`);
  const begun = JSON.stringify({ ...(JSON.parse(markedBody(0)) as object), history: '' });
  const answer = await send(port, { headers: { 'X-API-Key': key }, body: begun });
  const { history } = JSON.parse(answer.body) as { history: string };
  await ask(begun.replace('"history":""', `"history":"${history}"`));
  await ask(begun.replace('"history":""', `"history":"${history.slice(0, -1)}"`));
  await ask(begun.replace('"history":""', `"history":"${history}","night":"marker_a8f3"`));
  await ask(good, {});
  for (const other of keys) await ask(good, { 'X-API-Key': other });
  await ask(good, { 'X-API-Key': key, 'Content-Type': 'text/marker_a8f3' });
  await ask(good, { 'X-API-Key': key, 'X-Request-Id': `?marker_a8f3 ${key}` });
  statuses.push((await send(port, { target: `/predict/${key}?marker_a8f3`, body: good })).status);
  const cut = await Connection.open(port);
  await cut.write(
    head({ headers: { 'X-API-Key': key, 'Content-Length': String(good.length) } }) + good.slice(0, 500),
  );
  cut.destroy();
  return statuses;
}

t.test('at level trace no biometric value and no key reaches the log', async (t) => {
  const server = await startServer(t, {
    env: { ACUITY_LOG_LEVEL: 'trace', ACUITY_ACCESS_LOG_EVERY: '1' },
    keys: [{ kind: 'demo', expiresAt: '2020-01-01T00:00:00.000Z' }],
  });
  const keys = [
    ...server.keys.slice(1).map(({ key }) => key),
    createKey('live'),
    'sk_live_notWhole',
    'sk_demo_',
  ];
  const statuses = await exercise(server, keys);
  t.strictSame([...new Set(statuses)].toSorted(), [200, 400, 401, 403, 404, 415, 422]);
  const pages = await Promise.all(
    ['/metrics', '/healthz', '/readyz'].map((target) => send(server.adminPort, { method: 'GET', target })),
  );
  server.signal('SIGTERM');
  t.strictSame(await server.exited, { code: 0, signal: null });
  const output = server.output();
  t.match(output, /"msg":"request served"/);
  t.match(output, /"msg":"request refused"/);
  const all = output + pages.map(({ body }) => body).join('\n');
  for (const marker of MARKERS) t.notOk(all.includes(marker), marker);
  for (const key of [server.key, ...keys.slice(0, 3)]) {
    t.notOk(all.includes(key), 'a key');
    t.notOk(all.includes(key.slice(8, 40)), 'the secret of a key');
  }
});
