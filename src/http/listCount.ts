import { EXPLAIN_TOKENS } from '../contract/explanation.js';
import { LINES_MAX } from '#rules/structure.js';
import { LineFinder, type Line } from '../reading/lines.js';
import { isBodyProblem, type RequestReader } from '../reading/read.js';
import { furtherBlocks } from './body.js';
import { emptyLineTokens, readingTokens } from './readingTokens.js';

export interface CountedLines {
  readonly found: LineFinder;
  /** For each line, whether an explanation is requested. */
  readonly wantsExplanation: readonly boolean[];
}

/** So many lines are found in one step. */
const STEP_LINES = 64;
/** So many lines are found for a token: it matters for lists that are refused then. */
const FOUND_LINES = 256;

/**
 * Finds the lines of a list, then those that request an explanation: they cost more, so this must be known first. Lines
 * are read for that only if their number fits.
 */
export class ListCount implements CountedLines {
  readonly found: LineFinder;
  readonly wantsExplanation: boolean[] = [];
  /** Tokens of the work so far that lines pay with their own: for those found and those read. */
  get paid(): number {
    const { length } = this.found.lines;
    return Math.max(0, Math.min(length - 1, this.linesRead + Math.floor(length / FOUND_LINES)));
  }

  /** Tokens of the work so far beyond those. */
  get extra(): number {
    return this.extraRead + emptyLineTokens(this.found.emptyBytes);
  }

  private linesRead = 0;
  private extraRead = 0;
  private isFound = false;

  constructor(
    bytes: Uint8Array,
    private readonly readRequest: (bytes: Uint8Array) => ReturnType<RequestReader>,
    /** Whether so many lines may be admitted. */
    private readonly fits: (lines: number) => boolean,
  ) {
    this.found = new LineFinder(bytes);
  }

  /** Does one step of the work; false if there is none. */
  next(): boolean {
    if (!this.isFound) {
      this.isFound = !this.findLines();
      return !this.isFound || this.fits(this.found.lines.length);
    }
    const line = this.found.lines[this.wantsExplanation.length];
    if (line === undefined) return false;
    this.wantsExplanation.push(this.asksForExplanation(line));
    return true;
  }

  /** @returns whether there may be more */
  private findLines(): boolean {
    for (let lines = 0; lines < STEP_LINES; lines++) {
      const line = this.found.next();
      if (line === undefined) return false;
      if (line === 'empty') return true;
    }
    return true;
  }

  private asksForExplanation(line: Line): boolean {
    if (!this.found.mayExplain(line)) return false;
    const bytes = this.found.bytesOf(line);
    const request = this.readRequest(bytes);
    this.linesRead++;
    this.extraRead += readingTokens(request, bytes.length);
    return !isBodyProblem(request) && request.explain;
  }
}

/** Upper bounds of a list. */
export interface ListBounds {
  readonly tokensMax: number;
  /** What is left of the key's day, the request itself included. */
  readonly dayMax: number;
  readonly plainMax: number;
}

export interface ListSize {
  readonly count: number;
  readonly plain: number;
  readonly explained: number;
  readonly tokens: number;
  /** This many lines, from the first on, fit in any case: at least one, as it would alone. */
  readonly fit: number;
}

export function measureList(
  { lines, bytes }: Pick<LineFinder, 'lines' | 'bytes'>,
  wantsExplanation: readonly boolean[],
  { tokensMax, dayMax, plainMax }: ListBounds,
): ListSize {
  let explained = 0;
  let tokens = 0;
  let fit = 0;
  const countMax = Math.min(LINES_MAX, dayMax);
  for (const [index, { end }] of lines.entries()) {
    if (wantsExplanation[index] === true) explained++;
    const count = index + 1;
    const plain = count - explained;
    const come = count === lines.length ? bytes : end;
    tokens = Math.max(plain + explained * EXPLAIN_TOKENS, 1 + furtherBlocks(come));
    const isWithin = plain <= plainMax && tokens <= tokensMax;
    if (count === 1 || (isWithin && count <= countMax)) fit = count;
  }
  return { count: lines.length, plain: lines.length - explained, explained, tokens, fit };
}
