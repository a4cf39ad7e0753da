import t from 'tap';
import { FEATURE_COUNT, TARGET_COUNT } from '#acuity/contract/features.js';
import { PAST_MAX } from '#rules/fields.js';
import type { GraphVariant } from '#acuity/contract/graphVariant.js';
import { blockAt, createBatchBuffers, writeRow } from '#acuity/score/batchBuffers.js';
import { featuriseRows } from '#acuity/score/worker/features.js';
import type { GraphSession, Inputs } from '#acuity/score/worker/session.js';
import { requestBody } from '../../fixtures/bodies.js';
import { requestOf, requestOfAge } from '../../fixtures/requests.js';

const BATCH_MAX = 4;

/** A graph that only has inputs. */
function newGraph(): Pick<GraphSession, 'inputs' | 'clear'> {
  const inputs: Inputs = {
    session: new Float32Array(BATCH_MAX * FEATURE_COUNT),
    past: new Float32Array(BATCH_MAX * PAST_MAX * FEATURE_COUNT),
    targets: new Float32Array(BATCH_MAX * PAST_MAX * TARGET_COUNT),
    present: new Float32Array(BATCH_MAX * PAST_MAX),
  };
  const clear = (rows: number): void => {
    for (const input of Object.values(inputs) as Float32Array[])
      input.fill(0, 0, (rows * input.length) / BATCH_MAX);
  };
  return { inputs, clear };
}

function newBlock() {
  return blockAt(createBatchBuffers(1, BATCH_MAX), BATCH_MAX, 0);
}

function task(variant: GraphVariant, first: number, rows: number) {
  return { variant, blockIndex: 0, first, rows };
}

for (const variant of ['base', 'history'] as const) {
  t.test(`${variant}: a part of a batch is read from its rows`, async (t) => {
    const block = newBlock();
    for (let row = 0; row < BATCH_MAX; row++)
      writeRow(block, row, requestOf(requestBody(variant === 'history' ? 1 + row : 0, row)));
    const [whole, part] = [newGraph(), newGraph()];
    featuriseRows(block, task(variant, 0, BATCH_MAX), whole);
    featuriseRows(block, task(variant, 2, 2), part);
    for (const name of ['session', 'past', 'targets', 'present'] as const) {
      const half = whole.inputs[name].length / 2;
      t.strictSame(part.inputs[name].slice(0, half), whole.inputs[name].slice(half), name);
      t.ok(name === 'session' || variant === 'history' || whole.inputs[name].every((value) => value === 0));
    }
  });
}

t.test('a row holds nothing of the request that used it before', async (t) => {
  const block = newBlock();
  const graph = newGraph();
  for (const past of [0, 1]) {
    writeRow(block, 0, requestOf(requestBody(5)));
    featuriseRows(block, task('history', 0, 1), graph);
    writeRow(block, 0, requestOfAge(45, past));
    featuriseRows(block, task(past === 0 ? 'base' : 'history', 0, 1), graph);
    const { session, past: pastRows, targets, present } = graph.inputs;
    const known = [...session].filter((value) => value !== 0);
    t.strictSame(known, [1], 'an age of the centre, and its mask');
    t.ok(pastRows.every((value) => value === 0));
    t.strictSame([...present.subarray(0, PAST_MAX)], [past, 0, 0, 0, 0]);
    t.equal([...targets].filter((value) => value !== 0).length, past * TARGET_COUNT);
  }
});
