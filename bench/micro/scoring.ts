import assert from 'node:assert/strict';
import { EXPLANATION } from '#acuity/contract/explanation.js';
import { FEATURES, FEATURE_COUNT } from '#acuity/contract/features.js';
import { loadBundle } from '#acuity/model/bundle.js';
import { OUTPUT_COLUMNS } from '#acuity/model/tensors.js';
import { featurisePast, featuriseRecord } from '#acuity/night/featurise.js';
import { respond } from '#acuity/night/respond.js';
import { openPool, runOnce } from '#acuity/score/pool.js';
import { EXPLAIN_ROWS, Explainer } from '#acuity/score/worker/explainer.js';
import { openGraph, type GraphRun } from '#acuity/score/worker/session.js';
import { MODEL_FOLDER } from '#bench/paths.js';
import { turning, type MicroCase, type Suite } from './harness.js';
import { readRequests } from './reading.js';

const BATCHES = [1, 2, 4, 8, 16, 32] as const;
const BATCH_MAX = 32;
const SCORE_MAX = 100;
const THREADS = { intraOpThreads: 1, interOpThreads: 1, spinning: false };

/** To a worker and back without a model: a batch's cost of crossing threads. */
export const DISPATCH: Suite = {
  name: 'dispatch',
  async open() {
    const { graphs } = await loadBundle(MODEL_FOLDER);
    const pool = openPool({
      workers: 1,
      batchMax: BATCH_MAX,
      blocks: 2,
      graphs,
      session: THREADS,
      onWorkerLost: (error) => {
        throw error;
      },
      workerUrl: new URL('./echoWorker.js', import.meta.url),
    });
    const sent = (blockIndex: number) =>
      runOnce(pool, { variant: 'base', blockIndex, first: 0, rows: BATCH_MAX });
    const cases = [1, 2].map((count): MicroCase => ({
      name: `${count} at a time`,
      units: count,
      run: () => Promise.all(Array.from({ length: count }, (_, block) => sent(block))),
      check: (result) => assert.deepEqual(result, Array(count).fill(BATCH_MAX)),
    }));
    return { cases, close: () => pool.close() };
  },
};

/** The network by batch size, in the service's own session: microseconds a row. */
export const SESSION: Suite = {
  name: 'session',
  async open() {
    const cases = await Promise.all(
      (['base', 'history'] as const).map(async (variant) => {
        const { graph, place } = await opened(variant, BATCH_MAX);
        for (let row = 0; row < BATCH_MAX; row++) place(row);
        return BATCHES.map((rows): MicroCase => ({
          name: `${variant}: rows of a batch of ${rows}`,
          units: rows,
          run: () => graph.run(rows),
          check(result) {
            const { scores } = result as GraphRun;
            assert.equal(scores.length, rows * OUTPUT_COLUMNS);
            assert.ok(scores.every((score) => score > 0 && score < SCORE_MAX));
          },
        }));
      }),
    );
    return { cases: cases.flat() };
  },
};

/** A worker's cost for one request, without and with an explanation. */
export const EXPLAIN: Suite = {
  name: 'explain',
  async open() {
    const { explain } = await loadBundle(MODEL_FOLDER);
    if (explain === undefined) throw new Error(`${MODEL_FOLDER} has no table to explain by`);
    const [base, history] = [await opened('base', EXPLAIN_ROWS), await opened('history', EXPLAIN_ROWS)];
    const explainer = new Explainer({ base: base.graph, history: history.graph }, explain);
    const usual = new Float64Array(FEATURE_COUNT).fill(NaN);
    for (const [feature, { centre }] of FEATURES.entries()) usual[feature] = centre;
    const floats = new Float32Array(EXPLANATION.length);
    const cases: MicroCase[] = [];
    for (const [variant, { graph, place, next }] of Object.entries({ base, history })) {
      const plain = () => {
        graph.clear(1);
        place(0);
        return graph.run(1);
      };
      const explained = (name: string, more: { readonly usual?: Float64Array }): MicroCase => ({
        name: `${variant}: explained${name}`,
        units: 1,
        run: () => explainer.explain({ ...next(), ...more }, floats),
        check: () => assert.ok(floats.every(Number.isFinite)),
      });
      const check = (result: unknown): void =>
        assert.equal((result as GraphRun).scores.length, OUTPUT_COLUMNS);
      cases.push({ name: `${variant}: plain`, units: 1, run: plain, check }, explained('', {}));
      if (variant === 'history') cases.push(explained(' against what is usual', { usual }));
    }
    return { cases };
  },
};

/** A graph, and what puts the next request of its payload into one of its rows. */
async function opened(variant: 'base' | 'history', rows: number) {
  const { graphs } = await loadBundle(MODEL_FOLDER);
  const graph = await openGraph(variant, graphs[variant], rows, THREADS);
  const next = turning(readRequests(variant === 'base' ? 'baseline' : 'history'));
  const place = (row: number) => {
    const request = next();
    featuriseRecord(request.records, 0, graph.inputs.session, row * FEATURE_COUNT);
    if (variant === 'history') featurisePast(request, graph.inputs, row);
  };
  return { graph, place, next };
}

const ROW = Float32Array.of(50.123, 49.871, 51.034, 50.442, 48.908, 0.73, 0.21);
const BODY =
  '{"C_SCORE":50.12,"attention":49.87,"memory":51.03,"reasoning":50.44,"stress":48.91,"valence":"High","arousal":"Low","inference_time_ms":0.12}';

/** From a row of scores to the body of a 200. */
export const RESPOND: Suite = {
  name: 'respond',
  open: () =>
    Promise.resolve({
      cases: [
        {
          name: 'table of hundredths',
          units: 1,
          run: () => respond(ROW, 0, 0.123, { valence: 0.5, arousal: 0.5 }),
          check: (result) => assert.deepEqual(JSON.parse(String(result)), JSON.parse(BODY)),
        },
      ],
    }),
};
