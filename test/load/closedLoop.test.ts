import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { runClosedLoop } from '#acuity/load/closedLoop.js';

async function closedLoopAgainst(t: Test, statusOf: (request: number) => number) {
  let received = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(statusOf(received++), { 'Content-Length': 2 }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const load = {
    target: { port, key: 'a key' },
    bodies: ['{"a":1}', '{"b":2}'],
    connections: 4,
    seconds: 0.2,
  };
  return { measured: await runClosedLoop(load), received: () => received };
}

t.test('every answer is counted, and no connection has two requests under way', async (t) => {
  const { measured, received } = await closedLoopAgainst(t, () => 200);
  t.equal(measured.requests, received());
  t.equal(measured.errors, 0);
  t.ok(measured.p50Micros > 0 && measured.p50Micros <= measured.p99Micros);
  t.ok(measured.generatorBusy >= 0 && measured.generatorBusy <= 1);
});

t.test('answers other than 200 are errors', async (t) => {
  const { measured, received } = await closedLoopAgainst(t, (request) => (request % 2 === 0 ? 200 : 503));
  t.equal(measured.errors, Math.floor(received() / 2));
  t.equal(measured.requests + measured.errors, received());
});
