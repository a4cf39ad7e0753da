import { FEATURE_COUNT } from '../contract/features.js';
import { featurisePast, featuriseSession } from '../pipeline/featurise.js';
import { readRow, type BatchTask, type Block } from '../scoring/protocol.js';
import type { GraphSession } from './session.js';

/** Writes the features of the rows of `task` as the first rows of a graph's inputs. */
export function featuriseRows(
  block: Block,
  { variant, first, rows }: BatchTask,
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
