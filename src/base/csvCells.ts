/** The cells of CSV, found in its bytes: RFC 4180 with any delimiter, and lines that end in LF, CR or both. */

const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;

export function isLineEnd(byte: number | undefined): boolean {
  return byte === LINE_FEED || byte === RETURN;
}

/** A cell without quotes is read byte by byte so far: for more a search is cheaper. */
const NEAR_BYTES = 64;

/** Most cells of a record whose width is not known. */
export const CELLS_MAX = 10_000;

/** A quote is not closed, or text follows one that is. */
export class CsvError extends Error {
  override readonly message = 'malformed CSV';
}

/** Finds the records of a text, one by one, and their cells. */
export class CsvCells {
  /** Where each cell begins and ends, without its quotes. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** How many cells the record found last has. */
  count = 0;
  /** After `next` found no end: a shorter text, after which the record goes on in the same way. */
  begun: Buffer = Buffer.alloc(0);
  private bytes: Buffer = Buffer.alloc(0);
  private isLast = false;
  private readonly delimiter: number;
  /** Where the letters that end a cell occur next, found when they are needed. */
  private readonly letters: readonly number[];
  private readonly found: number[] = [];

  /** `width`: the cells of a record whose places are noted; more are only counted. `records`: how many have room. */
  constructor(
    delimiter: string,
    private readonly width = CELLS_MAX,
    records = 1,
  ) {
    this.starts = new Int32Array(records * width);
    this.ends = new Int32Array(records * width);
    this.delimiter = delimiter.charCodeAt(0);
    this.letters = [this.delimiter, LINE_FEED, RETURN];
  }

  /** Begins with a text; `isLast` if nothing follows it. */
  open(bytes: Buffer, isLast: boolean): void {
    this.bytes = bytes;
    this.isLast = isLast;
    for (const index of this.letters.keys()) this.found[index] = -1;
  }

  /**
   * Finds the record that begins at `from`, and notes its cells from `place` on. An empty line is one of a single empty
   * cell, as LF is after CR.
   * @returns where the next one begins; -1 if the text ends before that, and is not the last
   * @throws CsvError
   */
  next(from: number, place = 0): number {
    const { bytes, width, starts, ends, isLast } = this;
    this.count = 0;
    for (let at = from; ;) {
      let start = at;
      let end: number;
      if (bytes[at] === QUOTE) {
        start++;
        end = this.closing(start);
        if (end < 0 && isLast) throw new CsvError();
        if (end < 0 || (end === bytes.length - 1 && !isLast)) return this.unfinished(end < 0 ? '"' : '""');
        at = end + 1;
        while (bytes[at] === SPACE) at++;
      } else end = at = this.plainEnd(at);
      if (this.count < width) {
        starts[place + this.count] = start;
        ends[place + this.count] = end;
      }
      this.count++;
      if (at === bytes.length) {
        if (isLast) return at;
        return this.unfinished(start === end ? String.fromCharCode(this.delimiter) : 'x');
      }
      const letter = bytes[at++];
      if (isLineEnd(letter)) return at;
      if (letter !== this.delimiter) throw new CsvError();
    }
  }

  /** The cells of the record found last as texts. @throws CsvError if their places are not noted */
  texts(): string[] {
    const { bytes, starts, ends, count, width } = this;
    if (count > width) throw new CsvError();
    return Array.from(starts.subarray(0, count), (start, cell) =>
      cellText(bytes, start, ends[cell] ?? start),
    );
  }

  private unfinished(begun: string): number {
    this.begun = Buffer.from(begun);
    return -1;
  }

  /** The quote that ends the cell at `from`; -1 if there is none. */
  private closing(from: number): number {
    let at = this.bytes.indexOf(QUOTE, from);
    while (at >= 0 && this.bytes[at + 1] === QUOTE) at = this.bytes.indexOf(QUOTE, at + 2);
    return at;
  }

  private plainEnd(from: number): number {
    const { bytes, delimiter } = this;
    const near = Math.min(from + NEAR_BYTES, bytes.length);
    for (let at = from; at < near; at++) {
      const letter = bytes[at];
      if (letter === delimiter || isLineEnd(letter)) return at;
    }
    if (near === bytes.length) return near;
    return Math.min(...this.letters.map((_, index) => this.foundFrom(near, index)));
  }

  private foundFrom(from: number, index: number): number {
    const { bytes, found, letters } = this;
    const known = found[index] ?? -1;
    if (known >= from) return known;
    const at = bytes.indexOf(letters[index] ?? LINE_FEED, from);
    return (found[index] = at < 0 ? bytes.length : at);
  }
}

/** The text of a cell, with the letters that its bytes are. */
export function cellText(
  bytes: Buffer,
  start: number,
  end: number,
  encoding: 'utf8' | 'latin1' = 'utf8',
): string {
  const text = bytes.toString(encoding, start, end);
  return bytes[start - 1] === QUOTE && text.includes('"') ? text.replaceAll('""', '"') : text;
}
