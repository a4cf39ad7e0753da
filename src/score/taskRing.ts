import { BATCH_VARIANTS } from '../contract/graphVariant.js';
import { ownThread } from '../base/threadTimes.js';
import type { BatchTask } from './protocol.js';

/**
 * The ring of tasks for one worker, in Int32 cells: how many tasks were ever sent, how many results were ever posted, the thread of the
 * worker that has begun to look for tasks, then the last BATCHES_PER_WORKER tasks in turn. No task is overwritten
 * early: the next one is sent only after a result has come back.
 *
 *   sent │ posted │ thread │ variant │ blockIndex │ first │ rows │ variant │ blockIndex │ first │ rows
 */

/** While a worker runs one batch, it already has the next, so that it never waits for the event loop. */
export const BATCHES_PER_WORKER = 2;

const SENT = 0;
const POSTED = 1;
const THREAD = 2;
const FIRST_TASK = 3;
const TASK_CELLS = 4;

export function createTaskRing(): SharedArrayBuffer {
  const cells = FIRST_TASK + BATCHES_PER_WORKER * TASK_CELLS;
  return new SharedArrayBuffer(cells * Int32Array.BYTES_PER_ELEMENT);
}

/**
 * Cycles through the places of a ring. The count, an Int32, wraps around after some days of load; the place
 * is unaffected.
 */
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

/** The sending side of a ring. A message port would cost a copy of the task and a second wake-up. */
export class TaskRingWriter {
  private readonly cells: Int32Array;
  private readonly cursor = new Cursor();

  constructor(ring: SharedArrayBuffer) {
    this.cells = new Int32Array(ring);
  }

  send({ variant, blockIndex, first, rows }: BatchTask): void {
    const { cells, cursor } = this;
    const at = cursor.next();
    cells[at] = BATCH_VARIANTS.indexOf(variant);
    cells[at + 1] = blockIndex;
    cells[at + 2] = first;
    cells[at + 3] = rows;
    Atomics.store(cells, SENT, cursor.count); // after the task: a reader that sees the count sees the task
    Atomics.notify(cells, SENT);
  }

  /** Tasks ever sent; wraps around like an Int32. */
  get sent(): number {
    return this.cursor.count;
  }

  /** Results that the worker ever posted; wraps around like an Int32. */
  get posted(): number {
    return Atomics.load(this.cells, POSTED);
  }

  /** The ID of the worker's thread (see `ownThread`); 0 until it has started. */
  get thread(): number {
    return Atomics.load(this.cells, THREAD);
  }
}

/** The receiving side of a ring. */
export class TaskRingReader {
  private readonly cells: Int32Array;
  private readonly cursor = new Cursor();

  constructor(ring: SharedArrayBuffer) {
    this.cells = new Int32Array(ring);
    Atomics.store(this.cells, THREAD, ownThread());
  }

  /** The next task; blocks the thread until there is one. */
  next(): BatchTask {
    const { cells, cursor } = this;
    while (Atomics.load(cells, SENT) === cursor.count) Atomics.wait(cells, SENT, cursor.count);
    const at = cursor.next();
    const [variant = 0, blockIndex = 0, first = 0, rows = 0] = cells.subarray(at, at + TASK_CELLS);
    return { variant: BATCH_VARIANTS[variant] ?? 'base', blockIndex, first, rows };
  }

  /** Counts one more posted result; call it after the posting. */
  notePosted(): void {
    Atomics.add(this.cells, POSTED, 1);
  }
}
