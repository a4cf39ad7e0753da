import { LINES_MAX } from '#rules/structure.js';
import { type Line, LineFinder } from '../../read/lines.js';
import { isBodyProblem, type RequestReader } from '../../read/read.js';
import {
  EXPLAIN_TOKENS,
  HEAD_TOKENS,
  emptyLineTokens,
  foundLineTokens,
  furtherBlocks,
  readingTokens,
} from '../prices.js';

/**
 * Finds the lines of a list, then those that request an explanation: they cost more, so this must be known first. Lines
 * are read for that only if their number fits. If there are more than are left of the day, all are read: only those
 * that can be scored count.
 */
export class ListCount implements CountedLines {
  readonly found: LineFinder;
  readonly wantsExplanation: boolean[] = [];
  readonly unscorable = new Set<number>();
  /** Tokens of the work so far that lines pay with their own: for those found and those read. */
  get paid(): number {
    const { length } = this.found.lines;
    return Math.max(0, Math.min(length - 1, this.linesRead + foundLineTokens(length)));
  }

  /** Tokens of the work so far beyond those. */
  get extra(): number {
    return this.extraRead + emptyLineTokens(this.found.emptyBytes);
  }

  private linesRead = 0;
  private extraRead = 0;

  constructor(
    bytes: Uint8Array,
    private readonly readRequest: (bytes: Uint8Array) => ReturnType<RequestReader>,
    private readonly bounds: CountBounds,
  ) {
    this.found = new LineFinder(bytes);
  }

  /** The work, in steps. */
  *steps(): Generator<void, void> {
    const { found, bounds, unscorable } = this;
    for (let come = 1, line = found.next(); line !== undefined; come++, line = found.next())
      if (line === 'empty' || come % STEP_LINES === 0) yield;
    const { lines } = found;
    if (!bounds.fits(lines.length)) return;
    const readsAll = !bounds.isWithinDay(lines.length);
    for (const [index, line] of lines.entries()) {
      if (readsAll && !bounds.isWithinDay(index - unscorable.size)) return;
      this.look(line, readsAll);
      yield;
    }
  }

  private look(line: Line, readsAll: boolean): void {
    const { found, wantsExplanation } = this;
    if (!readsAll && !found.mayExplain(line)) return void wantsExplanation.push(false);
    const bytes = found.bytesOf(line);
    const request = this.readRequest(bytes);
    this.linesRead++;
    this.extraRead += readingTokens(request, bytes.length);
    const isProblem = isBodyProblem(request);
    if (isProblem) this.unscorable.add(wantsExplanation.length);
    wantsExplanation.push(!isProblem && request.explain);
  }
}

export interface CountedLines {
  readonly found: LineFinder;
  /** For each line, whether an explanation is requested. */
  readonly wantsExplanation: readonly boolean[];
  /** Lines that can't be scored, where they had to be told apart: they do not count for the day. */
  readonly unscorable: ReadonlySet<number>;
}

/** Up to how many lines a list may be admitted. */
export interface CountBounds {
  /** Whether so many lines may be admitted. */
  fits(lines: number): boolean;
  /** Whether the key may have so many more lines scored today. */
  isWithinDay(lines: number): boolean;
}

/** Lines found in one step. */
const STEP_LINES = 64;

/** Upper bounds of a list. */
export interface ListBounds {
  readonly tokensMax: number;
  /** How many lines the key may still have scored today. */
  readonly dayMax: number;
  readonly plainMax: number;
}

export type ListSize = ReturnType<typeof measureList>;

/** The part of `CountedLines` that tells a list's size. */
interface SizedLines extends Omit<CountedLines, 'found'> {
  readonly found: Pick<LineFinder, 'lines' | 'bytes'>;
}

export function measureList(
  { found: { lines, bytes }, wantsExplanation, unscorable }: SizedLines,
  { tokensMax, dayMax, plainMax }: ListBounds,
) {
  let explained = 0;
  let scorable = 0;
  let tokens = 0;
  let fit = 0;
  for (const [index, { end }] of lines.entries()) {
    if (wantsExplanation[index] === true) explained++;
    if (!unscorable.has(index)) scorable++;
    const count = index + 1;
    const plain = count - explained;
    const come = count === lines.length ? bytes : end;
    tokens = Math.max(plain + explained * EXPLAIN_TOKENS, HEAD_TOKENS + furtherBlocks(come));
    const isWithin = plain <= plainMax && tokens <= tokensMax;
    if (count === 1 || (isWithin && count <= LINES_MAX && scorable <= dayMax)) fit = count;
  }
  return {
    count: lines.length,
    plain: lines.length - explained,
    explained,
    tokens,
    /** Lines that count for the day. */
    scorable,
    /** This many lines, from the first on, fit in any case: at least one, as it would alone. */
    fit,
  };
}
