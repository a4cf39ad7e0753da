import { EXPLAIN_TOKENS } from '../contract/explanation.js';
import { LINES_MAX } from '#rules/structure.js';
import { LineFinder, type Line } from '../reading/lines.js';
import { isBodyProblem, type RequestReader } from '../reading/read.js';
import { furtherBlocks } from './body.js';

export interface CountedLines {
  readonly found: LineFinder;
  /** For each line, whether an explanation is requested. */
  readonly wantsExplanation: readonly boolean[];
}

/**
 * Finds the lines of a list, and those that request an explanation: they cost more, so this must be known
 * first.
 */
export class ListCount implements CountedLines {
  readonly found: LineFinder;
  readonly wantsExplanation: boolean[] = [];

  constructor(
    bytes: Uint8Array,
    private readonly readRequest: (bytes: Uint8Array) => ReturnType<RequestReader>,
  ) {
    this.found = new LineFinder(bytes);
  }

  /** Reads one more line; false if there is none. */
  next(): boolean {
    const line = this.found.next();
    if (line === undefined) return false;
    if (line !== 'empty') this.wantsExplanation.push(this.asksForExplanation(line));
    return true;
  }

  private asksForExplanation(line: Line): boolean {
    if (!line.mayExplain) return false;
    const request = this.readRequest(this.found.bytesOf(line));
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
