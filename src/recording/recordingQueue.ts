import type { Clock } from '../base/clock.js';
import { asError } from '../base/errors.js';
import { RecordingThread, type RecordingResult, type RecordingThreadOptions } from './recordingThread.js';

/** A recording that waits to be read. */
export interface WaitingRecording {
  /** The body of its request; its memory goes to the thread. */
  readonly bytes: Uint8Array;
  /** The key whose places it takes; undefined if it takes none of a key's. */
  readonly holder: number | undefined;
  /** When it is given up, on the queue's clock. */
  readonly expiresMs: number;
  /** Whether its caller no longer waits. */
  readonly isGone: boolean;
  /** Called once. */
  settle(result: RecordingResult | 'expired'): void;
}

export interface RecordingQueueOptions {
  /** Most recordings that are not read yet. */
  readonly placesMax: number;
  readonly deadlineMs: number;
  /** Longest reading of a recording before the thread counts as hung. */
  readonly hangMs: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly thread: RecordingThreadOptions;
  /** The thread was lost, or ended because it hung, and another one has started. */
  onRestart(): void;
}

/** `shareFull`: the key has its share of the places. */
export type RecordingOutcomeOfQueue = 'admitted' | 'saturated' | 'shareFull';

const SHARE_OF_HOLDER = 1 / 2;
/** How often waits are checked, per deadline. */
const SWEEPS_PER_DEADLINE = 20;

/**
 * The recordings of one event loop, which its thread reads one after the other. Keys take turns, so that the many
 * recordings of one wait for each other and not for those of others. The thread starts with the first one; where it
 * is lost, or hangs, another one takes its place and goes on with the next recording.
 */
export class RecordingQueue {
  private readonly placesOfHolder: number;
  private readonly periodMs: number;
  /** By holder, in the order of their turns; none of the lists is empty. */
  private readonly waiting = new Map<number | undefined, WaitingRecording[]>();
  private waitingCount = 0;
  /** What the thread reads. */
  private current: { readonly recording: WaitingRecording; isSettled: boolean; sweeps: number } | undefined;
  private thread: RecordingThread | undefined;
  private ending: Promise<void> = Promise.resolve();
  private isHalted = false;
  private sweeper: NodeJS.Timeout | undefined;
  private idleListeners: (() => void)[] = [];

  constructor(private readonly options: RecordingQueueOptions) {
    const { placesMax, deadlineMs, hangMs } = options;
    this.placesOfHolder = Math.max(1, Math.floor(placesMax * SHARE_OF_HOLDER));
    this.periodMs = Math.max(5, Math.min(deadlineMs, hangMs) / SWEEPS_PER_DEADLINE);
  }

  get pending(): number {
    return this.waitingCount + (this.current === undefined ? 0 : 1);
  }

  /** Whether a recording of `holder` has a place now. */
  room(holder: number | undefined): RecordingOutcomeOfQueue {
    if (this.pending >= this.options.placesMax || this.isHalted) return 'saturated';
    return holder !== undefined && this.pendingOf(holder) >= this.placesOfHolder ? 'shareFull' : 'admitted';
  }

  /** Takes in a recording that has a place. */
  add(recording: WaitingRecording): void {
    const { holder } = recording;
    const own = this.waiting.get(holder);
    if (own === undefined) this.waiting.set(holder, [recording]);
    else own.push(recording);
    this.waitingCount++;
    this.sweeper ??= setInterval(() => this.sweep(), this.periodMs).unref();
    this.readNext();
  }

  async drained(): Promise<void> {
    while (this.pending > 0) await new Promise<void>((resolve) => this.idleListeners.push(resolve));
  }

  /** Reads no more. Resolves when no thread is starting or ending: leaving the process at such a moment crashes. */
  async halt(): Promise<void> {
    this.isHalted = true;
    await Promise.all([this.thread?.started, this.ending]);
  }

  async close(): Promise<void> {
    this.isHalted = true;
    clearInterval(this.sweeper);
    this.endThread();
    await this.ending;
  }

  private pendingOf(holder: number): number {
    const isRead = this.current?.recording.holder === holder;
    return (this.waiting.get(holder)?.length ?? 0) + (isRead ? 1 : 0);
  }

  private readNext(): void {
    if (this.current !== undefined || this.isHalted) return;
    const recording = this.takeNext();
    if (recording === undefined) return this.tellIdle();
    const current = { recording, isSettled: false, sweeps: 0 };
    this.current = current;
    const done = (result: RecordingResult): void => {
      if (this.current !== current) return; // it took too long, and another thread goes on
      this.current = undefined;
      this.readNext();
      if (!current.isSettled) recording.settle(result);
      this.tellIdle();
    };
    try {
      this.openThread().read(recording.bytes, done);
    } catch (error) {
      done(asError(error)); // no thread starts, for instance without a free file descriptor
    }
  }

  /** The holder's turn is over: the others come first. */
  private takeNext(): WaitingRecording | undefined {
    const [first] = this.waiting;
    if (first === undefined) return undefined;
    const [holder, own] = first;
    const recording = own.shift();
    this.waiting.delete(holder);
    if (own.length > 0) this.waiting.set(holder, own);
    this.waitingCount--;
    return recording;
  }

  private openThread(): RecordingThread {
    const known = this.thread;
    if (known !== undefined && !known.isOver) return known;
    if (known !== undefined) this.options.onRestart();
    this.thread = new RecordingThread(this.options.thread);
    return this.thread;
  }

  private sweep(): void {
    const nowMs = this.options.clock.monotonicMs();
    const isOver = ({ isGone, expiresMs }: WaitingRecording): boolean => isGone || expiresMs <= nowMs;
    const over = [...this.waiting.values()].flatMap((own) => own.filter(isOver));
    for (const [holder, own] of this.waiting) {
      const left = own.filter((recording) => !isOver(recording));
      if (left.length > 0) this.waiting.set(holder, left);
      else this.waiting.delete(holder);
    }
    this.waitingCount -= over.length;
    this.sweepCurrent(isOver);
    for (const recording of over) recording.settle('expired');
    this.tellIdle();
  }

  private sweepCurrent(isOver: (recording: WaitingRecording) => boolean): void {
    const { current, thread } = this;
    if (current === undefined || thread === undefined) return;
    // Sweeps are counted, not time: a process that was stopped has no hung thread.
    if (thread.hasStarted) current.sweeps++;
    const isHung = current.sweeps * this.periodMs > this.options.hangMs;
    if (isHung) {
      this.current = undefined;
      this.endThread();
      this.readNext();
    }
    if (current.isSettled || !(isHung || isOver(current.recording))) return;
    current.isSettled = true;
    current.recording.settle('expired');
  }

  private endThread(): void {
    const { thread } = this;
    if (thread !== undefined) this.ending = Promise.all([this.ending, thread.end()]).then(() => undefined);
  }

  private tellIdle(): void {
    if (this.pending > 0) return;
    clearInterval(this.sweeper);
    this.sweeper = undefined;
    for (const listener of this.idleListeners.splice(0)) listener();
  }
}
