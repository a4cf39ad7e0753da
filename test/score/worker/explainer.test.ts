import t from 'tap';
import { PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';
import { CONTRIBUTORS, EXPLANATION, MIXTURES } from '#acuity/contract/explanation.js';
import { FEATURE_COUNT } from '#acuity/contract/features.js';
import type { GraphVariant } from '#acuity/contract/graphVariant.js';
import { GRAPH_TENSORS } from '#acuity/model/tensors.js';
import { normalCdf, probit } from '#acuity/night/normal.js';
import { EXPLAIN_ROWS, Explainer } from '#acuity/score/worker/explainer.js';
import type { GraphSession } from '#acuity/score/worker/session.js';
import { seededRandom } from '#acuity/base/random.js';
import { requestBody } from '../../fixtures/bodies.js';
import { requestOf } from '../../fixtures/requests.js';
import { slowShapley } from '../../fixtures/slowShapley.js';

/** Graphs that give the first rows of `scores` of every request. */
function graphsOf(scores: Float32Array): Readonly<Record<GraphVariant, GraphSession>> {
  const inputs = GRAPH_TENSORS.history.inputs.map(({ name, shape: [, ...row] }) => {
    return [name, new Float32Array(row.reduce((product, size) => product * size, EXPLAIN_ROWS))] as const;
  });
  const graph = {
    inputs: Object.fromEntries(inputs) as GraphSession['inputs'],
    clear: () => undefined,
    repeatPast: () => undefined,
    run: async (rows: number) => ({ scores: scores.slice(0, 7 * rows), elapsedMs: 1 }),
  };
  return { base: graph, history: graph };
}

const TABLE = {
  typical: {
    ages: [20],
    M: [Array.from({ length: 11 }, () => 1)],
    F: [Array.from({ length: 11 }, () => 1)],
    anyAge: { M: Array.from({ length: 11 }, () => 1), F: Array.from({ length: 11 }, () => 1) },
  },
  pooling: Array.from({ length: PAST_MAX }, () => Array.from({ length: FEATURE_COUNT }, () => 1)),
};

const random = seededRandom(5);
const rowOf = (): number[] => [...Array.from({ length: 5 }, () => 20 + 60 * random()), random(), random()];

t.test('a measurement moves every mixture, the reference, the last nights and the ranges', async (t) => {
  const mixed = Float32Array.from(Array.from({ length: EXPLAIN_ROWS }, rowOf).flat());
  const scores = mixed.slice(7 * (MIXTURES - 1), 7 * MIXTURES); // all of it is today's
  const lastNights = mixed.slice(7 * MIXTURES);
  const reach = Array.from({ length: 10 }, () => 5 * random());
  const [base, own, scale] = [0.9, 0.4, 0.8];
  const [ofAttention, ofStress] = [0, 3];
  const weights = [0.5, 0.3, 0.2];
  const adjustments = new Float64Array(6 * 3 + 3);
  adjustments.set([base, own, scale], 3 * ofAttention);
  adjustments.set([base, own, scale], 3 * ofStress);
  adjustments.set(weights, 18);

  const moved = (value: number, column: number): number => {
    const latent = (score: number): number => Math.SQRT2 * probit(score / 100);
    const m = base - own * latent(scores[column] ?? NaN);
    return 100 * normalCdf((latent(value) + m) / Math.sqrt(1 + scale ** 2));
  };
  /** Of a row as the network gives it. */
  const expected = (row: ArrayLike<number>): number[] => {
    const [, attention = NaN, memory = NaN, reasoning = NaN, stress = NaN] = Array.from(row);
    const parts = [moved(attention, 1), memory, reasoning];
    const whole = parts.reduce((sum, part, index) => sum + (weights[index] ?? NaN) * part, 0);
    return [whole, ...parts, moved(stress, 4)];
  };

  const table = { ...TABLE, reach: Array.from({ length: PAST_MAX + 1 }, () => [reach]) };
  const explainer = new Explainer(graphsOf(mixed), table);
  const floats = new Float32Array(EXPLANATION.length);
  const request = {
    ...requestOf(requestBody(2)),
    usual: new Float64Array(FEATURE_COUNT).fill(NaN),
    adjustments,
  };
  const plain = (await explainer.explain(request, floats)).scores;
  t.strictSame(plain, scores, 'not moved: the event loop does that');

  const near = (value: number | undefined, other: number | undefined, what: string): void => {
    t.ok(Math.abs((value ?? NaN) - (other ?? NaN)) < 1e-3, `${what}: ${value}, ${other}`);
  };
  const rows = Array.from({ length: MIXTURES }, (_, mixture) => expected(mixed.subarray(7 * mixture)));
  for (const [score, field] of SCORE_FIELDS.entries()) {
    near(floats[EXPLANATION.reference + score], rows[0]?.[score], `reference of ${field}`);
    near(floats[EXPLANATION.lastNights + score], expected(lastNights)[score], `last nights of ${field}`);
    const shares = slowShapley((mixture) => rows[mixture]?.[score] ?? NaN);
    for (const [group, share] of shares.entries()) {
      const got = floats[EXPLANATION.contributors + 5 * group + score];
      near(got, share, `${CONTRIBUTORS[group]?.group} of ${field}`);
    }
  }
  for (const column of [1, 4]) {
    const score = scores[column] ?? NaN;
    const low = moved(score, column) - moved(score - (reach[column] ?? NaN), column);
    near(floats[EXPLANATION.below + column], low, 'below');
    const high = moved(score + (reach[5 + column] ?? NaN), column) - moved(score, column);
    near(floats[EXPLANATION.above + column], high, 'above');
  }
  for (const column of [2, 3])
    near(floats[EXPLANATION.below + column], reach[column], 'of what is not measured');
  const width = (below: ArrayLike<number>): number =>
    weights.reduce((sum, weight, part) => sum + weight * (below[1 + part] ?? NaN), 0);
  const below = floats.subarray(EXPLANATION.below);
  near(below[0], ((reach[0] ?? NaN) * width(below)) / width(reach), 'the composite, as its parts');
});
