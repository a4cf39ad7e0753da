import { InferenceSession, Tensor } from 'onnxruntime-node';
import { GRAPH_TENSORS, OUTPUT_COLUMNS } from '../../model/tensors.js';
import type { GraphVariant } from '../../contract/graphVariant.js';
import type { SessionOptions } from '../protocol.js';

/** One graph on the CPU, with its own input tensors: ONNX Runtime accepts no shared memory. */
export type GraphSession = Awaited<ReturnType<typeof openGraph>>;
export type Inputs = GraphSession['inputs'];
export type GraphRun = Awaited<ReturnType<GraphSession['run']>>;

/** Opens the graph at `path` with tensors for batches of up to `batchMax` rows. */
export async function openGraph(
  variant: GraphVariant,
  path: string,
  batchMax: number,
  options: SessionOptions,
) {
  const spinning = { allow_spinning: options.spinning ? '1' : '0' };
  const session = await InferenceSession.create(path, {
    executionProviders: ['cpu'],
    intraOpNumThreads: options.intraOpThreads,
    interOpNumThreads: options.interOpThreads,
    // In the sequential mode threads between operators have nothing to do.
    executionMode: options.interOpThreads > 1 ? 'parallel' : 'sequential',
    graphOptimizationLevel: 'all',
    extra: { session: { intra_op: spinning, inter_op: spinning } },
  });
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
     * The inputs of a batch, row after row: session [batchMax, F], past [batchMax, 5, F], targets [batchMax, 5, 7], present
     * [batchMax, 5]. A graph without history reads only the first. Write before a run, and don't touch until it ends.
     */
    inputs,
    /** Zeroes the first `rows` rows of the inputs. */
    clear(rows: number): void {
      for (const { name, length } of own) inputs[name].fill(0, 0, rows * length);
    },
    /** Gives the first `rows` rows the past of the first. */
    repeatPast(rows: number): void {
      for (const { name, length } of own) {
        if (name === 'session') continue;
        const all = inputs[name].subarray(0, rows * length);
        for (let filled = length; filled < all.length; filled *= 2) all.copyWithin(filled, 0, filled);
      }
    },
    /** Runs the first `rows` rows of the inputs; gives scores [rows, 7]. */
    async run(rows: number) {
      const feeds = feedsByRows[rows];
      if (feeds === undefined) throw new RangeError(`a batch of ${rows} rows`);
      const start = performance.now();
      const results = await session.run(feeds);
      const elapsedMs = performance.now() - start;
      const scores = results['scores']?.data;
      if (!(scores instanceof Float32Array) || scores.length !== rows * OUTPUT_COLUMNS) {
        throw new Error('the network gave no scores of the expected shape');
      }
      return { scores, elapsedMs };
    },
  };
}

/** Memory for `rows` rows of each of the tensors. */
function zeros<Name extends string>(
  tensors: readonly { readonly name: Name; readonly shape: readonly number[] }[],
  rows: number,
): Readonly<Record<Name, Float32Array>> {
  const entries = tensors.map(({ name, shape }) => [name, new Float32Array(rows * rowOf(shape))] as const);
  return Object.fromEntries(entries) as Record<Name, Float32Array>;
}

function rowOf([, ...row]: readonly number[]): number {
  return row.reduce((product, size) => product * size, 1);
}
