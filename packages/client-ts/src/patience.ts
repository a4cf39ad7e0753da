/** The time limit of one attempt: it ends when the time is over, or the caller's signal is aborted. */
export class Patience {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #given: AbortSignal | undefined;
  isOver = false;

  constructor(timeoutMs: number, given: AbortSignal | undefined) {
    this.#given = given;
    given?.throwIfAborted();
    given?.addEventListener('abort', this.#giveUp);
    this.#timer = setTimeout(() => {
      this.isOver = true;
      this.#controller.abort();
    }, timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts again with each piece of an answer, so that an answer in pieces may take long. */
  renewedBy<Args extends unknown[]>(take: (...args: Args) => void): (...args: Args) => void {
    return (...args) => {
      this.#timer.refresh();
      take(...args);
    };
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#given?.removeEventListener('abort', this.#giveUp);
  }

  // Without AbortSignal.any: a signal that outlives thousands of attempts would keep a reference to each of
  // them.
  readonly #giveUp = (): void => this.#controller.abort(this.#given?.reason);
}
