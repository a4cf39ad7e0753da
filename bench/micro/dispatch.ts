import assert from 'node:assert/strict';
import { loadBundle } from '#acuity/model/bundle.js';
import { openPool, runOnce } from '#acuity/scoring/pool.js';
import { MODEL_FOLDER } from '#bench/paths.js';
import type { Suite } from './harness.js';

const BATCH_MAX = 32;
const BLOCKS = 2;

/** To a worker and back without a model: a batch's cost of crossing threads. */
export const DISPATCH: Suite = {
  name: 'dispatch',
  async open() {
    const { graphs } = await loadBundle(MODEL_FOLDER);
    const pool = openPool({
      workers: 1,
      batchMax: BATCH_MAX,
      blocks: BLOCKS,
      graphs,
      session: { intraOpThreads: 1, interOpThreads: 1, spinning: false },
      onWorkerLost: (error) => {
        throw error;
      },
      workerUrl: new URL('./echoWorker.js', import.meta.url),
    });
    const task = (blockIndex: number) =>
      ({ variant: 'base', blockIndex, first: 0, rows: BATCH_MAX }) as const;
    return {
      cases: [
        {
          name: 'one task at a time',
          units: 1,
          run: () => runOnce(pool, task(0)),
          check: (result) => assert.equal(result, BATCH_MAX),
        },
        {
          name: 'two at a time',
          units: 2,
          run: () => Promise.all([runOnce(pool, task(0)), runOnce(pool, task(1))]),
          check: (result) => assert.deepEqual(result, [BATCH_MAX, BATCH_MAX]),
        },
      ],
      close: () => pool.close(),
    };
  },
};
