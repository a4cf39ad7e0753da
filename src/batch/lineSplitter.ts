/** A line of a stream, without its end. `bytes` is undefined where it is longer than is accepted. */
export interface Line {
  /** From 1 on. */
  readonly number: number;
  readonly bytes: Uint8Array | undefined;
}

const LINE_FEED = 0x0a;

/** Cuts a stream into lines; keeps no more of it than one line of `bytesMax` and the chunk at hand. */
export class LineSplitter {
  private count = 0;
  /** The beginning of the line whose end has not arrived. */
  private begun: Uint8Array[] = [];
  private begunBytes = 0;
  private isTooLong = false;

  constructor(private readonly bytesMax: number) {}

  /** The lines that end in `chunk`; a line's bytes hold as long as the chunk does. */
  *split(chunk: Uint8Array): Generator<Line, void, undefined> {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.take(chunk.subarray(start, end));
      start = end + 1;
      yield this.finish();
    }
    if (start < chunk.length) this.take(chunk.subarray(start));
  }

  /** The last line, where no line feed ends it. */
  *end(): Generator<Line, void, undefined> {
    if (this.begunBytes > 0 || this.isTooLong) yield this.finish();
  }

  private take(bytes: Uint8Array): void {
    this.begunBytes += bytes.length;
    if (this.begunBytes > this.bytesMax) {
      this.isTooLong = true;
      this.begun = [];
    } else if (bytes.length > 0) {
      this.begun.push(bytes);
    }
  }

  private finish(): Line {
    const [first, ...more] = this.begun;
    const whole = more.length === 0 ? (first ?? new Uint8Array(0)) : Buffer.concat(this.begun);
    const bytes = this.isTooLong ? undefined : whole;
    this.begun = [];
    this.begunBytes = 0;
    this.isTooLong = false;
    return { number: ++this.count, bytes };
  }
}
