import { asError } from './errors.js';
import { systemRepeat, type Repeat } from './repeat.js';

/** Calls a function that only observes. */
export interface ObserverOptions {
  look(): void | Promise<void>;
  /** Told of what `look` throws: once for as long as it throws the same. */
  onProblem(error: Error): void;
}

/**
 * Looks again and again, one look at a time, and goes on whatever a look throws: what only observes must never end
 * the process, as a reading of memory does that finds no free file descriptor. Keeps no process alive.
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

  /** Looks now, or once more behind the look under way; resolves when that is done, and never rejects. */
  look(): Promise<void> {
    this.isWanted = true;
    this.looking ??= this.lookWhileWanted();
    return this.looking;
  }

  /** No more looks but those that are asked for, and no problem is told: what a look meets now, the stop may cause. */
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
