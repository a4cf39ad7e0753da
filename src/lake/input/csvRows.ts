/** The rows of a CSV: its bytes in UTF-8, its header, and its records, whose cells stay where they are. */
import { isUtf8 } from 'node:buffer';
import { CELLS_MAX, CsvCells, CsvError, cellText, isLineEnd } from '../../base/csvCells.js';
import { PROBLEMS, UNPROCESSABLE } from '../../contract/problems.js';
import { TableError, type RowProblem } from '../errors.js';
import { fieldOf } from './names.js';

export interface CsvOptions {
  /** For messages. */
  readonly what: string;
  /** UTF-8 if absent. */
  readonly encoding?: string | undefined;
  /** A longer row is a bad one. */
  readonly rowBytesMax: number;
}

/** Rows that lie in one piece of memory, valid until the next ones are asked for. */
export interface CsvRows {
  readonly rows: number;
  readonly bytes: Buffer;
  /** Cells of the header. */
  readonly width: number;
  /** Cell c of row i is `bytes[starts[i · width + c] … ends[i · width + c])`: without its quotes, doubled ones stay. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** A `MARK` for each row. */
  readonly marks: Uint8Array;
}

/** The text of a cell, with the letters that its bytes are. */
export function textIn(
  { bytes, width, starts, ends }: CsvRows,
  row: number,
  place: number,
  letters: 'utf8' | 'latin1' = 'utf8',
): string {
  const at = row * width + place;
  return cellText(bytes, starts[at] ?? 0, ends[at] ?? 0, letters);
}

/** Why a row is bad: it has more or fewer cells than the header, or too many bytes; then it has no cells. */
const MARK = { none: 0, misshapen: 1, tooLong: 2 } as const;

export function problemOf(mark: number | undefined): RowProblem | undefined {
  if (mark === MARK.none) return undefined;
  return mark === MARK.tooLong ? PROBLEMS.bodyTooLarge : MISSHAPEN;
}

const MISSHAPEN: RowProblem = {
  status: UNPROCESSABLE.status,
  detail: 'a row with more or fewer cells than the header, or a quote that is not closed',
};

/** Most rows read together, and most cells if there is more than one row. */
const ROWS_MAX = 2048;
const PAGE_CELLS_MAX = 1 << 16;
const DELIMITERS = [',', ';', '\t', '|'];
const NOTHING = Buffer.alloc(0);
const UTF8_MARK = Buffer.from('\ufeff');
const BIG_ENDIAN_MARK = 0xfeff;

/** A CSV whose header is read, and whose rows come once. */
export class CsvTable {
  /** None if it is empty. */
  readonly names: readonly string[];
  private readonly cells: CsvCells;
  /** Lines before the bytes at hand. */
  private lines = 0;
  /** Whether the record that begins with the bytes at hand is too long, and goes on as a shorter one. */
  private isTooLong = false;
  /** Its lines that are left out. */
  private linesLeft = 0;
  /** Memory that is used again, once the rows in it are read: new memory would cost more than a copy. */
  private room = NOTHING;
  private readonly marks: Uint8Array;

  private constructor(
    private readonly options: CsvOptions,
    private readonly pieces: AsyncGenerator<Buffer, void, undefined>,
    private bytes: Buffer,
    { delimiter, names }: Pick<Header, 'delimiter' | 'names'>,
  ) {
    this.names = names;
    const rows = Math.max(1, Math.min(ROWS_MAX, Math.floor(PAGE_CELLS_MAX / names.length)));
    this.marks = new Uint8Array(rows);
    this.cells = new CsvCells(delimiter, names.length, rows);
  }

