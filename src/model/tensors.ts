/** The tensors of the graphs: names and shapes. */
import { FEATURE_COUNT, TARGET_COUNT } from '../contract/features.js';
import { LABEL_FIELDS, PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';

/** The output `scores`: the five scores, from this column on the probabilities of High valence and arousal. */
export const FIRST_PROBABILITY = SCORE_FIELDS.length;
export const OUTPUT_COLUMNS = FIRST_PROBABILITY + LABEL_FIELDS.length;

/** The tensors of a graph, in order. */
export type GraphTensors = Readonly<Record<'inputs' | 'outputs', readonly Tensor[]>>;

interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
}

const session = { name: 'session', shape: [-1, FEATURE_COUNT] } as const;
const outputs = [{ name: 'scores', shape: [-1, OUTPUT_COLUMNS] }] as const;

/** The inputs that the service feeds to each graph, and the outputs it reads. */
export const GRAPH_TENSORS = {
  base: { inputs: [session], outputs },
  history: {
    inputs: [
      session,
      { name: 'past', shape: [-1, PAST_MAX, FEATURE_COUNT] },
      { name: 'targets', shape: [-1, PAST_MAX, TARGET_COUNT] },
      { name: 'present', shape: [-1, PAST_MAX] },
    ],
    outputs,
  },
} as const;
