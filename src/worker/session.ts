import { InferenceSession, Tensor } from 'onnxruntime-node';
import { GRAPH_TENSORS, OUTPUT_COLUMNS } from '../model/manifest.js';
import { ROW_LENGTHS, type Block, type Lane, type SessionOptions } from '../scoring/messages.js';

type Piece = 'session' | 'past' | 'targets' | 'present';

/** One graph on the CPU, with input tensors of its own: ONNX Runtime takes no shared memory. */
export interface GraphSession {
  /** Runs rows `first … first + rows` of `block` and writes their scores back; returns milliseconds. */
  run(block: Block, first: number, rows: number): Promise<number>;
}

/** Opens the graph at `path` with tensors for batches of up to `batchMax` rows. */
export async function openGraph(
  lane: Lane,
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
  const inputs = GRAPH_TENSORS[lane].inputs.map(({ name, shape }) => {
    const piece: Piece = name;
    return { piece, shape, copy: new Float32Array(batchMax * ROW_LENGTHS[piece]) };
  });
  const feedsByRows = Array.from({ length: batchMax + 1 }, (_, rows) => feedsOf(inputs, rows));
  return {
    async run(block, first, rows) {
      for (const { piece, copy } of inputs) {
        const length = ROW_LENGTHS[piece];
        copy.set(block[piece].subarray(first * length, (first + rows) * length));
      }
      const feeds = feedsByRows[rows];
      if (feeds === undefined) throw new RangeError(`a batch of ${rows} rows`);
      const start = performance.now();
      const results = await session.run(feeds);
      const elapsedMs = performance.now() - start;
      block.scores.set(scoresOf(results, rows), first * OUTPUT_COLUMNS);
      return elapsedMs;
    },
  };
}

interface Input {
  readonly piece: Piece;
  readonly shape: readonly number[];
  readonly copy: Float32Array;
}

function feedsOf(inputs: readonly Input[], rows: number): Record<string, Tensor> {
  const feeds: Record<string, Tensor> = {};
  for (const { piece, shape, copy } of inputs) {
    feeds[piece] = new Tensor('float32', copy.subarray(0, rows * ROW_LENGTHS[piece]), [
      rows,
      ...shape.slice(1),
    ]);
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