  /** @throws TableError */
  static async open(input: AsyncIterable<Uint8Array>, options: CsvOptions): Promise<CsvTable> {
    const { what, encoding, rowBytesMax } = options;
    const pieces = utf8Of(input, encoding, what);
    try {
      for (let head = NOTHING; ;) {
        const { done, value = NOTHING } = await pieces.next();
        head = Buffer.concat([head, value]);
        const header = headerIn(head, done === true);
        if (header !== undefined) {
          const table = new CsvTable(options, pieces, head, header);
          table.checkLetters(0, header.end);
          if (header.names.some((name) => name.includes('\0'))) throw table.otherEncoding(1);
          if (header.names.length === 0 && header.end > 0) throw table.malformed(0);
          table.passTo(header.end);
          return table;
        }
        if (head.length > rowBytesMax)
          throw new TableError(
            `${what} is no CSV: its first line has more than ${rowBytesMax} bytes: check its line ends, or raise ACUITY_BODY_MAX_BYTES`,
          );
      }
    } catch (error) {
      await pieces.return();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.pieces.return();
  }

  /** @throws TableError if it is no CSV, or not in its encoding */
  async *rows(): AsyncGenerator<CsvRows, void, undefined> {
    try {
      for (let isLast = this.names.length === 0; !isLast;) {
        yield* this.pages(isLast);
        if (this.isTooLong) {
          this.linesLeft += linesIn(this.bytes);
          this.bytes = this.cells.begun;
        }
        const begun = Buffer.from(this.bytes); // the next piece may take its memory
        const { done, value = NOTHING } = await this.pieces.next();
        isLast = done === true;
        this.bytes = this.joined(begun, value);
      }
      yield* this.pages(true);
    } finally {
      await this.close();
    }
  }

  /** The records that end in the bytes at hand; leaves one that only begins there. */
  private *pages(isLast: boolean): Generator<CsvRows, void, undefined> {
    const { bytes, cells, marks } = this;
    const { starts, ends } = cells;
    const width = this.names.length;
    cells.open(bytes, isLast);
    let at = 0;
    for (let isMore = at < bytes.length; isMore;) {
      const { rows, end } = this.fill(at);
      this.checkLetters(at, end);
      if (rows > 0) yield { rows, bytes, width, starts, ends, marks };
      isMore = end > at && end < bytes.length;
      at = end;
    }
    this.passTo(at);
    this.isTooLong ||= this.bytes.length > this.options.rowBytesMax;
  }

  /** Notes the cells of the records from `begin` on. @returns how many rows, and where they end */
  private fill(begin: number): { readonly rows: number; readonly end: number } {
    const { bytes, cells, marks, options } = this;
    const { starts, ends } = cells;
    const width = this.names.length;
    starts.fill(0);
    ends.fill(0);
    let [rows, at] = [0, begin];
    while (rows < marks.length && at < bytes.length) {
      const place = rows * width;
      const end = this.next(at, place);
      if (end < 0) break;
      if (this.isTooLong || end - at > options.rowBytesMax) {
        starts.fill(0, place, place + width);
        ends.fill(0, place, place + width);
        marks[rows] = MARK.tooLong;
      } else marks[rows] = cells.count === width ? MARK.none : MARK.misshapen;
      if (!isLineEnd(bytes[at])) rows++; // an empty line is no row
      this.isTooLong = false;
      this.lines += this.linesLeft;
      this.linesLeft = 0;
      at = end;
    }
    return { rows, end: at };
  }

  private joined(rest: Buffer, piece: Buffer): Buffer {
    if (rest.length === 0) return piece;
    const length = rest.length + piece.length;
    const target = this.room.length < length ? Buffer.allocUnsafeSlow(2 * length) : this.room;
    rest.copy(target);
    piece.copy(target, rest.length);
    this.room = target;
    return target.subarray(0, length);
  }

  private next(at: number, place: number): number {
    try {
      return this.cells.next(at, place);
    } catch (error) {
      throw error instanceof CsvError ? this.malformed(at) : error;
    }
  }

  private passTo(end: number): void {
    this.lines += linesIn(this.bytes.subarray(0, end));
    this.bytes = this.bytes.subarray(end);
  }

  private lineAt(at: number): number {
    return this.lines + linesIn(this.bytes.subarray(0, at)) + 1;
  }

  private malformed(at: number): TableError {
    const { what } = this.options;
    return new TableError(`${what} is no CSV in line ${this.lineAt(at)}: check its quotes and its delimiter`);
  }

  /** Letters that are lost would make two people one. @throws TableError */
  private checkLetters(first: number, end: number): void {
    const own = this.bytes.subarray(first, end);
    if (isUtf8(own)) return;
    let [at, line] = [0, this.lineAt(first)];
    for (
      let end = own.indexOf('\n');
      end >= 0 && isUtf8(own.subarray(at, end));
      end = own.indexOf('\n', at)
    ) {
      at = end + 1;
      line++;
    }
    throw this.otherEncoding(line);
  }

  private otherEncoding(line: number): TableError {
    return new TableError(
      `${this.options.what} can't be read in line ${line}: it is not UTF-8: give --encoding latin-1 or utf-16 if it is in one of these, or convert it (iconv -t UTF-8)`,
    );
  }
}

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf('\n'); at >= 0; at = bytes.indexOf('\n', at + 1)) lines++;
  return lines;
}

