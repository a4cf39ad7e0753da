import { FEATURE_COUNT } from '../../contract/features.js';
import { featurisePast, featuriseRecord } from '../../night/featurise.js';
import { LAYOUT } from '../../night/layout.js';
import { ROW_LENGTHS, type Block } from '../batchBuffers.js';
import type { GraphVariant } from '../../contract/graphVariant.js';
import type { BatchTask } from '../protocol.js';
import type { GraphSession } from './session.js';

/** Writes the features of the rows of `task` to the first rows of a graph's inputs. */
export function featuriseRows(
  { records, targets, pastCounts }: Block,
  { variant, first, rows }: Pick<BatchTask, 'first' | 'rows'> & { readonly variant: GraphVariant },
  graph: Pick<GraphSession, 'inputs' | 'clear'>,
): void {
  const { inputs } = graph;
  graph.clear(rows);
  for (let row = 0; row < rows; row++) {
    const record = (first + row) * ROW_LENGTHS.records;
    featuriseRecord(records, record, inputs.session, row * FEATURE_COUNT);
    if (variant === 'base') continue;
    const pastCount = pastCounts[first + row] ?? 0;
    const places = { record: record + LAYOUT.RECORD_LENGTH, target: (first + row) * ROW_LENGTHS.targets };
    featurisePast({ records, targets, pastCount }, inputs, row, places);
  }
}
