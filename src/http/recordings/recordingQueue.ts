import type { Clock } from '../../base/clock.js';
import { asError } from '../../base/errors.js';
import { HangWatch } from '../../base/hangWatch.js';
import { RecordingReader, type RecordingReaderOptions, type RecordingResult } from './recordingReader.js';

/**
 * The recordings of one event loop, which its reader reads one after the other. Keys take turns, so that the many
 * recordings of one wait for each other and not for those of others. The reader starts with the first one; where it
 * ends, or hangs, another one takes its place and goes on with the next recording.
 */
export class RecordingQueue {
  private readonly placesOfHolder: number;
  private readonly periodMs: number;
  /** In the order in which they will be read. */
  private waiting: WaitingRecording[] = [];
  /** The recording that is being read. */
  private current: { readonly recording: WaitingRecording; isSettled: boolean } | undefined;
  private reader: RecordingReader | undefined;
  /** When the reader was started. */
  private startedMs = -Infinity;
  private readonly watch: HangWatch;
  private isClosed = false;
  private sweeper: NodeJS.Timeout | undefined;
  private idleListeners: (() => void)[] = [];

  constructor(private readonly options: RecordingQueueOptions) {
    const { placesMax, deadlineMs, hangMs, clock } = options;
    this.placesOfHolder = Math.max(1, Math.floor(placesMax * SHARE_OF_HOLDER));
    this.periodMs = Math.max(5, Math.min(deadlineMs, hangMs) / SWEEPS_PER_DEADLINE);
    this.watch = new HangWatch({ hangMs, periodMs: this.periodMs, nowMs: clock.monotonicMs() });
  }

  get pending(): number {
    return this.waiting.length + (this.current === undefined ? 0 : 1);
  }

  private get owed(): number {
    return this.pending - (this.current?.isSettled === true ? 1 : 0);
  }

  /** Whether a recording of `holder` has a place now. */
  room(holder: number | undefined): RecordingOutcomeOfQueue {
    if (this.pending >= this.options.placesMax || this.isClosed) return 'saturated';
    return holder !== undefined && this.pendingOf(holder) >= this.placesOfHolder ? 'shareFull' : 'admitted';
  }

  /** Takes in a recording that has a place. */
  add(recording: WaitingRecording): void {
    this.waiting.push(recording);
    this.sweeper ??= setInterval(() => this.sweep(), this.periodMs).unref();
    this.readNext();
  }

  /** Resolves when no caller waits any more: a recording that was given up may still be read. */
  async drained(): Promise<void> {
    while (this.owed > 0) await new Promise<void>((resolve) => this.idleListeners.push(resolve));
  }

  /** Reads no more: the current recording fails. */
  close(): void {
    this.isClosed = true;
    clearInterval(this.sweeper);
    this.reader?.end();
  }

  private pendingOf(holder: number): number {
    const pending = this.current === undefined ? this.waiting : [this.current.recording, ...this.waiting];
    return pending.filter((one) => one.holder === holder).length;
  }

  private readNext(): void {
    if (this.current !== undefined || this.isClosed) return;
    if (this.waiting.length === 0) return this.tellIdle();
    const reader = this.readyReader();
    const recording = reader && this.takeNext();
    if (recording === undefined) return;
    const current = { recording, isSettled: false };
    this.current = current;
    reader?.read(recording.bytes, (result) => {
      if (this.current !== current) return; // it took too long, and another reader goes on
      this.current = undefined;
      this.readNext();
      if (!current.isSettled) recording.settle(result);
      this.tellIdle();
    });
  }

  /** The holder's turn is over then: those of others come before its own. */
  private takeNext(): WaitingRecording | undefined {
    const [next, ...rest] = this.waiting;
    const isOwn = ({ holder }: WaitingRecording): boolean => holder === next?.holder;
    this.waiting = [...rest.filter((one) => !isOwn(one)), ...rest.filter(isOwn)];
    return next;
  }

  /** The reader, if it can take a recording; else one is started, unless that was done a moment ago. */
  private readyReader(): RecordingReader | undefined {
    const { reader } = this;
    if (reader !== undefined && !reader.isOver) return reader.isReady ? reader : undefined;
    const nowMs = this.options.clock.monotonicMs();
    if (nowMs - this.startedMs < START_EVERY_MS) return undefined; // a sweep comes back to it
    this.startedMs = nowMs;
    const { onLost } = this.options;
    try {
      this.reader = new RecordingReader(this.options.reader, { onReady: () => this.readNext(), onLost });
    } catch (error) {
      onLost(asError(error));
    }
    return undefined;
  }

  private sweep(): void {
    const nowMs = this.options.clock.monotonicMs();
    const isOver = ({ isGone, expiresMs }: WaitingRecording): boolean => isGone || expiresMs <= nowMs;
    const over = new Set(this.waiting.filter(isOver));
    this.waiting = this.waiting.filter((recording) => !over.has(recording));
    this.sweepCurrent(nowMs, isOver);
    for (const recording of over) recording.settle('expired');
    this.readNext();
    this.tellIdle();
  }

  private sweepCurrent(nowMs: number, isOver: (recording: WaitingRecording) => boolean): void {
    const { current, reader } = this;
    const hang = reader && this.watch.look(nowMs, [reader]);
    if (hang !== undefined) {
      this.current = undefined;
      reader?.end();
      this.options.onLost(new Error(`it hung: ${JSON.stringify(hang)}`));
    }
    if (current === undefined || current.isSettled || !(hang !== undefined || isOver(current.recording)))
      return;
    current.isSettled = true;
    current.recording.settle('expired');
  }

  private tellIdle(): void {
    if (this.owed > 0) return;
    for (const listener of this.idleListeners.splice(0)) listener();
    if (this.pending > 0) return;
    clearInterval(this.sweeper);
    this.sweeper = undefined;
  }
}

/** A recording that waits to be read. */
export interface WaitingRecording {
  /** The body of its request. */
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
  /** Longest reading of a recording before the reader counts as hung, without its waits for a processor. */
  readonly hangMs: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly reader: RecordingReaderOptions;
  /** The reader ended by itself, or was ended because it hung or took too much memory. */
  onLost(reason: Error): void;
}

/** `shareFull`: the key has its share of the places. */
export type RecordingOutcomeOfQueue = 'admitted' | 'saturated' | 'shareFull';

const SHARE_OF_HOLDER = 1 / 2;
/** How often waits are checked, per deadline. */
const SWEEPS_PER_DEADLINE = 20;
/** One start of a reader in this time. */
const START_EVERY_MS = 1_000;
