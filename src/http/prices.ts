import type { BodyProblem } from '../contract/problems.js';
import { isBodyProblem } from '../read/read.js';
import type { ReadRequest } from '../night/request.js';

/**
 * The prices of requests, in tokens of their key's rate: every price stands here, and the table in docs/API.md is made of it.
 * No kind of body costs more processor time for a token than three plain requests with five sessions before, service and
 * reader of recordings together: `npm run bench -- micro prices` measures it.
 */

/** The head of each request. */
export const HEAD_TOKENS = 1;
/** A body is charged in blocks of this size: the first with the request, each further one when it begins. */
export const BLOCK_BYTES = 65_536;
/**
 * A piece of a body, such as a chunk, counts for at least as many bytes as that: the event loop takes about as long for it
 * as for so many bytes in one. Clients that stream write 1 KiB and more at once.
 */
export const PIECE_BYTES = 256;
/** An explained request, or line, in all. */
export const EXPLAIN_TOKENS = 8;
/** A recording in all, and one for each further piece of its body of this length. */
const RECORDING_TOKENS = 6;
const RECORDING_BYTES = 2_048;
/** New measurements read for a token. */
const MEASUREMENTS = 16;
/**
 * Bytes that the exact path reads for a token. Those of the dearest bodies (short unknown fields, short numbers with
 * exponents) take it as long as a plain request with its past; samples, a quarter of that.
 */
export const EXACT_BYTES = 6_144;
/** Slow numbers read for a token. */
const SLOW_NUMBERS = 2_000;
/** Lines of a list found for a token: it matters for lists that are refused then. */
const FOUND_LINES = 256;
/** Bytes of empty lines skipped for a token. */
const EMPTY_BYTES = 16_384;

/** The bytes that a body in so many pieces is charged for. */
export function weightOf(bytes: number, pieces: number): number {
  return Math.max(bytes, pieces * PIECE_BYTES);
}

/** How many blocks a body of `bytes` has begun after its first. */
export function furtherBlocks(bytes: number): number {
  return bytes > BLOCK_BYTES ? Math.ceil(bytes / BLOCK_BYTES) - 1 : 0;
}

/** The price of a body with a recording, in all. */
export function recordingTokens(bytes: number): number {
  return RECORDING_TOKENS + Math.max(0, Math.ceil(bytes / RECORDING_BYTES) - 1);
}

/**
 * The price of reading a body beyond its length (`BLOCK_BYTES`): 0 for plain bodies. It is known only once the body is read,
 * so the bucket may go into debt.
 * @param bytes  length of the body
 */
export function readingTokens(outcome: ReadRequest | BodyProblem, bytes: number): number {
  const isProblem = isBodyProblem(outcome);
  const slow = Math.floor((outcome.slowNumbers ?? 0) / SLOW_NUMBERS);
  if (!isProblem && !outcome.isExact) return slow;
  const measurements = isProblem && outcome.kind === 'malformed' ? 0 : (outcome.newMeasurements ?? 0);
  const byLength = Math.max(0, Math.ceil(bytes / EXACT_BYTES) - 1 - furtherBlocks(bytes));
  return slow + byLength + Math.max(0, Math.ceil(measurements / MEASUREMENTS) - 1);
}

/** The price of finding the lines of a list, paid with their own tokens. */
export function foundLineTokens(lines: number): number {
  return Math.floor(lines / FOUND_LINES);
}

/** The price of empty lines: the first of each list are free. */
export function emptyLineTokens(bytes: number): number {
  return Math.floor(bytes / EMPTY_BYTES);
}

const kib = (bytes: number): string => `${bytes / 1024} KiB`;
const grouped = (count: number): string => count.toLocaleString('en-US');

/** The prices in words, as rows of a table. */
export const PRICE_ROWS: readonly (readonly [what: string, tokens: string])[] = [
  ['what is sent', 'tokens'],
  [
    'a request',
    `${HEAD_TOKENS}, and 1 for each further ${kib(BLOCK_BYTES)} of its body; one in chunks shorter than ${PIECE_BYTES} bytes on average counts ${PIECE_BYTES} for each`,
  ],
  ['with `explain`', `${EXPLAIN_TOKENS}`],
  ['with a `recording`', `${RECORDING_TOKENS}, and 1 for each further ${kib(RECORDING_BYTES)} of its body`],
  ['`measurements`', `1 more for each further ${MEASUREMENTS}`],
  [
    'a line of a list',
    `1, with \`explain\` ${EXPLAIN_TOKENS}; the blocks of the whole list, if that is more`,
  ],
  [
    'a list that is refused',
    `1 for each ${FOUND_LINES} lines, and 1 for each that had to be read to see whether it asks for an explanation, or whether it can be scored where fewer are left of the day`,
  ],
  ['empty lines of a list', `1 for each ${kib(EMPTY_BYTES)}`],
  [
    'a body that is refused, brings measurements, or is written in an unusual way (a field twice or under two names, a name with escapes, more than 256 unknown fields or 8 KiB of objects and arrays in them)',
    `1 for each ${kib(EXACT_BYTES)}`,
  ],
  [
    'numbers with an exponent, or more than 17 digits',
    `1 more for each ${grouped(SLOW_NUMBERS)}, where one whose first 19 digits do not decide it counts once for each two of its bytes; the same for each ${grouped(4 * SLOW_NUMBERS)} samples that are left out`,
  ],
];
