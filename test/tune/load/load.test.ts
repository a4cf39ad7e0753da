import { createServer } from 'node:http';
import t, { type Test } from 'tap';
import { DEFAULT_SERIES_LIMITS, SERIES_FIELDS } from '#rules/fields.js';
import { runClosedLoop } from '#acuity/tune/load/closedLoop.js';
import { bodiesOf, PAYLOADS, requestsOf } from '#acuity/tune/load/payloads.js';
import { quantileOf, spreadOf } from '#acuity/tune/load/statistics.js';
import { WasmParser } from '#acuity/read/wasmParser.js';
import { listening } from '../../fixtures/until.js';

/** A server that answers each request with `statusOf` its number, and a load for it. */
async function scene(t: Test, statusOf: (request: number) => number) {
  let received = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(statusOf(received++), { 'Content-Length': 2 }).end('{}');
    });
  });
  const load = {
    target: { port: await listening(t, server), key: 'a key' },
    bodies: ['{"a":1}', '{"b":2}'],
    connections: 4,
  };
  return { load, received: () => received };
}

t.test('a closed loop counts every answer, those other than 200 as errors', async (t) => {
  const { load, received } = await scene(t, (request) => (request % 2 === 0 ? 200 : 503));
  const { requests, errors, p50Micros, p99Micros, generatorBusy } = await runClosedLoop({
    ...load,
    seconds: 0.2,
  });
  t.equal(errors, Math.floor(received() / 2));
  t.equal(requests + errors, received());
  t.ok(p50Micros > 0 && p50Micros <= p99Micros && generatorBusy >= 0 && generatorBusy <= 1);
});

t.test(
  'payloads: the same bytes every time, of the size that figures are said of, read on the fast path',
  async (t) => {
    const parser = new WasmParser(DEFAULT_SERIES_LIMITS);
    for (const payload of PAYLOADS) {
      const bodies = bodiesOf(payload);
      t.strictSame(bodies, bodiesOf(payload));
      t.ok(bodies.length > 1 && new Set(bodies).size === bodies.length);
      for (const body of bodies) t.ok(parser.read(Buffer.from(body)));
    }
    for (const { current_session } of requestsOf('baseline'))
    t.strictSame(SERIES_FIELDS.map((field) => current_session[field]?.length), [42, 42, 220, 220]); // prettier-ignore
    const mean = (bodies: readonly string[]) =>
      bodies.reduce((sum, body) => sum + body.length, 0) / bodies.length;
    const [baseline, history] = [mean(bodiesOf('baseline')), mean(bodiesOf('history'))];
    t.ok(baseline > 2_500 && baseline < 3_100, `${baseline}`);
    t.ok(history > 15_500 && history < 19_500, `${history}`);
  },
);

t.test('spreads and quantiles', async (t) => {
  t.strictSame(spreadOf([10, 2, 9, 1]), { median: 5.5, min: 1, max: 10 });
  t.strictSame(spreadOf([100, 20, 3]), { median: 20, min: 3, max: 100 });
  t.throws(() => spreadOf([]), { name: 'RangeError' });
  const sorted = Float64Array.of(0, 10, 20, 30, 40);
  t.strictSame([0, 0.5, 0.625, 1].map((share) => quantileOf(sorted, share)), [0, 20, 25, 40]); // prettier-ignore
});
