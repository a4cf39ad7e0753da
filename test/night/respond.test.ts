import t from 'tap';
import { respond } from '#acuity/night/respond.js';

const THRESHOLDS = { valence: 0.5, arousal: 0.25 };

t.test('the body of a 200: seven scores and the time, in order', async (t) => {
  const scores = Float32Array.of(9, 9, 50, 12.345, 0, 100, 99.999, 0.75, 0.24);
  t.equal(
    respond(scores, 2, 1.234, THRESHOLDS),
    '{"C_SCORE":50,"attention":12.35,"memory":0,"reasoning":100,"stress":100,' +
      '"valence":"High","arousal":"Low","inference_time_ms":1.23}',
  );
});

t.test('High begins at the threshold', async (t) => {
  const labels = (...chances: [valence: number, arousal: number]): unknown => {
    const { valence, arousal } = JSON.parse(respond(Float32Array.of(1, 1, 1, 1, 1, ...chances), 0, 0, THRESHOLDS)) as Record<string, unknown>; // prettier-ignore
    return [valence, arousal];
  };
  t.strictSame(labels(0.5, 0.25), ['High', 'High']);
  t.strictSame(labels(0.499, 0.249), ['Low', 'Low']);
});

t.test('every number is the nearest hundredth, and JSON', async (t) => {
  for (let value = 0; value <= 100; value += 0.037) {
    const scores = new Float32Array(7).fill(value);
    const { C_SCORE } = JSON.parse(respond(scores, 0, 0, THRESHOLDS)) as { C_SCORE: number };
    t.ok(Math.abs(C_SCORE - value) <= 0.005 + 1e-5);
    t.match(String(C_SCORE), /^\d+(\.\d{1,2})?$/);
  }
});
