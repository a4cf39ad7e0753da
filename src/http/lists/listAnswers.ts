import type { BodyBudget } from '../bodyBudget.js';
import type { ListAnswer } from '../reply.js';

/** The answers of a list: in the order of its lines, in pieces, as its caller reads them. */
export class ListAnswers {
  /** Lines whose answers are written. */
  written = 0;
  /** Answers that are not written yet, by line. */
  private readonly texts: (string | undefined)[];
  private readonly statuses: Uint16Array;
  /** All lines before this one have their answers; the next field counts their unwritten characters. */
  private ready = 0;
  private readyChars = 0;
  /** Characters of all unwritten answers, and the memory taken from the budget for them. */
  private unwrittenChars = 0;
  private heldBytes = 0;
  private isWriteScheduled = false;
  private isOver = false;

  constructor(
    private readonly answer: ListAnswer,
    private readonly options: ListAnswersOptions,
  ) {
    const { lines } = options;
    this.texts = Array.from<string | undefined>({ length: lines });
    this.statuses = new Uint16Array(lines);
    answer.onRead(() => this.write());
  }

  /** Answers that the caller does not read take memory. @returns false without memory for them */
  takeRoom(): boolean {
    const { budget, holder } = this.options;
    if (this.unwrittenChars <= this.heldBytes) return true;
    const wanted = Math.ceil(this.unwrittenChars / STEP_BYTES) * STEP_BYTES;
    if (budget.take(holder, wanted, this.heldBytes) !== 'taken') return false;
    this.heldBytes = wanted;
    return true;
  }

  /** The answer of a line: call it once for each. */
  settle(index: number, status: number, body: string): void {
    this.statuses[index] = status;
    this.texts[index] = `${body}\n`;
    this.unwrittenChars += body.length + 1;
    for (let text = this.texts[this.ready]; text !== undefined; text = this.texts[this.ready]) {
      this.readyChars += text.length;
      this.ready++;
    }
    if (this.isWriteScheduled || (this.ready < this.options.lines && this.readyChars < PIECE_CHARS)) return;
    this.isWriteScheduled = true;
    // In another turn: while the library reads another connection, it would send this in many pieces.
    setImmediate(() => {
      this.isWriteScheduled = false;
      this.write();
    });
  }

  /** Writes no more, and gives the memory back. */
  end(): void {
    this.isOver = true;
    const { budget, holder } = this.options;
    if (this.heldBytes > 0) budget.give(holder, this.heldBytes);
    this.heldBytes = 0;
  }

  private write(): void {
    while (!this.isOver && this.writePiece());
    this.options.onRoom();
  }

  /** @returns whether one was written, and more may follow */
  private writePiece(): boolean {
    const { answer, options, written: first } = this;
    const isAll = this.ready === options.lines;
    const isLast = isAll && answer.mayEnd && !(answer.mayWrite && this.readyChars > 2 * PIECE_CHARS);
    if (!isLast && (!answer.mayWrite || this.readyChars < PIECE_CHARS)) return false;
    if (isLast) answer.end(this.take(Infinity));
    else answer.write(this.take(PIECE_CHARS));
    options.onWritten(first, this.statuses.subarray(first, this.written));
    if (isLast) options.onAll();
    return !isLast;
  }

  /** The ready lines from the first unwritten one on, up to `chars` in total. */
  private take(chars: number): string {
    let piece = '';
    while (this.written < this.ready && piece.length < chars) {
      piece += this.texts[this.written] ?? '';
      this.texts[this.written] = undefined;
      this.written++;
    }
    this.readyChars -= piece.length;
    this.unwrittenChars -= piece.length;
    return piece;
  }
}

export interface ListAnswersOptions {
  /** How many answers there are. */
  readonly lines: number;
  /** The budget of bodies: unwritten answers take memory from it, as `holder`'s. */
  readonly budget: BodyBudget;
  readonly holder: number;
  /** The answers from line `first` on were written, with these statuses. */
  onWritten(first: number, statuses: Uint16Array): void;
  /** The last answer was written. */
  onAll(): void;
  /** There may be memory again for further answers. */
  onRoom(): void;
}

/** Lines are written once they reach this length together, and at the end. */
const PIECE_CHARS = 16_384;
/** Memory for unwritten answers is taken in these steps. */
const STEP_BYTES = 16_384;
