import assert from 'node:assert/strict';
import { EXPLANATION } from '#acuity/contract/explanation.js';
import { FEATURES, FEATURE_COUNT } from '#acuity/contract/features.js';
import { loadBundle } from '#acuity/model/bundle.js';
import { featurisePast, featuriseSession } from '#acuity/pipeline/featurise.js';
import { Explainer } from '#acuity/worker/explainer.js';
import { openExplainGraph, openGraph } from '#acuity/worker/session.js';
import { MODEL_FOLDER } from '#bench/paths.js';
import { nothing, type MicroCase, type Suite } from './harness.js';
import { itemAt, readRequests } from './requests.js';

const OPTIONS = { intraOpThreads: 1, interOpThreads: 1, spinning: false };

/** A worker's cost for one request: plain, and the explanation on top. */
export const EXPLAIN: Suite = {
  name: 'explain',
  async open() {
    const { graphs, explain } = await loadBundle(MODEL_FOLDER);
    if (explain === undefined) throw new Error(`${MODEL_FOLDER} has no graph that explains`);
    const explainer = new Explainer(await openExplainGraph(explain.graph, OPTIONS), explain.table);
    const cases: MicroCase[] = [];
    for (const variant of ['base', 'history'] as const) {
      const graph = await openGraph(variant, graphs[variant], 1, OPTIONS);
      const request = itemAt(readRequests(variant === 'base' ? 'baseline' : 'history'), 0);
      const plain = () => {
        graph.clear(1);
        featuriseSession(request, 0, graph.inputs.session, 0);
        if (variant === 'history') featurisePast(request, graph.inputs, 0);
        return graph.run(1);
      };
      const scoreDay = async (row: Float32Array) => {
        graph.inputs.session.set(row);
        return (await graph.run(1)).scores;
      };
      const { scores } = await plain();
      const floats = new Float32Array(EXPLANATION.length);
      cases.push(
        {
          name: `${variant}: plain`,
          units: 1,
          run: plain,
          check: () => assert.equal(graph.inputs.session.length, FEATURE_COUNT),
        },
        {
          name: `${variant}: its explanation`,
          units: 1,
          run: () => explainer.explain(request, scores, 0, floats, scoreDay),
          check: () => assert.ok(floats.every(Number.isFinite)),
        },
      );
      if (variant === 'base') continue;
      const usual = new Float64Array(FEATURE_COUNT).fill(NaN);
      for (const [feature, { centre }] of FEATURES.entries()) usual[feature] = centre;
      cases.push({
        name: 'history: its explanation against what is usual',
        units: 1,
        run: () => explainer.explain({ ...request, usual }, scores, 0, floats, scoreDay),
        check: () => assert.ok((floats[EXPLANATION.lastNights] ?? 0) > 0),
      });
    }
    return { cases, close: nothing };
  },
};
