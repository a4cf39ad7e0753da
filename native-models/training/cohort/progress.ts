import { progressBar } from '#acuity/base/progressBar.js';

const WIDTH = 30;

/** A progress bar on stderr; if stderr is not a terminal, one line per tenth. */
export class Progress {
  private done = 0;
  private shown = -1;

  constructor(
    private readonly title: string,
    private readonly total: number,
  ) {}

  step(): void {
    this.done++;
    const isTerminal = process.stderr.isTTY;
    const stage = Math.floor((this.done * (isTerminal ? 100 : 10)) / this.total);
    if (stage === this.shown) return;
    this.shown = stage;
    const share = this.done / this.total;
    const bar = progressBar(share, WIDTH);
    const end = !isTerminal || this.done === this.total ? '\n' : '';
    process.stderr.write(
      `${isTerminal ? '\r' : ''}${this.title.padEnd(12)} ${bar} ${this.done}/${this.total}${end}`,
    );
  }
}
