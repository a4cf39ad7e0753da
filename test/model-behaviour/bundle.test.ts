import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { PredictionRequestBody } from '#acuity/contract/request.js';
import { loadBundle } from '#acuity/model/bundle.js';
import { COLUMN } from '#training/served.js';
import { model } from './weeks.js';

const bundle = await loadBundle(
  fileURLToPath(new URL('../../../native-models/acuity-base', import.meta.url)),
);
const NUMBERS = ['C_SCORE', 'attention', 'memory', 'reasoning', 'stress'] as const;
const LABELS = ['valence', 'arousal'] as const;

t.test('the shipped network gives its golden scores', async (t) => {
  for (const { name, request, scores: expected } of bundle.golden.cases) {
    const scores = await model.score(request as PredictionRequestBody);
    for (const field of NUMBERS) {
      t.ok(Math.abs((scores[COLUMN[field]] ?? NaN) - expected[field]) <= 1e-3, `${name}: ${field}`);
    }
    for (const field of LABELS) {
      t.equal(
        (scores[COLUMN[field]] ?? 0) >= bundle.manifest.thresholds[field] ? 'High' : 'Low',
        expected[field],
      );
    }
  }
});

t.test('no golden label hangs on rounding', async (t) => {
  for (const { name, request } of bundle.golden.cases) {
    const scores = await model.score(request as PredictionRequestBody);
    for (const field of LABELS)
      t.ok(Math.abs((scores[COLUMN[field]] ?? 0.5) - 0.5) > 1e-5, `${name}: ${field}`);
  }
});

t.test('C_SCORE is the fixed composite of the three capacities', async (t) => {
  for (const { request } of bundle.golden.cases) {
    const scores = await model.score(request as PredictionRequestBody);
    const [, attention = NaN, memory = NaN, reasoning = NaN] = scores;
    t.ok(Math.abs((scores[0] ?? 0) - (0.4 * attention + 0.3 * memory + 0.3 * reasoning)) < 1e-3);
  }
});
