/** Lines of a stream of bytes. */

/** A line of a stream, without its end. `bytes` is undefined if it is too long. */
export interface Line {
  /** From 1 on. */
  readonly number: number;
  readonly bytes: Uint8Array | undefined;
}

const LINE_FEED = 0x0a;

/**
 * The lines that end in each piece of `input`, valid until the next ones are asked for, and last a line without a line
 * feed. Holds at most one line of `bytesMax` and a piece.
 */
export async function* splitLines(
  input: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Line[], void, undefined> {
  let count = 0;
  /** The start of the line whose end has not arrived yet. */
  let begun: Uint8Array[] = [];
  let begunBytes = 0;
  const take = (bytes: Uint8Array): void => {
    begunBytes += bytes.length;
    if (begunBytes > bytesMax) begun = [];
    else if (bytes.length > 0) begun.push(bytes);
  };
  const finish = (): Line => {
    const [first = new Uint8Array(0), ...more] = begun;
    const whole = more.length === 0 ? first : Buffer.concat(begun);
    const bytes = begunBytes > bytesMax ? undefined : whole;
    [begun, begunBytes] = [[], 0];
    return { number: ++count, bytes };
  };
  for await (const piece of input) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = piece.indexOf(LINE_FEED); end !== -1; end = piece.indexOf(LINE_FEED, start)) {
      take(piece.subarray(start, end));
      start = end + 1;
      lines.push(finish());
    }
    if (start < piece.length) take(new Uint8Array(piece.subarray(start))); // the piece's memory is used again
    yield lines;
  }
  if (begunBytes > 0) yield [finish()];
}
