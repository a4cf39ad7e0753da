import assert from 'node:assert/strict';
import { respond } from '#acuity/pipeline/respond.js';
import { nothing, type Suite } from './harness.js';

const SCORES = Float32Array.of(50.123, 49.871, 51.034, 50.442, 48.908, 0.73, 0.21);
const INFER_MS = 0.123;
const THRESHOLDS = { valence: 0.5, arousal: 0.5 };
const EXPECTED = {
  C_SCORE: 50.12,
  attention: 49.87,
  memory: 51.03,
  reasoning: 50.44,
  stress: 48.91,
  valence: 'High',
  arousal: 'Low',
  inference_time_ms: 0.12,
};

/** From a row of scores to the body of a 200. */
export const RESPOND: Suite = {
  name: 'respond',
  open: () =>
    Promise.resolve({
      cases: [
        { name: 'table of hundredths', units: 1, run: () => respond(SCORES, 0, INFER_MS, THRESHOLDS), check },
      ],
      close: nothing,
    }),
};

function check(result: unknown): void {
  assert.deepEqual(JSON.parse(String(result)), EXPECTED);
}
