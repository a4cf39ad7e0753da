import { InferenceSession, Tensor } from 'onnxruntime-node';
import { FEATURE_COUNT, TARGET_COUNT } from '../contract/features.js';
import { PAST_MAX } from '../contract/request.js';
import { GRAPH_TENSORS, OUTPUT_COLUMNS } from '../model/manifest.js';
import type { GraphVariant, SessionOptions } from '../scoring/protocol.js';

/**
 * The network's inputs for a batch, row after row: session [batchMax, F], past [batchMax, 5, F], targets
 * [batchMax, 5, 7], present [batchMax, 5]. A graph without history reads the first alone.
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

/** One graph on the CPU, with input tensors of its own: ONNX Runtime takes no shared memory. */
export interface GraphSession {
  /** To be written before a run, and left alone until it is over. */
  readonly inputs: Inputs;
  /** Zeroes the first `rows` rows of the inputs. */
  clear(rows: number): void;
  /** Runs the first `rows` rows of the inputs. */
  run(rows: number): Promise<GraphRun>;
}

/** Opens the graph at `path` with tensors for batches of up to `batchMax` rows. */
export async function openGraph(
  variant: GraphVariant,
  path: string,
  batchMax: number,
  options: SessionOptions,
): Promise<GraphSession> {
  const session = await InferenceSession.create(path, {
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
      return { scores: scoresOf(results, rows), elapsedMs };
    },
  };
}

function feedsOf(variant: GraphVariant, inputs: Inputs, rows: number): Record<string, Tensor> {
  const feeds: Record<string, Tensor> = {};
  for (const { name, shape } of GRAPH_TENSORS[variant].inputs) {
    const data = inputs[name].subarray(0, rows * ROW_LENGTHS[name]);
    feeds[name] = new Tensor('float32', data, [rows, ...shape.slice(1)]);
  }
  return feeds;
}

function scoresOf(results: InferenceSession.OnnxValueMapType, rows: number): Float32Array {
  const data = results['scores']?.data;
  if (!(data instanceof Float32Array) || data.length !== rows * OUTPUT_COLUMNS) {
    throw new Error('the network gave no scores of the expected shape');
  }
  return data;
}
