import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { runOpenLoop } from '#acuity/load/openLoop.js';

async function paceAgainst(t: Test, statusOf: (request: number) => number) {
  let received = 0;
  const bodies = new Set<string>();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      bodies.add(body);
      response.writeHead(statusOf(received++), { 'Content-Length': 2 }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const measured = await runOpenLoop({
    target: { port, key: 'a key' },
    bodies: ['{"a":1}', '{"b":2}'],
    connections: 4,
    seconds: 1,
    rate: 50,
  });
  return { measured, received, bodies };
}

t.test('sends at the given rate, the bodies in turn', async (t) => {
  const { measured, received, bodies } = await paceAgainst(t, () => 200);
  t.match(measured, { requests: 50, errors: 0 });
  t.equal(received, 50);
  t.strictSame([...bodies].toSorted(), ['{"a":1}', '{"b":2}']);
  t.ok(measured.p50Micros <= measured.p99Micros);
});

t.test('counts every answer that is not a 200', async (t) => {
  const { measured } = await paceAgainst(t, (request) => (request % 5 === 0 ? 503 : 200));
  t.match(measured, { requests: 40, errors: 10 });
});
