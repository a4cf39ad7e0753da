import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { send } from '../fixtures/connection.js';
import { startReplicasProxy, WITHOUT_HAPROXY } from '../fixtures/proxies.js';

/** What deploy/haproxy-replicas.cfg makes of what its looks at health are answered. */

const skip = WITHOUT_HAPROXY;
/** `fall` of the configuration: so many looks without an answer take a replica out. */
const FALL = 4;

class Replica {
  health: 200 | 503 | 'silent' = 200;
  /** Looks since `health` was last set. */
  looks = 0;
  answered = 0;
  port = 0;
  adminPort = 0;

  async listen(t: Test): Promise<this> {
    this.port = await listen(t, (response) => {
      this.answered++;
      response.setHeader('X-Request-Id', 'given').end('{}');
    });
    this.adminPort = await listen(t, (response) => {
      this.looks++;
      if (this.health !== 'silent') response.writeHead(this.health).end();
    });
    return this;
  }

  become(health: typeof this.health): void {
    this.health = health;
    this.looks = 0;
  }
}

async function listen(t: Test, answer: (response: ServerResponse) => void): Promise<number> {
  const server = createServer((_request, response) => answer(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

async function fleet(t: Test) {
  const first = await new Replica().listen(t);
  const second = await new Replica().listen(t);
  const { port } = await startReplicasProxy(t, [first, second]);
  /** How many of some requests the first replica answers. */
  const share = async (): Promise<number> => {
    const before = first.answered;
    for (let sent = 0; sent < 8; sent++) t.equal((await send(port, { body: '{}' })).status, 200);
    return first.answered - before;
  };
  return { first, share };
}

t.test('a replica that says 503 is left before the looks that silence takes', { skip }, async (t) => {
  const { first, share } = await fleet(t);
  t.ok((await share()) > 0);
  first.become(503);
  while ((await share()) > 0);
  t.ok(first.looks < FALL, `${first.looks} looks`);
  first.become(200);
  while ((await share()) === 0);
  t.pass('it is back');
});

t.test('one that is silent stays for several looks, and is left then', { skip }, async (t) => {
  const { first, share } = await fleet(t);
  first.become('silent');
  while ((await share()) > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  // One that was under way at the change may be in vain too.
  t.ok(first.looks >= FALL - 1, `${first.looks} looks`);
  first.become(200);
  while ((await share()) === 0);
  t.pass('it is back');
});
