import { failure } from './transport.js';

/** Lets a limited number run at once; the others wait in line, each until its signal is aborted. */
export class Semaphore {
  #free: number;
  #isClosed = false;
  readonly #seats: number;
  readonly #waiting = new Set<() => void>();
  #emptied: () => void = () => undefined;

  constructor(seats: number) {
    this.#free = this.#seats = seats;
  }

  async during<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw failure('UND_ERR_CLOSED', 'the client is closed');
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  /** Resolves when nothing is running. */
  close(): Promise<void> {
    this.#isClosed = true;
    if (this.#free === this.#seats) return Promise.resolve();
    return new Promise((resolve) => (this.#emptied = resolve));
  }

  /** The seat goes directly to the next in line, and never counts as free in between. */
  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.delete(sit);
        reject(signal.reason as Error);
      };
      const sit = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(sit);
    });
  }

  #leave(): void {
    const [next] = this.#waiting;
    if (next !== undefined) {
      this.#waiting.delete(next);
      next();
      return;
    }
    this.#free++;
    if (this.#isClosed && this.#free === this.#seats) this.#emptied();
  }
}
