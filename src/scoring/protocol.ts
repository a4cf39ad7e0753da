import type { MessagePort } from 'node:worker_threads';
import { PAST_MAX } from '../contract/request.js';
import { OUTPUT_COLUMNS } from '../model/manifest.js';
import { LAYOUT, type PredictionRequest } from '../pipeline/wasmParser.js';

/**
 * What crosses threads: the buffers of requests, shared by all; to each worker, in a ring of shared memory, the part
 * of the buffers that it is to run; and back from it a number, or an error, for each.
 */

/** Requests without history and with history run on graphs of their own. */
export type GraphVariant = 'base' | 'history';

/** Run rows `first … first + rows` of block `blockIndex`; the scores go to the block's own output. */
export interface BatchTask {
  readonly variant: GraphVariant;
  readonly blockIndex: number;
  readonly first: number;
  readonly rows: number;
}

/** Milliseconds that the run took, or why it failed. */
export type BatchResult = number | Error;

/** The one task that the pool gives to a worker: to run the batches of `ring`, for as long as it lives. */
export interface WorkerChannel {
  readonly ring: SharedArrayBuffer;
  /** Where the results go, in the order of the batches. */
  readonly results: MessagePort;
}

/** A worker that has one batch running has the next one at hand, so that it never idles while a task is under way. */
export const BATCHES_PER_WORKER = 2;

/*
 * The ring, in Int32 cells: how many tasks were ever sent, how many results were ever posted, then the last
 * BATCHES_PER_WORKER tasks in turn. Nothing is overwritten: no more are sent than that before a result has come back.
 *
 *   sent │ posted │ variant │ blockIndex │ first │ rows │ variant │ blockIndex │ first │ rows
 */
const SENT = 0;
const POSTED = 1;
const FIRST_TASK = 2;
const TASK_CELLS = 4;
const GRAPH_VARIANTS: readonly GraphVariant[] = ['base', 'history'];

export function createTaskRing(): SharedArrayBuffer {
  const cells = FIRST_TASK + BATCHES_PER_WORKER * TASK_CELLS;
  return new SharedArrayBuffer(cells * Int32Array.BYTES_PER_ELEMENT);
}

/** Goes round the places of a ring. The count, an Int32, wraps around after some days of load; this does not. */
class Cursor {
  count = 0;
  private place = 0;

  /** The first cell of the task whose turn it is. */
  next(): number {
    const at = FIRST_TASK + this.place * TASK_CELLS;
    this.place = (this.place + 1) % BATCHES_PER_WORKER;
    this.count = (this.count + 1) | 0;
    return at;
  }
}

/** The side of a ring that sends. A message port would cost a copy of the task and a second wake-up. */
export class TaskRingWriter {
  private readonly cells: Int32Array;
  private readonly cursor = new Cursor();

  constructor(ring: SharedArrayBuffer) {
    this.cells = new Int32Array(ring);
  }

  send({ variant, blockIndex, first, rows }: BatchTask): void {
    const { cells, cursor } = this;
    const at = cursor.next();
    cells[at] = GRAPH_VARIANTS.indexOf(variant);
    cells[at + 1] = blockIndex;
    cells[at + 2] = first;
    cells[at + 3] = rows;
    Atomics.store(cells, SENT, cursor.count); // behind the task: who sees the count sees the task
    Atomics.notify(cells, SENT);
  }

  /** Results that the worker ever posted; wraps around like an Int32. */
  get posted(): number {
    return Atomics.load(this.cells, POSTED);
  }
}

/** The side of a ring that receives. */
export class TaskRingReader {
  private readonly cells: Int32Array;
  private readonly cursor = new Cursor();

  constructor(ring: SharedArrayBuffer) {
    this.cells = new Int32Array(ring);
  }

  /** The next task; blocks the thread until there is one. */
  next(): BatchTask {
    const { cells, cursor } = this;
    while (Atomics.load(cells, SENT) === cursor.count) Atomics.wait(cells, SENT, cursor.count);
    const at = cursor.next();
    const [variant = 0, blockIndex = 0, first = 0, rows = 0] = cells.subarray(at, at + TASK_CELLS);
    return { variant: GRAPH_VARIANTS[variant] ?? 'base', blockIndex, first, rows };
  }

  /** Says that one more result was posted; call it behind the posting. */
  notePosted(): void {
    Atomics.add(this.cells, POSTED, 1);
  }
}

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
  readonly buffers: SharedArrayBuffer;
  readonly batchMax: number;
}

/**
 * One block of the buffers holds a batch, a row for each request, as the reader left it; the worker makes the
 * network's features of it, which it has to write to tensors of its own anyway. R is `RECORD_LENGTH`:
 *
 *   records [batchMax, 6, R] │ targets [batchMax, 5, 7] │ pastCounts [batchMax] │ scores [batchMax, 7]
 */
export interface Block {
  readonly records: Float64Array;
  readonly targets: Float64Array;
  readonly pastCounts: Float64Array;
  readonly scores: Float32Array;
}

/** Numbers of one row in each piece of a block. */
export const ROW_LENGTHS = {
  records: (1 + PAST_MAX) * LAYOUT.RECORD_LENGTH,
  targets: PAST_MAX * LAYOUT.TARGET_LENGTH,
  pastCounts: 1,
  scores: OUTPUT_COLUMNS,
} as const satisfies Record<keyof Block, number>;

const FLOAT64_BYTES = Float64Array.BYTES_PER_ELEMENT;

function bytesOfBlock(batchMax: number): number {
  const { records, targets, pastCounts, scores } = ROW_LENGTHS;
  const doubles = batchMax * (records + targets + pastCounts);
  const floats = Math.ceil((batchMax * scores) / 2); // in pairs, that the next block's doubles lie on their bounds
  return (doubles + floats) * FLOAT64_BYTES;
}

export function createBatchBuffers(blocks: number, batchMax: number): SharedArrayBuffer {
  return new SharedArrayBuffer(blocks * bytesOfBlock(batchMax));
}

export function blockCountOf(buffers: SharedArrayBuffer, batchMax: number): number {
  return buffers.byteLength / bytesOfBlock(batchMax);
}

/** The pieces of block `blockIndex`, as views of the buffers. */
export function blockAt(buffers: SharedArrayBuffer, batchMax: number, blockIndex: number): Block {
  let byte = blockIndex * bytesOfBlock(batchMax);
  const doubles = (rowLength: number): Float64Array => {
    const view = new Float64Array(buffers, byte, batchMax * rowLength);
    byte += view.byteLength;
    return view;
  };
  return {
    records: doubles(ROW_LENGTHS.records),
    targets: doubles(ROW_LENGTHS.targets),
    pastCounts: doubles(ROW_LENGTHS.pastCounts),
    scores: new Float32Array(buffers, byte, batchMax * ROW_LENGTHS.scores),
  };
}

/** Writes a request as row `row`; what the row held before is no part of it any more. */
export function writeRow(
  block: Block,
  row: number,
  { records, targets, pastCount }: PredictionRequest,
): void {
  block.records.set(records, row * ROW_LENGTHS.records);
  if (pastCount > 0) block.targets.set(targets, row * ROW_LENGTHS.targets);
  block.pastCounts[row] = pastCount;
}

/** The request that was written as row `row`. */
export function readRow({ records, targets, pastCounts }: Block, row: number): PredictionRequest {
  return {
    records: records.subarray(row * ROW_LENGTHS.records, (row + 1) * ROW_LENGTHS.records),
    targets: targets.subarray(row * ROW_LENGTHS.targets, (row + 1) * ROW_LENGTHS.targets),
    pastCount: pastCounts[row] ?? 0,
  };
}
