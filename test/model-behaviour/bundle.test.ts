import t from 'tap';
import type { PredictionRequestBody } from '#acuity/contract/request.js';
import { COLUMN } from '#training/served.js';
import { bundle, model } from './weeks.js';

const NUMBERS = ['C_SCORE', 'attention', 'memory', 'reasoning', 'stress'] as const;
const LABELS = ['valence', 'arousal'] as const;

t.test('the shipped network gives its golden scores, and no golden label hangs on rounding', async (t) => {
  for (const { name, request, scores: expected } of bundle.golden.cases) {
    const scores = await model.score(request as PredictionRequestBody);
    for (const field of NUMBERS)
      t.ok(Math.abs((scores[COLUMN[field]] ?? NaN) - expected[field]) <= 1e-3, `${name}: ${field}`);
    for (const field of LABELS) {
      const above = (scores[COLUMN[field]] ?? NaN) - bundle.manifest.thresholds[field];
      t.equal(above >= 0 ? 'High' : 'Low', expected[field]);
      t.ok(Math.abs(above) > 1e-5, `${name}: ${field}`);
    }
  }
});

t.test('the manifest composes C_SCORE as the graph does', async (t) => {
  const { measured } = bundle.manifest;
  for (const { request } of bundle.golden.cases) {
    const [composite = NaN, ...scores] = await model.score(request as PredictionRequestBody);
    const weights = Object.values(measured?.composite ?? {});
    const made = weights.reduce((sum, weight, index) => sum + weight * (scores[index] ?? NaN), 0);
    t.ok(Math.abs(composite - made) < 1e-3, `${composite}, ${made}`);
  }
});
