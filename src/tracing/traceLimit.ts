/** Bounds the requests that an event loop traces per second: callers set the sampled flag, but tracing costs us. */
export class TraceLimit {
  private second = 0;
  private taken = 0;

  constructor(private readonly max: number) {}

  /** Counts one more; false if that exceeds the bound. */
  take(nowMs: number): boolean {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.second) this.taken = 0;
    this.second = second;
    return this.taken++ < this.max;
  }
}
