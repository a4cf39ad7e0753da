/** The lines of a list, found in its bytes. */
import { LINES_MAX } from '#rules/structure.js';

const LINE_FEED = 0x0a;
const FOUR_LINE_FEEDS = 0x0a0a0a0a;
const CARRIAGE_RETURN = 0x0d;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const EXPLAIN = Buffer.from('"explain"');
const TRUE = 0x74; // t
const LETTER_E = 0x65;
const LETTER_P = 0x70;
const LETTER_X = 0x78;
/** Where it stands in `EXPLAIN`. */
const X_AT = EXPLAIN.indexOf(LETTER_X);
/** A session has one in "sex". */
const X_TRIES = 16;
/** Bytes of empty lines skipped at a time: some 70 µs. */
const SKIP_BYTES = 65_536;
/** Beyond so many bytes a search by the engine is cheaper than a loop. */
const NEAR_BYTES = 48;

/** Start and end of a line, without its line end. */
export interface Line {
  readonly start: number;
  readonly end: number;
}

/** Finds the lines of a list, one at a time, so that long work can pause in between. */
export class LineFinder {
  /** Lines that are not empty; one more than `LINES_MAX` if there are too many. */
  readonly lines: Line[] = [];
  private readonly body: Buffer;
  /** The memory of `body` from its first whole word on, at `wordsFrom`. */
  private readonly words: Uint32Array;
  private readonly wordsFrom: number;
  private at = 0;
  /** Bytes of empty lines so far. */
  emptyBytes = 0;

  constructor(bytes: Uint8Array) {
    this.body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.wordsFrom = -bytes.byteOffset & 3;
    const whole = Math.max(0, bytes.byteLength - this.wordsFrom) >> 2;
    this.words = new Uint32Array(bytes.buffer, whole === 0 ? 0 : bytes.byteOffset + this.wordsFrom, whole);
  }

  /** Length of the whole list in bytes. */
  get bytes(): number {
    return this.body.length;
  }

  /** The bytes of a line, a view of the body. */
  bytesOf({ start, end }: Line): Uint8Array {
    return this.body.subarray(start, end);
  }

  /** Whether a line may ask for an explanation: the bytes alone do not always decide it. */
  mayExplain({ start, end }: Line): boolean {
    return mayExplain(this.body.subarray(start, end));
  }

  /**
   * Finds the next line. Empty lines before it are skipped in one go: each a step would cost a hundred times the bytes.
   * @returns the line, 'empty' if more empty lines may come, or undefined if there is none, or too many
   */
  next(): Line | 'empty' | undefined {
    const { body, at: from } = this;
    if (from >= body.length || this.lines.length > LINES_MAX) return undefined;
    const start = this.pastEmptyLines(from);
    this.at = start;
    this.emptyBytes += start - from;
    if (start - from >= SKIP_BYTES || start >= body.length) return 'empty';
    const feed = this.nextFeed(start);
    this.at = feed + 1;
    const end = body[feed - 1] === CARRIAGE_RETURN ? feed - 1 : feed;
    if (end === start) return 'empty'; // the body ends with it
    const line = { start, end };
    this.lines.push(line);
    return line;
  }

  /** The position of the next line feed, or the end of the body. */
  private nextFeed(from: number): number {
    const { body } = this;
    const near = Math.min(body.length, from + NEAR_BYTES);
    for (let at = from; at < near; at++) if (body[at] === LINE_FEED) return at;
    const found = body.indexOf(LINE_FEED, near);
    return found === -1 ? body.length : found;
  }

  /** The position after the line ends that follow each other from `from` on, or after `SKIP_BYTES` of them. */
  private pastEmptyLines(from: number): number {
    const { body, words, wordsFrom } = this;
    const until = Math.min(body.length, from + SKIP_BYTES);
    let at = from;
    while (at < until) {
      if (body[at] === LINE_FEED) {
        at++;
        if (((at - wordsFrom) & 3) !== 0) continue;
        while (at < until && words[(at - wordsFrom) >> 2] === FOUR_LINE_FEEDS) at += 4;
      } else if (body[at] === CARRIAGE_RETURN && body[at + 1] === LINE_FEED) at += 2;
      else break;
    }
    return at;
  }
}

/** Whether the field is there with `true`, or a name may be written with escapes. */
function mayExplain(line: Buffer): boolean {
  if (line.includes(BACKSLASH)) return true;
  for (let at = findExplain(line, 0); at !== -1; at = findExplain(line, at + 1)) {
    const colon = pastSpace(line, at + EXPLAIN.length);
    if (line[colon] === COLON && line[pastSpace(line, colon + 1)] === TRUE) return true;
  }
  return false;
}

/**
 * The first `EXPLAIN` from `from` on; −1 where there is none. Looks for its x, the rarest letter of a request, which
 * takes a fraction of the search for the whole; a line full of them is searched for the whole.
 */
function findExplain(line: Buffer, from: number): number {
  let x = line.indexOf(LETTER_X, from + X_AT);
  for (let tries = 0; x !== -1; tries++) {
    if (tries === X_TRIES) return line.indexOf(EXPLAIN, x - X_AT);
    if (line[x - 1] === LETTER_E && line[x + 1] === LETTER_P && isExplain(line, x - X_AT)) return x - X_AT;
    x = line.indexOf(LETTER_X, x + 1);
  }
  return -1;
}

function isExplain(line: Buffer, start: number): boolean {
  const end = start + EXPLAIN.length;
  return end <= line.length && line.compare(EXPLAIN, 0, EXPLAIN.length, start, end) === 0;
}

function pastSpace(line: Buffer, from: number): number {
  let at = from;
  while (line[at] === 0x20 || line[at] === 0x09 || line[at] === CARRIAGE_RETURN) at++;
  return at;
}
