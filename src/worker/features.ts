import { FEATURE_COUNT } from '../contract/features.js';
import { featurisePast, featuriseSession } from '../pipeline/featurise.js';
import { readRow, type Block } from '../scoring/batchBuffers.js';
import type { GraphVariant } from '../contract/graphVariant.js';
import type { BatchTask } from '../scoring/protocol.js';
import type { GraphSession } from './session.js';

/** Writes the features of the rows of `task` as the first rows of a graph's inputs. */
export function featuriseRows(
  block: Block,
  { variant, first, rows }: Pick<BatchTask, 'first' | 'rows'> & { readonly variant: GraphVariant },
  graph: Pick<GraphSession, 'inputs' | 'clear'>,
): void {
  const { inputs } = graph;
  graph.clear(rows);
  for (let row = 0; row < rows; row++) {
    const request = readRow(block, first + row);
    featuriseSession(request, 0, inputs.session, row * FEATURE_COUNT);
    if (variant === 'history') featurisePast(request, inputs, row);
  }
}
