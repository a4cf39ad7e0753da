import { InferenceSession, Tensor } from 'onnxruntime-node';
import { FEATURE_COUNT, TARGET_COUNT } from '../contract/features.js';
import { PAST_MAX } from '#rules/fields.js';
import { EXPLAIN_TENSORS, GRAPH_TENSORS, OUTPUT_COLUMNS } from '../model/tensors.js';
import type { GraphVariant } from '../contract/graphVariant.js';
import type { SessionOptions } from '../scoring/protocol.js';

/**
 * The network's inputs for a batch, row after row: session [batchMax, F], past [batchMax, 5, F], targets [batchMax,
 * 5, 7], present [batchMax, 5]. A graph without history reads only the first.
 */
export interface Inputs {
  readonly session: Float32Array;
  readonly past: Float32Array;
  readonly targets: Float32Array;
  readonly present: Float32Array;
}

/** Floats of one row in each input. */
const ROW_LENGTHS = {
  session: FEATURE_COUNT,
  past: PAST_MAX * FEATURE_COUNT,
  targets: PAST_MAX * TARGET_COUNT,
  present: PAST_MAX,
} as const satisfies Record<keyof Inputs, number>;

export interface GraphRun {
  /** [rows, 7] */
  readonly scores: Float32Array;
  readonly elapsedMs: number;
}

/** One graph on the CPU, with its own input tensors: ONNX Runtime accepts no shared memory. */
export interface GraphSession {
  /** Write before a run, and don't touch until it ends. */
  readonly inputs: Inputs;
  /** Zeroes the first `rows` rows of the inputs. */
  clear(rows: number): void;
  /** Runs the first `rows` rows of the inputs. */
  run(rows: number): Promise<GraphRun>;
}

function createSession(path: string, options: SessionOptions): Promise<InferenceSession> {
  return InferenceSession.create(path, {
    executionProviders: ['cpu'],
    intraOpNumThreads: options.intraOpThreads,
    interOpNumThreads: options.interOpThreads,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    extra: {
      session: {
        intra_op: { allow_spinning: options.spinning ? '1' : '0' },
        inter_op: { allow_spinning: options.spinning ? '1' : '0' },
      },
    },
  });
}

/** Opens the graph at `path` with tensors for batches of up to `batchMax` rows. */
export async function openGraph(
  variant: GraphVariant,
  path: string,
  batchMax: number,
  options: SessionOptions,
): Promise<GraphSession> {
  const session = await createSession(path, options);
  const inputs: Inputs = {
    session: new Float32Array(batchMax * ROW_LENGTHS.session),
    past: new Float32Array(batchMax * ROW_LENGTHS.past),
    targets: new Float32Array(batchMax * ROW_LENGTHS.targets),
    present: new Float32Array(batchMax * ROW_LENGTHS.present),
  };
  const feedsByRows = Array.from({ length: batchMax + 1 }, (_, rows) => feedsOf(variant, inputs, rows));
  return {
    inputs,
    clear(rows) {
      for (const { name } of GRAPH_TENSORS[variant].inputs) inputs[name].fill(0, 0, rows * ROW_LENGTHS[name]);
    },
    async run(rows) {
      const feeds = feedsByRows[rows];
      if (feeds === undefined) throw new RangeError(`a batch of ${rows} rows`);
      const start = performance.now();
      const results = await session.run(feeds);
      const elapsedMs = performance.now() - start;
      return { scores: floatsOf(results, 'scores', rows * OUTPUT_COLUMNS), elapsedMs };
    },
  };
}

type ExplainInput = (typeof EXPLAIN_TENSORS)['inputs'][number]['name'];

/** The graph of explained requests, with tensors for one request. */
export interface ExplainGraph {
  /** Write all of them before a run, and don't touch until it ends. */
  readonly inputs: Readonly<Record<ExplainInput, Float32Array>>;
  run(): Promise<ExplainRun>;
  /** Frees its memory; no run is possible any more. */
  release(): Promise<void>;
}

export interface ExplainRun {
  /** [64, 7], in the order of the mixtures */
  readonly scores: Float32Array;
  /** [10] how many points the ranges reach below the five scores, then above */
  readonly reach: Float32Array;
  readonly elapsedMs: number;
}

export async function openExplainGraph(path: string, options: SessionOptions): Promise<ExplainGraph> {
  const session = await createSession(path, options);
  const [scores, reach] = EXPLAIN_TENSORS.outputs;
  const feeds: Record<string, Tensor> = {};
  const entries = EXPLAIN_TENSORS.inputs.map(({ name, shape }) => {
    const data = new Float32Array(lengthOf(shape));
    feeds[name] = new Tensor('float32', data, shape);
    return [name, data] as const;
  });
  return {
    inputs: Object.fromEntries(entries) as Record<ExplainInput, Float32Array>,
    async run() {
      const start = performance.now();
      const results = await session.run(feeds);
      const elapsedMs = performance.now() - start;
      return {
        scores: floatsOf(results, scores.name, lengthOf(scores.shape)),
        reach: floatsOf(results, reach.name, lengthOf(reach.shape)),
        elapsedMs,
      };
    },
    release: () => session.release(),
  };
}

function lengthOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

function feedsOf(variant: GraphVariant, inputs: Inputs, rows: number): Record<string, Tensor> {
  const feeds: Record<string, Tensor> = {};
  for (const { name, shape } of GRAPH_TENSORS[variant].inputs) {
    const data = inputs[name].subarray(0, rows * ROW_LENGTHS[name]);
    feeds[name] = new Tensor('float32', data, [rows, ...shape.slice(1)]);
  }
  return feeds;
}

function floatsOf(results: InferenceSession.OnnxValueMapType, name: string, length: number): Float32Array {
  const data = results[name]?.data;
  if (!(data instanceof Float32Array) || data.length !== length) {
    throw new Error(`the network gave no ${name} of the expected shape`);
  }
  return data;
}
