import { Worker } from 'node:worker_threads';
import type { SeriesLimits } from '#rules/fields.js';
import { errorOf } from '../base/errors.js';
import type { FromRecordingThread, RecordingThreadData } from './entry.js';
import type { RecordingOutcome } from './readRecording.js';

/** What the thread made of a body; an error if it failed, or was lost. */
export type RecordingResult = RecordingOutcome | Error;

/**
 * Below that of plain requests, but not the lowest: under a full load of these, recordings still get their share of
 * the cores.
 */
const NICENESS = 5;
/** Twice what the longest recordings need (`test/recording/hostile.test.ts`); beyond it the thread ends. */
const HEAP = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 } as const;

export interface RecordingThreadOptions {
  readonly limits: SeriesLimits;
  /** The thread's code; tests replace it. */
  readonly code?: URL;
}

/** One thread that reads recordings, one at a time. It holds nothing that forbids to end it at any time. */
export class RecordingThread {
  /** Whether its code is loaded. */
  hasStarted = false;
  /** Resolves when its code is loaded, or it has ended before that. */
  readonly started: Promise<void>;
  private readonly worker: Worker;
  /** Whether it has ended, or is about to. */
  isOver = false;
  private done: ((result: RecordingResult) => void) | undefined;

  constructor({ limits, code = new URL('./entry.js', import.meta.url) }: RecordingThreadOptions) {
    const workerData: RecordingThreadData = { limits, niceness: NICENESS };
    this.worker = new Worker(code, { workerData, resourceLimits: HEAP });
    this.started = new Promise((resolve) => {
      this.worker.once('message', () => resolve()).once('exit', () => resolve());
    });
    let cause: Error | undefined;
    this.worker.on('error', (error: Error) => (cause = error));
    this.worker.once('exit', () => {
      this.isOver = true;
      this.finish(cause ?? new Error('the thread for recordings ended'));
    });
    this.worker.on('message', (message: FromRecordingThread) => {
      this.hasStarted = true;
      if (message.kind === 'failed') this.finish(errorOf(message.error));
      else if (message.kind !== 'started') this.finish(message);
    });
  }

  /** Reads `body`, whose memory it takes; call it only while nothing is read. */
  read(body: Uint8Array, done: (result: RecordingResult) => void): void {
    this.done = done;
    this.worker.postMessage(body, [body.buffer as ArrayBuffer]);
  }

  /** Ends it, even in the middle of a recording. */
  async end(): Promise<void> {
    this.isOver = true;
    await this.worker.terminate();
  }

  private finish(result: RecordingResult): void {
    const { done } = this;
    this.done = undefined;
    done?.(result);
  }
}
