import { InferenceSession, Tensor } from 'onnxruntime-node';
import { EXPLAIN_TENSORS, GRAPH_TENSORS, OUTPUT_COLUMNS, type GraphTensors } from '../model/tensors.js';
import type { GraphVariant } from '../contract/graphVariant.js';
import type { SessionOptions } from '../scoring/protocol.js';

/** One graph on the CPU, with its own input tensors: ONNX Runtime accepts no shared memory. */
export type GraphSession = Awaited<ReturnType<typeof openGraph>>;
export type Inputs = GraphSession['inputs'];
export type GraphRun = Awaited<ReturnType<GraphSession['run']>>;
/** The graph of explained requests, with tensors for one request. */
export type ExplainGraph = Awaited<ReturnType<typeof openExplainGraph>>;

function createSession(path: string, options: SessionOptions): Promise<InferenceSession> {
  return InferenceSession.create(path, {
    executionProviders: ['cpu'],
    intraOpNumThreads: options.intraOpThreads,
    interOpNumThreads: options.interOpThreads,
    // In the sequential mode threads between operators have nothing to do.
    executionMode: options.interOpThreads > 1 ? 'parallel' : 'sequential',
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
) {
  const session = await createSession(path, options);
  const inputs = zeros(GRAPH_TENSORS.history.inputs, batchMax);
  const own = GRAPH_TENSORS[variant].inputs.map(({ name, shape }) => ({ name, shape, length: rowOf(shape) }));
  const feedsByRows = Array.from({ length: batchMax + 1 }, (_, rows) =>
    Object.fromEntries(
      own.map(({ name, shape, length }) => {
        const data = inputs[name].subarray(0, rows * length);
        return [name, new Tensor('float32', data, [rows, ...shape.slice(1)])];
      }),
    ),
  );
  return {
    /**
     * Of a batch, row after row: session [batchMax, F], past [batchMax, 5, F], targets [batchMax, 5, 7], present
     * [batchMax, 5]. A graph without history reads only the first. Write before a run, and don't touch until it ends.
     */
    inputs,
    /** Zeroes the first `rows` rows of the inputs. */
    clear(rows: number): void {
      for (const { name, length } of own) inputs[name].fill(0, 0, rows * length);
    },
    /** Runs the first `rows` rows of the inputs; gives scores [rows, 7]. */
    async run(rows: number) {
      const feeds = feedsByRows[rows];
      if (feeds === undefined) throw new RangeError(`a batch of ${rows} rows`);
      const start = performance.now();
      const results = await session.run(feeds);
      const elapsedMs = performance.now() - start;
      return { scores: floatsOf(results, 'scores', rows * OUTPUT_COLUMNS), elapsedMs };
    },
  };
}

export async function openExplainGraph(path: string, options: SessionOptions) {
  const session = await createSession(path, options);
  const [scores, reach] = EXPLAIN_TENSORS.outputs;
  const inputs = zeros(EXPLAIN_TENSORS.inputs);
  const feeds = Object.fromEntries(
    EXPLAIN_TENSORS.inputs.map(({ name, shape }) => [name, new Tensor('float32', inputs[name], shape)]),
  );
  return {
    /** Write all of them before a run, and don't touch until it ends. */
    inputs,
    /**
     * Gives scores [64, 7], in the order of the mixtures, and reach [10]: how many points the ranges reach below the
     * five scores, then above.
     */
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
    /** Frees its memory; no run is possible any more. */
    release: () => session.release(),
  };
}

/** Memory for each of the tensors, with `rows` rows if their shapes leave that open. */
function zeros<Name extends string>(
  tensors: readonly (GraphTensors['inputs'][number] & { readonly name: Name })[],
  rows?: number,
): Readonly<Record<Name, Float32Array>> {
  const entries = tensors.map(({ name, shape }) => {
    const length = rows === undefined ? lengthOf(shape) : rows * rowOf(shape);
    return [name, new Float32Array(length)] as const;
  });
  return Object.fromEntries(entries) as Record<Name, Float32Array>;
}

function rowOf([, ...row]: readonly number[]): number {
  return lengthOf(row);
}

function lengthOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

function floatsOf(results: InferenceSession.OnnxValueMapType, name: string, length: number): Float32Array {
  const data = results[name]?.data;
  if (!(data instanceof Float32Array) || data.length !== length) {
    throw new Error(`the network gave no ${name} of the expected shape`);
  }
  return data;
}
