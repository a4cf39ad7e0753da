import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { causeOf, NodeTransport, textOf } from '#acuity/client/transport.js';
import { clientTo, SCORES } from '../fixtures/sharedCases.js';
import { listening } from '../fixtures/until.js';

const CONNECTIONS = 4;
const SCORED = JSON.stringify({ ...SCORES, inference_time_ms: 0 });

async function serverWith(
  t: Test,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ server: Server; url: string; opened: () => number }> {
  const server = createServer(handle);
  let opened = 0;
  server.on('connection', () => opened++);
  const url = `http://127.0.0.1:${await listening(t, server)}`;
  return { server, url, opened: () => opened };
}

function transportOf(t: Test): NodeTransport {
  const transport = new NodeTransport(CONNECTIONS);
  t.teardown(() => transport.close());
  return transport;
}

const request = (url: string, body = '{}') => ({
  url: `${url}/predict`,
  headers: { 'x-a': '1' },
  body,
  signal: new AbortController().signal,
});

t.test('requests one after the other share a connection, and are sent with their length', async (t) => {
  const lengths = new Set<string>();
  const { url, opened } = await serverWith(t, ({ headers }, response) => {
    lengths.add(`${headers['content-length']} ${headers['transfer-encoding']}`);
    response.end('{"a":1}');
  });
  const transport = transportOf(t);
  for (let count = 0; count < 20; count++)
    t.equal(await textOf(await transport.send(request(url, '{"é":1}'))), '{"a":1}');
  t.equal(opened(), 1);
  t.strictSame([...lengths], ['8 undefined']);
});

t.test('requests at once take no more connections than allowed', async (t) => {
  let underWay = 0;
  let most = 0;
  const { url, opened } = await serverWith(t, (_, response) => {
    most = Math.max(most, ++underWay);
    setImmediate(() => {
      underWay--;
      response.end();
    });
  });
  const transport = transportOf(t);
  await Promise.all(Array.from({ length: 40 }, () => transport.send(request(url)).then(textOf)));
  t.ok(most <= CONNECTIONS, `${most} requests at once`);
  t.ok(opened() <= CONNECTIONS, `${opened()} connections`);
});

t.test('a broken connection is told from a misused client', async (t) => {
  const { server, url } = await serverWith(t, (incoming) => incoming.socket.destroy());
  const transport = transportOf(t);
  const failure = (): Promise<unknown> => transport.send(request(url)).catch((error: unknown) => error);
  t.match(causeOf(await failure()), /\(ECONNRESET\)/);
  server.close();
  server.closeAllConnections();
  t.match(causeOf(await failure()), /^connection refused; is the service running there/);
  const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
  t.equal(causeOf(new TypeError('fetch failed', { cause: reset })), 'connection reset by peer (ECONNRESET)');
  t.equal(causeOf(new TypeError('no')), undefined);
});

t.test('an endless answer is cut, and not asked for again', async (t) => {
  let requests = 0;
  const { url } = await serverWith(t, (_, response) => {
    requests++;
    const write = (): void => {
      while (response.writable && response.write(Buffer.alloc(65_536)));
    };
    response.on('drain', write);
    write();
  });
  const outcome = clientTo(t, url).client.predict({ current_session: {} });
  await t.rejects(outcome, { name: 'ConnectionError', message: /the answer is too long/ });
  t.equal(requests, 1);
});

t.test('who gives up while waiting for a connection is told so, and takes none', async (t) => {
  const held: ServerResponse[] = [];
  const { url } = await serverWith(t, (_, response) => void held.push(response));
  const { client } = clientTo(t, url, { connections: CONNECTIONS });
  const first = Array.from({ length: CONNECTIONS }, () => client.predict({ current_session: {} }));
  while (held.length < CONNECTIONS) await new Promise((resolve) => setImmediate(resolve));
  const controller = new AbortController();
  const waiting = client.predict({ current_session: {} }, { signal: controller.signal });
  setImmediate(() => controller.abort(new Error('enough')));
  await t.rejects(waiting, { message: 'enough' });
  for (const response of held) response.end(SCORED);
  t.equal((await Promise.all(first)).length, CONNECTIONS);
  t.equal(held.length, CONNECTIONS);
});

t.test('closing waits for what is under way', async (t) => {
  const { url } = await serverWith(t, (_, response) => void setImmediate(() => response.end(SCORED)));
  const { client } = clientTo(t, url);
  const answer = client.predict({ current_session: {} });
  await client.close();
  t.strictSame((await answer).scores, SCORES);
  await t.rejects(client.predict({ current_session: {} }), { name: 'TypeError', message: /closed/ });
});
