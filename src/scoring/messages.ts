import type { MessagePort } from 'node:worker_threads';
import { FEATURE_COUNT, TARGET_COUNT } from '../contract/features.js';
import { PAST_MAX } from '../contract/request.js';
import { OUTPUT_COLUMNS } from '../model/manifest.js';

/**
 * What crosses threads: the arena of rows, shared by all; to each worker, in a mailbox of shared memory, the part
 * of the arena that it is to run; and back from it a number, or an error, for each.
 */

/** Requests without history and with history run on graphs of their own. */
export type Lane = 'base' | 'history';

/** Run rows `first … first + rows` of block `slot`; the scores go to the block's own output. */
export interface BatchTask {
  readonly lane: Lane;
  readonly slot: number;
  readonly first: number;
  readonly rows: number;
}

/** Milliseconds that the run took, or why it failed. */
export type BatchResult = number | Error;

/** The one task that the pool gives to a worker: to run the batches of `mailbox`, for as long as it lives. */
export interface Lease {
  readonly mailbox: SharedArrayBuffer;
  /** Where the results go, in the order of the batches. */
  readonly results: MessagePort;
}

/** A worker that has one batch running has the next one at hand, so that it never idles through a hop. */
export const BATCHES_PER_WORKER = 2;

/*
 * The mailbox, in Int32 cells: how many tasks were ever sent, then the last BATCHES_PER_WORKER of them in turn.
 * Nothing is overwritten: no more are sent than that before a result has come back.
 *
 *   sent │ lane │ slot │ first │ rows │ lane │ slot │ first │ rows
 */
const SENT = 0;
const FIRST_TASK = 1;
const TASK_CELLS = 4;
const LANES: readonly Lane[] = ['base', 'history'];

export function createMailbox(): SharedArrayBuffer {
  const cells = FIRST_TASK + BATCHES_PER_WORKER * TASK_CELLS;
  return new SharedArrayBuffer(cells * Int32Array.BYTES_PER_ELEMENT);
}

/** Goes round the places of a mailbox. The count, an Int32, wraps around after some days of load; this does not. */
class Turn {
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

/** The side of a mailbox that sends. A message port would cost a copy of the task and a second wake-up. */
export class Sender {
  private readonly cells: Int32Array;
  private readonly turn = new Turn();

  constructor(mailbox: SharedArrayBuffer) {
    this.cells = new Int32Array(mailbox);
  }

  send({ lane, slot, first, rows }: BatchTask): void {
    const { cells, turn } = this;
    const at = turn.next();
    cells[at] = LANES.indexOf(lane);
    cells[at + 1] = slot;
    cells[at + 2] = first;
    cells[at + 3] = rows;
    Atomics.store(cells, SENT, turn.count); // behind the task: who sees the count sees the task
    Atomics.notify(cells, SENT);
  }
}

/** The side of a mailbox that receives. */
export class Receiver {
  private readonly cells: Int32Array;
  private readonly turn = new Turn();

  constructor(mailbox: SharedArrayBuffer) {
    this.cells = new Int32Array(mailbox);
  }

  /** The next task; blocks the thread until there is one. */
  next(): BatchTask {
    const { cells, turn } = this;
    while (Atomics.load(cells, SENT) === turn.count) Atomics.wait(cells, SENT, turn.count);
    const at = turn.next();
    const [lane = 0, slot = 0, first = 0, rows = 0] = cells.subarray(at, at + TASK_CELLS);
    return { lane: LANES[lane] ?? 'base', slot, first, rows };
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
