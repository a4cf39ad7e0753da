import type { FileThreads } from '../files/fileThreads.js';
import { messageOf, OperatorError } from '../base/errors.js';
import { within } from '../base/within.js';
import { leave, Watchdog } from '../process/leave.js';
import type { StandardOutput } from '../process/standardOutput.js';

/*
 * Limits for leaving. Every step is bounded; together with the waits of `leave` they stay within the two seconds after
 * the drain that docs/OPERATIONS.md promises.
 */
const FLUSH_MS = 400;
const KILL_MS = 1800;
const STEP_MS = 1000;

export interface ProcessEndOptions {
  readonly output: StandardOutput;
  readonly threads: FileThreads;
  readonly terminals: readonly number[];
}

export interface LastSteps {
  readonly code: number;
  /** Ends the process where `exit` would not return. */
  readonly signal: NodeJS.Signals;
  /** Until then it waits for threads that are starting or ending. */
  readonly endsMs: number;
  /** After these no thread is starting or ending any more. */
  settled(): readonly Promise<unknown>[];
  /** Whether event loops may still run. */
  hasRuns(): boolean;
}

/** The end of the process: within a limit, even if something hangs. Times are those of `performance.now`. */
export class ProcessEnd {
  hasBegun = false;
  private readonly watchdog = new Watchdog();

  constructor(private readonly options: ProcessEndOptions) {
    this.watchdog.started.catch(() => undefined); // `guarded` tells it
  }

  /** Resolves when the process is sure to end once it has to. @throws OperatorError where no thread can be started */
  async guarded(): Promise<void> {
    try {
      await this.watchdog.started;
    } catch (error) {
      throw new OperatorError(`no thread can be started: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Ends the process soon after `atMs` at the latest. */
  limit(atMs: number): void {
    this.watchdog.limit(atMs + KILL_MS - performance.now());
  }

  async leave({ code, signal, endsMs, settled, hasRuns }: LastSteps): Promise<void> {
    this.hasBegun = true;
    const { threads, output, terminals } = this.options;
    this.limit(endsMs);
    const stepMs = endsMs - performance.now() + STEP_MS;
    const steps = [...settled(), threads.close(), Promise.allSettled([this.watchdog.started])];
    const outcomes = await Promise.all(steps.map((step) => within(stepMs, step)));
    await output.flushed(FLUSH_MS);
    // No thread is starting or ending any more, and no event loop but this one runs.
    const isSettled = outcomes.every(Boolean);
    const state = !isSettled ? 'busy' : hasRuns() || threads.isHanging ? 'halted' : 'idle';
    await leave({ code, signal, threads: state, terminals });
  }
}
