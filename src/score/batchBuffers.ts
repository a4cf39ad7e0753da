import { EXPLANATION } from '../contract/explanation.js';
import { FEATURE_COUNT } from '../contract/features.js';
import { PAST_MAX } from '#rules/fields.js';
import { OUTPUT_COLUMNS } from '../model/tensors.js';
import { ADJUSTMENTS_LENGTH, isAnyMoved, type Adjustments } from '../night/measuredRow.js';
import { LAYOUT } from '../night/layout.js';
import type { PredictionRequest } from '../night/request.js';

/**
 * One block of the buffers holds a batch, a row for each request, as the reader left it; the worker makes the
 * network's features of it, which it has to write to tensors of its own anyway. R is `RECORD_LENGTH`:
 *
 *   records [batchMax, 6, R] │ targets [batchMax, 5, 7] │ pastCounts [batchMax] │ usuals [EXPLAINED_ROWS_MAX, F] │
 *   adjustments [EXPLAINED_ROWS_MAX, ADJUSTMENTS_LENGTH] │ scores [batchMax, 7] │ explanations [EXPLAINED_ROWS_MAX, EXPLANATION.length]
 */

/** The parts of one block, as views of the buffers. */
export interface Block {
  readonly records: Float64Array;
  readonly targets: Float64Array;
  readonly pastCounts: Float64Array;
  /** The usual days of explained requests; the first number, in the place of a mask, is 1 if there is one. */
  readonly usuals: Float64Array;
  /** How measurements change the scores of explained requests; all 0 if none counts. */
  readonly adjustments: Float64Array;
  readonly scores: Float32Array;
  /** Written for explained requests only. */
  readonly explanations: Float32Array;
}

/** Explained requests that run together. They run one after the other, so more would save nothing. */
export const EXPLAINED_ROWS_MAX = 2;

/** Numbers of one row in each part of a block, in their order. */
export const ROW_LENGTHS = {
  records: (1 + PAST_MAX) * LAYOUT.RECORD_LENGTH,
  targets: PAST_MAX * LAYOUT.TARGET_LENGTH,
  pastCounts: 1,
  usuals: FEATURE_COUNT,
  adjustments: ADJUSTMENTS_LENGTH,
  scores: OUTPUT_COLUMNS,
  explanations: EXPLANATION.length,
} as const satisfies Record<keyof Block, number>;

type Part = keyof Block;
const PARTS = Object.keys(ROW_LENGTHS) as Part[];
const EXPLAINED: ReadonlySet<Part> = new Set(['usuals', 'adjustments', 'explanations']);
const FLOATS: ReadonlySet<Part> = new Set(['scores', 'explanations']);

function lengthOf(part: Part, batchMax: number): number {
  return (EXPLAINED.has(part) ? EXPLAINED_ROWS_MAX : batchMax) * ROW_LENGTHS[part];
}

/** A multiple of eight, so that the doubles of the next block are aligned. */
function bytesOfBlock(batchMax: number): number {
  const bytes = PARTS.reduce((sum, part) => sum + lengthOf(part, batchMax) * (FLOATS.has(part) ? 4 : 8), 0);
  return Math.ceil(bytes / 8) * 8;
}

export function createBatchBuffers(blocks: number, batchMax: number): SharedArrayBuffer {
  return new SharedArrayBuffer(blocks * bytesOfBlock(batchMax));
}

export function blockCountOf(buffers: SharedArrayBuffer, batchMax: number): number {
  return buffers.byteLength / bytesOfBlock(batchMax);
}

/** The parts of block `blockIndex`, as views of the buffers. */
export function blockAt(buffers: SharedArrayBuffer, batchMax: number, blockIndex: number): Block {
  let byte = blockIndex * bytesOfBlock(batchMax);
  const views = PARTS.map((part) => {
    const of = [buffers, byte, lengthOf(part, batchMax)] as const;
    const view = FLOATS.has(part) ? new Float32Array(...of) : new Float64Array(...of);
    byte += view.byteLength;
    return [part, view];
  });
  return Object.fromEntries(views) as unknown as Block;
}

/** The explanation of row `row` in a batch of explained requests. */
export function explanationAt({ explanations }: Block, row: number): Float32Array {
  return explanations.subarray(row * ROW_LENGTHS.explanations, (row + 1) * ROW_LENGTHS.explanations);
}

/** Writes a request as row `row`, replacing everything the row held. */
export function writeRow(
  block: Block,
  row: number,
  { records, targets, pastCount }: PredictionRequest,
): void {
  block.records.set(records, row * ROW_LENGTHS.records);
  if (pastCount > 0) block.targets.set(targets, row * ROW_LENGTHS.targets);
  block.pastCounts[row] = pastCount;
}

/** Writes what row `row` needs only if it is to be explained: its usual day, and measurements. */
export function writeExplained(block: Block, row: number, { usual, adjustments }: PredictionRequest): void {
  const first = row * ROW_LENGTHS.usuals;
  if (usual !== undefined) block.usuals.set(usual, first);
  block.usuals[first] = usual === undefined ? 0 : 1;
  const moves = adjustmentsOfRow(block, row);
  if (adjustments === undefined) moves.fill(0);
  else moves.set(adjustments);
}

/** The usual day of row `row`, a view of the block. */
export function usualAt({ usuals }: Block, row: number): Float64Array | undefined {
  const first = row * ROW_LENGTHS.usuals;
  return usuals[first] === 1 ? usuals.subarray(first, first + ROW_LENGTHS.usuals) : undefined;
}

/** How measurements change the scores of row `row`, a view of the block. */
export function adjustmentsAt(block: Block, row: number): Adjustments | undefined {
  const adjustments = adjustmentsOfRow(block, row);
  return isAnyMoved(adjustments) ? adjustments : undefined;
}

function adjustmentsOfRow({ adjustments }: Block, row: number): Adjustments {
  return adjustments.subarray(row * ROW_LENGTHS.adjustments, (row + 1) * ROW_LENGTHS.adjustments);
}

/** The request in row `row`, without what `writeExplained` adds: views of the block. */
export function readRow({ records, targets, pastCounts }: Block, row: number): PredictionRequest {
  return {
    records: records.subarray(row * ROW_LENGTHS.records, (row + 1) * ROW_LENGTHS.records),
    targets: targets.subarray(row * ROW_LENGTHS.targets, (row + 1) * ROW_LENGTHS.targets),
    pastCount: pastCounts[row] ?? 0,
  };
}
