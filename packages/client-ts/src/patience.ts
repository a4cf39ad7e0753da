/**
 * The time limit of one attempt: it ends when no answer came for `timeoutMs`, at the end of the whole call
 * however its answer trickles, or when the caller's signal is aborted.
 */
export class Patience {
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  /** What ended it. */
  over = '';

  /** `endsMs`: on the clock of `performance.now`. */
  constructor(
    private readonly timeoutMs: number,
    private readonly endsMs: number,
    private readonly given: AbortSignal | undefined,
  ) {
    given?.throwIfAborted();
    given?.addEventListener('abort', this.#giveUp);
    this.#wait();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts the time-out again with each piece of an answer. */
  async *renewedBy(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      this.#wait();
      yield piece;
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    this.given?.removeEventListener('abort', this.#giveUp);
  }

  #wait(): void {
    clearTimeout(this.#timer);
    const leftMs = this.endsMs - performance.now();
    const over =
      leftMs > this.timeoutMs ? `no answer within ${this.timeoutMs} ms` : 'no whole answer by the deadline';
    this.#timer = setTimeout(
      () => {
        this.over = over;
        this.#controller.abort();
      },
      Math.min(leftMs, this.timeoutMs),
    );
  }

  // Without AbortSignal.any: a signal that outlives thousands of attempts would keep a reference to each of
  // them.
  readonly #giveUp = (): void => this.#controller.abort(this.given?.reason);
}
