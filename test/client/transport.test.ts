import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { fetchTransport, plainHttpTransport } from '#acuity/client/nodeTransports.js';
import {
  isConnectionFailure,
  KEEP_ALIVE_MS,
  type OpenTransport,
  type Transport,
} from '#acuity/client/transport.js';
import { undiciTransport } from '#acuity/client/undici.js';

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

const CONNECTIONS = 4;

function transportTo(t: Test, open: OpenTransport, origin: string): Transport {
  const transport = open({ origin, connections: CONNECTIONS, connectTimeoutMs: 5_000 });
  t.teardown(() => transport.close());
  return transport;
}

const request = (body = '{}') => ({
  path: '/predict',
  headers: { 'x-a': '1' },
  body,
  signal: new AbortController().signal,
});

t.test('connections are given up before the service closes them', async (t) => {
  t.ok(
    KEEP_ALIVE_MS <= 8_000,
    'the service closes idle connections after 10 s, some of them two seconds early',
  );
});

const TRANSPORTS: Readonly<Record<string, OpenTransport>> = {
  fetch: fetchTransport,
  'node:http': plainHttpTransport,
  undici: undiciTransport,
};

for (const [name, open] of Object.entries(TRANSPORTS)) void t.test(name, async (t) => suite(t, open));

function suite(t: Test, open: OpenTransport): void {
  void t.test('requests one after the other share connections', async (t) => {
    let opened = 0;
    const { server, origin } = await serverWith(t, (_, response) => response.end('{"a":1}'));
    server.on('connection', () => opened++);
    const transport = transportTo(t, open, origin);
    for (let count = 0; count < 20; count++) {
      const { status, text } = await transport.send(request());
      t.strictSame([status, text], [200, '{"a":1}']);
    }
    t.ok(opened <= 4, `${opened} connections`);
  });

  void t.test(
    'requests at once take no more connections than allowed, and none waits for another',
    async (t) => {
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
      const transport = transportTo(t, open, origin);
      await Promise.all(Array.from({ length: 40 }, () => transport.send(request())));
      t.ok(most <= CONNECTIONS, `${most} requests at once`);
      // fetch may open another connection while the former one is not yet free again.
      if (open !== fetchTransport) t.ok(opened <= CONNECTIONS, `${opened} connections`);
    },
  );

  void t.test('a broken connection is told from a misused client', async (t) => {
    const { server, origin } = await serverWith(t, (incoming) => incoming.socket.destroy());
    const transport = transportTo(t, open, origin);
    t.ok(isConnectionFailure(await transport.send(request()).catch((error: unknown) => error)));
    server.close();
    server.closeAllConnections();
    const refused = open({ origin, connections: 1, connectTimeoutMs: 5_000 });
    t.ok(isConnectionFailure(await refused.send(request()).catch((error: unknown) => error)));
    await refused.close();
    t.notOk(isConnectionFailure(await refused.send(request()).catch((error: unknown) => error)));
    t.notOk(isConnectionFailure(new TypeError('no')));
  });

  void t.test('an endless answer is cut', async (t) => {
    const { origin } = await serverWith(t, (_, response) => {
      const write = (): void => {
        while (response.writable && response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', write);
      write();
    });
    await t.rejects(transportTo(t, open, origin).send(request()));
  });

  void t.test('who gives up while waiting for a connection is told so, and takes none', async (t) => {
    const held: ServerResponse[] = [];
    const { origin } = await serverWith(t, (_, response) => void held.push(response));
    const transport = transportTo(t, open, origin);
    const first = Array.from({ length: CONNECTIONS }, () => transport.send(request()));
    const controller = new AbortController();
    const waiting = transport.send({ ...request(), signal: controller.signal });
    controller.abort(new Error('enough'));
    await t.rejects(waiting, { message: 'enough' });
    while (held.length < CONNECTIONS) await new Promise((resolve) => setImmediate(resolve));
    for (const response of held) response.end('{}');
    t.equal((await Promise.all(first)).length, CONNECTIONS);
  });

  void t.test('closing waits for what is under way', async (t) => {
    const { origin } = await serverWith(t, (_, response) => void setImmediate(() => response.end('{}')));
    const transport = transportTo(t, open, origin);
    const answer = transport.send(request());
    await transport.close();
    t.equal((await answer).status, 200);
    await t.rejects(transport.send(request()));
  });

  void t.test('a redirect is not followed', async (t) => {
    const { origin } = await serverWith(t, (_, response) => {
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    t.equal((await transportTo(t, open, origin).send(request())).status, 307);
  });
}

t.test('a body is sent with its length: in chunks it would cost a connection each time', async (t) => {
  for (const open of [fetchTransport, undiciTransport]) {
    const lengths: (string | undefined)[] = [];
    const { origin } = await serverWith(t, (asked, response) => {
      lengths.push(asked.headers['content-length'], asked.headers['transfer-encoding']);
      asked.resume().once('end', () => response.end('{}'));
    });
    await transportTo(t, open, origin).send(request('{"é":1}'));
    t.strictSame(lengths, ['8', undefined], open.name);
  }
});
