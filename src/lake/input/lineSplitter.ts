/** Lines of a stream of bytes. */

/** A line of a stream, without its end. `bytes` is undefined if it is too long. */
export interface Line {
  /** From 1 on. */
  readonly number: number;
  readonly bytes: Uint8Array | undefined;
}

const LINE_FEED = 0x0a;

/** Splits a stream into lines; holds at most one line of `bytesMax` and the current chunk. */
export class LineSplitter {
  private count = 0;
  /** The start of the line whose end has not arrived yet. */
  private begun: Uint8Array[] = [];
  private begunBytes = 0;
  private isTooLong = false;

  constructor(private readonly bytesMax: number) {}

  /** The lines that end in `chunk`; their bytes are valid while the chunk is. */
  *split(chunk: Uint8Array): Generator<Line, void, undefined> {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.take(chunk.subarray(start, end));
      start = end + 1;
      yield this.finish();
    }
    if (start < chunk.length) this.take(new Uint8Array(chunk.subarray(start))); // the chunk's memory is used again
  }

  /** The last line, if it has no line feed. */
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

/** The value of a text in JSON; undefined if it is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
