import { FEATURE_COUNT, TARGET_COUNT } from '../contract/features.js';
import { PAST_MAX } from '../contract/request.js';
import { OUTPUT_COLUMNS } from '../model/manifest.js';

/** What crosses threads: the arena of rows, shared by all, and small messages that name a part of it. */

/** Requests without history and with history run on graphs of their own. */
export type Lane = 'base' | 'history';

/** Run rows `first … first + rows` of block `slot`; the scores go to the block's own output. */
export interface BatchTask {
  readonly lane: Lane;
  readonly slot: number;
  readonly first: number;
  readonly rows: number;
}

/** Milliseconds that the run took. */
export type BatchResult = number;

/** How ONNX Runtime is set up in each worker. */
export interface SessionOptions {
  readonly intraOpThreads: number;
  readonly interOpThreads: number;
  readonly spinning: boolean;
}

/** What a worker is given when it starts. */
export interface WorkerSetup {
  readonly graphs: { readonly base: string; readonly history: string };
  readonly options: SessionOptions;
  readonly arena: SharedArrayBuffer;
  readonly batchMax: number;
}

/**
 * One block of the arena holds a batch, each tensor in one piece, so that a batch of n rows is the first n
 * rows of every piece:
 *
 *   session [batchMax, F] │ past [batchMax, 5, F] │ targets [batchMax, 5, 7] │ present [batchMax, 5] │ scores [batchMax, 7]
 */
export interface Block {
  readonly session: Float32Array;
  readonly past: Float32Array;
  readonly targets: Float32Array;
  readonly present: Float32Array;
  readonly scores: Float32Array;
}

/** Floats of one row in each piece of a block. */
export const ROW_LENGTHS = {
  session: FEATURE_COUNT,
  past: PAST_MAX * FEATURE_COUNT,
  targets: PAST_MAX * TARGET_COUNT,
  present: PAST_MAX,
  scores: OUTPUT_COLUMNS,
} as const satisfies Record<keyof Block, number>;

const FLOATS_PER_ROW = Object.values(ROW_LENGTHS).reduce((sum, length) => sum + length, 0);

export function createArena(slots: number, batchMax: number): SharedArrayBuffer {
  return new SharedArrayBuffer(slots * batchMax * FLOATS_PER_ROW * Float32Array.BYTES_PER_ELEMENT);
}

export function slotsOf(arena: SharedArrayBuffer, batchMax: number): number {
  return arena.byteLength / (batchMax * FLOATS_PER_ROW * Float32Array.BYTES_PER_ELEMENT);
}

/** The pieces of block `slot`, as views of the arena. */
export function blockAt(arena: SharedArrayBuffer, batchMax: number, slot: number): Block {
  let byte = slot * batchMax * FLOATS_PER_ROW * Float32Array.BYTES_PER_ELEMENT;
  const piece = (rowLength: number): Float32Array => {
    const view = new Float32Array(arena, byte, batchMax * rowLength);
    byte += view.byteLength;
    return view;
  };
  return {
    session: piece(ROW_LENGTHS.session),
    past: piece(ROW_LENGTHS.past),
    targets: piece(ROW_LENGTHS.targets),
    present: piece(ROW_LENGTHS.present),
    scores: piece(ROW_LENGTHS.scores),
  };
}