interface Header {
  readonly delimiter: string;
  readonly names: readonly string[];
  /** Where the first row begins. */
  readonly end: number;
}

/**
 * The first line that is not empty, split at the delimiter that finds the most fields of a session. Without names if it
 * can't be split, or if there is none; undefined if it has not ended yet.
 */
function headerIn(head: Buffer, isLast: boolean): Header | undefined {
  let begin = head.indexOf(UTF8_MARK) === 0 ? UTF8_MARK.length : 0;
  while (isLineEnd(head[begin])) begin++;
  if (begin === head.length) return isLast ? { delimiter: ',', names: [], end: 0 } : undefined;
  const known = ({ names }: Header): number =>
    names.filter((name) => fieldOf(name.trim()) !== undefined).length;
  const ways = DELIMITERS.map((delimiter) => splitAt(head, begin, delimiter, isLast));
  const ended = ways.flatMap((way) => way ?? []);
  if (ended.length < ways.length) return undefined;
  const [best] = ended.toSorted((a, b) => known(b) - known(a) || b.names.length - a.names.length);
  return best;
}

function splitAt(head: Buffer, begin: number, delimiter: string, isLast: boolean): Header | undefined {
  const cells = new CsvCells(delimiter);
  cells.open(head, isLast);
  try {
    const end = cells.next(begin);
    if (cells.count > CELLS_MAX)
      throw new TableError(`its header has more than ${CELLS_MAX} cells: leave columns out`);
    return end < 0 ? undefined : { delimiter, names: cells.texts(), end };
  } catch (error) {
    if (error instanceof CsvError) return { delimiter, names: [], end: head.length };
    throw error;
  }
}

/** The bytes in UTF-8. @throws TableError for what is no UTF-16 */
async function* utf8Of(
  input: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  what: string,
): AsyncGenerator<Buffer, void, undefined> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let head = NOTHING;
  const decoded = (bytes?: Buffer): Buffer => {
    try {
      return Buffer.from(decoder?.decode(bytes, { stream: bytes !== undefined }) ?? '');
    } catch {
      throw new TableError(`${what} can't be read: it is not UTF-16`);
    }
  };
  for await (const piece of input) {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    if (encoding === 'latin-1') yield Buffer.from(bytes.toString('latin1'));
    else if (encoding !== 'utf-16') yield bytes;
    else if (decoder !== undefined) yield decoded(bytes);
    else {
      head = Buffer.concat([head, bytes]);
      if (head.length < 2) continue;
      // Without a mark, the first letter of a header tells.
      const order = head[0] === 0 || head.readUInt16BE() === BIG_ENDIAN_MARK ? 'utf-16be' : 'utf-16le';
      decoder = new TextDecoder(order, { fatal: true });
      yield decoded(head);
    }
  }
  if (decoder !== undefined) yield decoded();
  else yield head;
}
