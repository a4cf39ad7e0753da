/** Numbers the turns of this thread's event loop. */
export class Turns {
  private number = 0;
  private isCounted = false;
  private readonly end = (): void => {
    this.number++;
    this.isCounted = false;
  };

  /** The number of this turn, until everything that came with it was handled. */
  get current(): number {
    if (!this.isCounted) setImmediate(this.end);
    this.isCounted = true;
    return this.number;
  }
}
