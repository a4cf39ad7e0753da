import assert from 'node:assert/strict';
import { loadBundle, type Bundle } from '#acuity/model/bundle.js';
import { FEATURE_COUNT } from '#acuity/contract/features.js';
import { OUTPUT_COLUMNS } from '#acuity/model/tensors.js';
import { featurisePast, featuriseSession } from '#acuity/pipeline/featurise.js';
import type { GraphVariant } from '#acuity/contract/graphVariant.js';
import { openGraph, type GraphRun } from '#acuity/worker/session.js';
import { MODEL_FOLDER } from '#bench/paths.js';
import { nothing, type MicroCase, type Suite } from './harness.js';
import { itemAt, readRequests } from './requests.js';

const BATCHES = [1, 2, 4, 8, 16, 32] as const;
const BATCH_MAX = 32;
const SCORE_MAX = 100;

/** The network by batch size, in the service's own session: microseconds a row. */
export const SESSION: Suite = {
  name: 'session',
  async open() {
    const bundle = await loadBundle(MODEL_FOLDER);
    const base = await casesOf(bundle, 'base');
    const history = await casesOf(bundle, 'history');
    return { cases: [...base, ...history], close: nothing };
  },
};

async function casesOf({ graphs }: Bundle, variant: GraphVariant): Promise<MicroCase[]> {
  const options = { intraOpThreads: 1, interOpThreads: 1, spinning: false };
  const graph = await openGraph(variant, graphs[variant], BATCH_MAX, options);
  const requests = readRequests(variant === 'base' ? 'baseline' : 'history');
  for (let row = 0; row < BATCH_MAX; row++) {
    const request = itemAt(requests, row % requests.length);
    featuriseSession(request, 0, graph.inputs.session, row * FEATURE_COUNT);
    if (variant === 'history') featurisePast(request, graph.inputs, row);
  }
  return BATCHES.map((rows) => ({
    name: `${variant}: rows of a batch of ${rows}`,
    units: rows,
    run: () => graph.run(rows),
    check(result) {
      const { scores } = result as GraphRun;
      assert.equal(scores.length, rows * OUTPUT_COLUMNS);
      assert.ok(scores.every((score) => score > 0 && score < SCORE_MAX));
    },
  }));
}
