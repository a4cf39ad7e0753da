import type { BodyProblem } from '../contract/problems.js';
import { isBodyProblem } from '../reading/read.js';
import type { ReadRequest } from '../records/request.js';
import { furtherBlocks } from './body.js';

/**
 * The exact path reads so many bytes for a token. Those of the dearest bodies (short unknown fields, short numbers with
 * exponents) take it as long as a plain request with its past; samples, a quarter of that.
 */
export const EXACT_BYTES = 6_144;
/** So many slow numbers are read for a token. */
const SLOW_NUMBERS = 2_000;
/** So many new measurements are read for a token. */
const MEASUREMENTS = 16;
/** So many bytes of empty lines are skipped for a token. */
const EMPTY_BYTES = 16_384;

/**
 * What reading a body costs beyond its length (`BLOCK_BYTES`), in tokens: 0 for plain bodies. It is known only once the
 * body is read, so the bucket may go into debt. `npm run bench -- micro prices` measures what a token of each kind buys.
 * @param bytes  length of the body
 */
export function readingTokens(outcome: ReadRequest | BodyProblem, bytes: number): number {
  const isProblem = isBodyProblem(outcome);
  if (!isProblem && !outcome.isExact) return Math.floor(outcome.slowNumbers / SLOW_NUMBERS);
  const measurements = isProblem && outcome.kind === 'malformed' ? 0 : (outcome.newMeasurements ?? 0);
  const byLength = Math.max(0, Math.ceil(bytes / EXACT_BYTES) - 1 - furtherBlocks(bytes));
  return byLength + Math.max(0, Math.ceil(measurements / MEASUREMENTS) - 1);
}

/** What empty lines cost, in tokens: the first of each list are free. */
export function emptyLineTokens(bytes: number): number {
  return Math.floor(bytes / EMPTY_BYTES);
}
