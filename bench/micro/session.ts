import assert from 'node:assert/strict';
import { loadBundle, type Bundle } from '#acuity/model/bundle.js';
import { OUTPUT_COLUMNS } from '#acuity/model/manifest.js';
import { featurisePast, featuriseSession } from '#acuity/pipeline/featurise.js';
import { ROW_LENGTHS, blockAt, createArena, type Lane } from '#acuity/scoring/messages.js';
import { openGraph } from '#acuity/worker/session.js';
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

async function casesOf({ graphs }: Bundle, lane: Lane): Promise<MicroCase[]> {
  const options = { intraOpThreads: 1, interOpThreads: 1, spinning: false };
  const graph = await openGraph(lane, graphs[lane], BATCH_MAX, options);
  const block = blockAt(createArena(1, BATCH_MAX), BATCH_MAX, 0);
  const requests = readRequests(lane === 'base' ? 'baseline' : 'history');
  for (let row = 0; row < BATCH_MAX; row++) {
    const request = itemAt(requests, row % requests.length);
    featuriseSession(request, 0, block.session, row * ROW_LENGTHS.session);
    featurisePast(request, block, row);
  }
  return BATCHES.map((rows) => ({
    name: `${lane}: rows of a batch of ${rows}`,
    units: rows,
    run: () => graph.run(block, 0, rows),
    check() {
      const scores = block.scores.subarray(0, rows * OUTPUT_COLUMNS);
      assert.ok(scores.every((score) => score > 0 && score < SCORE_MAX));
    },
  }));
}
