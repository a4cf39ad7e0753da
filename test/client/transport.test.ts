import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import {
  isConnectionFailure,
  KEEP_ALIVE_MS,
  openTransport,
  type Transport,
} from '#acuity/client/transport.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function serverWith(t: Test, handle: Handler): Promise<{ server: Server; origin: string }> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function transportTo(t: Test, origin: string, connections = 4): Transport {
  const transport = openTransport({ origin, connections, connectTimeoutMs: 5_000 });
  t.teardown(() => transport.close());
  return transport;
}

const request = (body = '{}') => ({
  path: '/predict',
  headers: { 'x-a': '1' },
  body,
  signal: new AbortController().signal,
});

t.test('requests one after the other share connections', async (t) => {
  let opened = 0;
  const { server, origin } = await serverWith(t, (_, response) => response.end('{"a":1}'));
  server.on('connection', () => opened++);
  const transport = transportTo(t, origin);
  for (let count = 0; count < 20; count++) {
    const { status, text } = await transport.send(request());
    t.strictSame([status, text], [200, '{"a":1}']);
  }
  t.ok(opened <= 4, `${opened} connections`);
});

t.test('requests at once take no more connections than allowed, and none waits behind another', async (t) => {
  let opened = 0;
  let underWay = 0;
  let most = 0;
  const { server, origin } = await serverWith(t, (_, response) => {
    most = Math.max(most, ++underWay);
    setImmediate(() => {
      underWay--;
      response.end();
    });
  });
  server.on('connection', () => opened++);
  const transport = transportTo(t, origin, 4);
  await Promise.all(Array.from({ length: 40 }, () => transport.send(request())));
  t.ok(opened <= 4 && most <= 4, `${opened} connections, ${most} requests at once`);
});

t.test('connections are given up before the service closes them', async (t) => {
  t.ok(
    KEEP_ALIVE_MS <= 8_000,
    'the service closes idle connections after 10 s, some of them two seconds early',
  );
});

t.test('a broken connection is told from a misused client', async (t) => {
  const { server, origin } = await serverWith(t, (incoming) => incoming.socket.destroy());
  const transport = transportTo(t, origin);
  t.ok(isConnectionFailure(await transport.send(request()).catch((error: unknown) => error)));
  server.close();
  server.closeAllConnections();
  const refused = openTransport({ origin, connections: 1, connectTimeoutMs: 5_000 });
  t.ok(isConnectionFailure(await refused.send(request()).catch((error: unknown) => error)));
  await refused.close();
  t.notOk(isConnectionFailure(await refused.send(request()).catch((error: unknown) => error)));
  t.notOk(isConnectionFailure(new TypeError('no')));
});

t.test('an endless answer is cut', async (t) => {
  const { origin } = await serverWith(t, (_, response) => {
    const write = (): void => {
      while (response.writable && response.write(Buffer.alloc(65_536)));
    };
    response.on('drain', write);
    write();
  });
  await t.rejects(transportTo(t, origin).send(request()));
});
