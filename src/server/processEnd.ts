import type { FileThreads } from '../files/fileThreads.js';
import { within } from '../base/within.js';
import { killAfter, leave } from '../process/leave.js';
import type { Log } from '../process/log.js';
import type { StandardOutput } from '../process/standardOutput.js';

/*
 * Limits for leaving. Every step is bounded; together with the waits of `leave` they stay within the two seconds after
 * the drain that docs/OPERATIONS.md promises.
 */
const FLUSH_MS = 400;
const KILL_MS = 1800;
const STEP_MS = 1000;

export interface ProcessEndOptions {
  readonly log: Log;
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
  /** When this process is killed if it still runs. */
  private killedAtMs = Infinity;
  /** Resolves when the kill is certain. */
  private limited: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: ProcessEndOptions) {}

  /** Ends the process soon after `atMs` at the latest. */
  limit(atMs: number): void {
    // A thread that already waits for an earlier moment is enough: another takes long to start on a starved
    // machine.
    const killAtMs = atMs + KILL_MS;
    if (this.killedAtMs <= killAtMs) return;
    this.killedAtMs = killAtMs;
    this.limited = Promise.all([this.limited, this.killAt(killAtMs)]);
  }

  async leave({ code, signal, endsMs, settled, hasRuns }: LastSteps): Promise<void> {
    this.hasBegun = true;
    const { threads, output, terminals } = this.options;
    this.limit(endsMs);
    const stepMs = endsMs - performance.now() + STEP_MS;
    const steps = [...settled(), threads.close(), this.limited];
    const outcomes = await Promise.all(steps.map((step) => within(stepMs, step)));
    await output.flushed(FLUSH_MS);
    // No thread is starting or ending any more, and no event loop but this one runs.
    const isSettled = outcomes.every(Boolean);
    const state = !isSettled ? 'busy' : hasRuns() || threads.isHanging ? 'halted' : 'idle';
    await leave({ code, signal, threads: state, terminals });
  }

  private async killAt(atMs: number): Promise<void> {
    try {
      await killAfter(atMs - performance.now());
    } catch (error) {
      this.killedAtMs = Infinity;
      this.options.log.warn({ err: error }, 'no thread that ends the process where stopping hangs');
    }
  }
}
