/** Repeated looks that may fail and end nothing. */
import { asError } from './errors.js';

/** Repeats `work` until the returned function is called. Injected, so that tests control the timing. */
export type Repeat = (work: () => void, everyMs: number) => () => void;

/** Keeps no process alive. */
export const systemRepeat: Repeat = (work, everyMs) => {
  const timer = setInterval(work, everyMs).unref();
  return () => clearInterval(timer);
};

/** Calls a function that only observes. */
export interface ObserverOptions {
  look(): void | Promise<void>;
  /** Called with what `look` throws, once for each run of the same error. */
  onProblem(error: Error): void;
}

/**
 * Calls `look` again and again, one call at a time, even after errors: an observer must never end the process, for
 * instance when a memory reading finds no free file descriptor. Keeps no process alive.
 */
export class Observer {
  private readonly endRepeat: () => void;
  private problem: string | undefined;
  private looking: Promise<void> | undefined;
  private isWanted = false;
  private isStopped = false;

  constructor(
    private readonly options: ObserverOptions,
    periodMs: number,
    repeat: Repeat = systemRepeat,
  ) {
    this.endRepeat = repeat(() => void this.look(), periodMs);
  }

  /** Looks now, or once more after the look under way; resolves when that is done and never rejects. */
  look(): Promise<void> {
    this.isWanted = true;
    this.looking ??= this.lookWhileWanted();
    return this.looking;
  }

  /** Stops regular looks and problem reports: an error from now on may be caused by the stop itself. */
  stop(): void {
    this.isStopped = true;
    this.endRepeat();
  }

  private async lookWhileWanted(): Promise<void> {
    while (this.isWanted) {
      this.isWanted = false;
      await this.lookOnce();
    }
    this.looking = undefined;
  }

  private async lookOnce(): Promise<void> {
    try {
      await this.options.look();
      this.problem = undefined;
    } catch (error) {
      this.tell(asError(error));
    }
  }

  private tell(error: Error): void {
    if (this.isStopped || error.message === this.problem) return;
    this.problem = error.message;
    this.options.onProblem(error);
  }
}
