import { InferenceSession, Tensor } from 'onnxruntime-node';
import type { Bundle } from '#acuity/model/bundle.js';
import { GRAPH_TENSORS } from '#acuity/model/tensors.js';
import type { ModelInput } from './features.js';

/** ONNX Runtime in this process: one run for each request. */
export interface Inference {
  /** C_SCORE, attention, memory, reasoning, stress, then the probabilities of High valence and arousal. */
  score(input: ModelInput): Promise<Float32Array>;
  close(): Promise<void>;
}

/** The same thread settings as the service. */
const SESSION_OPTIONS: InferenceSession.SessionOptions = {
  executionProviders: ['cpu'],
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  graphOptimizationLevel: 'all',
};

export async function openInference({ graphs }: Bundle): Promise<Inference> {
  const base = await InferenceSession.create(graphs.base, SESSION_OPTIONS);
  const history = await InferenceSession.create(graphs.history, SESSION_OPTIONS);
  return {
    async score(input) {
      const [session, graph] =
        input.past === undefined ? [base, 'base' as const] : [history, 'history' as const];
      const feeds: Record<string, Tensor> = { session: tensorOf(graph, 0, input.session) };
      if (input.past !== undefined) {
        feeds['past'] = tensorOf(graph, 1, input.past.past);
        feeds['targets'] = tensorOf(graph, 2, input.past.targets);
        feeds['present'] = tensorOf(graph, 3, input.past.present);
      }
      const { scores } = await session.run(feeds);
      if (!(scores?.data instanceof Float32Array)) throw new Error('the network gave no scores');
      return scores.data;
    },
    async close() {
      await base.release();
      await history.release();
    },
  };
}

/** A batch of one. */
function tensorOf(graph: keyof typeof GRAPH_TENSORS, input: number, row: Float32Array): Tensor {
  const shape = GRAPH_TENSORS[graph].inputs[input]?.shape ?? [];
  return new Tensor('float32', row, [1, ...shape.slice(1)]);
}
