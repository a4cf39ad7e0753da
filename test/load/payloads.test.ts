import t from 'tap';
import { DEFAULT_SERIES_LIMITS, SERIES_FIELDS } from '#rules/fields.js';
import { WasmParser } from '#acuity/reading/wasmParser.js';
import { bodiesOf, PAYLOADS, requestsOf } from '#acuity/load/payloads.js';

t.test('the same bytes every time, another body for each variant', async (t) => {
  for (const payload of PAYLOADS) {
    t.strictSame(bodiesOf(payload), bodiesOf(payload));
    t.equal(new Set(bodiesOf(payload)).size, bodiesOf(payload).length);
    t.ok(bodiesOf(payload).length > 1);
  }
});

t.test('the samples and the size that the figures are said of', async (t) => {
  for (const { current_session } of requestsOf('baseline')) {
    const lengths = SERIES_FIELDS.map((field) => current_session[field]?.length);
    t.strictSame(lengths, [42, 42, 220, 220]);
  }
  for (const request of requestsOf('history')) {
    t.equal(request.past_sessions?.length, 5);
    t.equal(request.past_targets?.length, 5);
  }
  const meanLength = (bodies: readonly string[]): number =>
    bodies.reduce((sum, body) => sum + body.length, 0) / bodies.length;
  const baseline = meanLength(bodiesOf('baseline'));
  const history = meanLength(bodiesOf('history'));
  t.ok(baseline > 2_500 && baseline < 3_100, `${baseline} bytes`);
  t.ok(history > 15_500 && history < 19_500, `${history} bytes`);
});

t.test('the service reads every body on its fast path', async (t) => {
  const parser = new WasmParser(DEFAULT_SERIES_LIMITS);
  for (const payload of PAYLOADS) {
    for (const body of bodiesOf(payload)) t.ok(parser.read(Buffer.from(body)));
  }
});
