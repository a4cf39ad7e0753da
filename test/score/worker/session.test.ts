import { readdirSync } from 'node:fs';
import t from 'tap';
import { prepareEnvironment } from '#acuity/config/options.js';
import { FEATURE_COUNT } from '#acuity/contract/features.js';
import { PAST_MAX } from '#rules/fields.js';
import { OUTPUT_COLUMNS } from '#acuity/model/tensors.js';
import { featurisePast, featuriseRecord } from '#acuity/night/featurise.js';
import { GRAPH_VARIANTS, type GraphVariant } from '#acuity/contract/graphVariant.js';
import type { SessionOptions } from '#acuity/score/protocol.js';
import type { GraphRun, GraphSession } from '#acuity/score/worker/session.js';
import { requestBody } from '../../fixtures/bodies.js';
import { MODEL, graphsOf } from '../../fixtures/model.js';
import { requestOf } from '../../fixtures/requests.js';

// Before ONNX Runtime loads: it reports usage unless told not to.
prepareEnvironment();
const { openGraph } = await import('#acuity/score/worker/session.js');

const BATCH_MAX = 8;
const OPTIONS: SessionOptions = { intraOpThreads: 1, interOpThreads: 1, spinning: false };

/** Writes a request, another one for each seed, as row `row` of a graph's inputs. */
function fill({ inputs }: GraphSession, row: number, variant: GraphVariant, seed: number): void {
  const request = requestOf(requestBody(variant === 'history' ? 1 + (seed % PAST_MAX) : 0, seed));
  featuriseRecord(request.records, 0, inputs.session, row * FEATURE_COUNT);
  if (variant === 'history') featurisePast(request, inputs, row);
}

function rowOf({ scores }: GraphRun, row: number): number[] {
  return [...scores.subarray(row * OUTPUT_COLUMNS, (row + 1) * OUTPUT_COLUMNS)];
}

function areClose(one: readonly number[], other: readonly number[]): boolean {
  return one.every((value, index) => Math.abs(value - (other[index] ?? NaN)) <= 1e-3);
}

for (const variant of GRAPH_VARIANTS) {
  t.test(`${variant}: each row of a batch has the scores that it has alone`, async (t) => {
    const graph = await openGraph(variant, graphsOf(MODEL)[variant], BATCH_MAX, OPTIONS);
    for (let row = 0; row < BATCH_MAX; row++) fill(graph, row, variant, row);
    const batch = await graph.run(BATCH_MAX);
    t.ok(batch.elapsedMs >= 0);
    t.equal(batch.scores.length, BATCH_MAX * OUTPUT_COLUMNS);
    for (let row = 0; row < BATCH_MAX; row++) {
      graph.clear(1);
      fill(graph, 0, variant, row);
      t.ok(areClose(rowOf(await graph.run(1), 0), rowOf(batch, row)), `row ${row}`);
    }
    t.notOk(areClose(rowOf(batch, 0), rowOf(batch, 1)), 'two people, two answers');
  });
}

t.test('inter-op threads run the graph in parallel, with the same scores', async (t) => {
  const openWith = (interOpThreads: number) =>
    openGraph('history', graphsOf(MODEL).history, BATCH_MAX, { ...OPTIONS, interOpThreads });
  const threads = (): number => (process.platform === 'linux' ? readdirSync('/proc/self/task').length : NaN);
  const one = await openWith(1);
  const before = threads();
  const two = await openWith(3);
  if (process.platform === 'linux') t.ok(threads() > before, 'they exist');
  const runs = [one, two].map((graph) => {
    fill(graph, 0, 'history', 3);
    return graph.run(1);
  });
  const [first, second] = await Promise.all(runs);
  t.ok(first && second && areClose(rowOf(first, 0), rowOf(second, 0)));
});

t.test('a batch above the most is refused', async (t) => {
  const graph = await openGraph('base', graphsOf(MODEL).base, 2, OPTIONS);
  await t.rejects(graph.run(3));
});
