import { systemClock } from '../base/clock.js';
import { OperatorError } from '../base/errors.js';
import { DEFAULT_SERIES_LIMITS, LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import type { ScoreRecord } from '../contract/request.js';
import { OUTPUT_COLUMNS } from '../model/tensors.js';
import type { Golden } from '../model/manifest.js';
import { createReader, isBodyProblem, type RequestReader } from '../read/read.js';
import { respond } from '../night/respond.js';
import type { Scorer } from './scorer.js';

/**
 * Scores the golden requests of a model one by one through `scorer`.
 * @throws GoldenError at the first whose scores differ by more than the tolerance, or whose label differs
 */
export async function checkGolden(golden: Golden, scorer: Scorer): Promise<void> {
  const readRequest = createReader(DEFAULT_SERIES_LIMITS);
  for (const { name, request, scores: expected } of golden.cases) {
    const scores = await scoreGolden({ name, request }, readRequest, scorer);
    const actual = JSON.parse(respond(scores, 0, 0, scorer.model.thresholds)) as ScoreRecord;
    compare(name, actual, expected, golden.tolerance);
  }
}

/** A model does not reproduce its own golden scores, so it must not serve. */
export class GoldenError extends OperatorError {}

/** A request waits at most this long, on the slowest machine that may serve. */
const LONGEST_MS = 30_000;

/** The network's own numbers for a golden request: five scores, two probabilities. */
export async function scoreGolden(
  { name, request: body }: Pick<Golden['cases'][number], 'name' | 'request'>,
  readRequest: RequestReader,
  scorer: Scorer,
): Promise<Float32Array> {
  const request = readRequest(Buffer.from(JSON.stringify(body)));
  if (isBodyProblem(request)) throw new GoldenError(`golden case ${name} is no valid request`);
  return new Promise((resolve, reject) => {
    const outcome = scorer.admit(request, {
      isGone: false,
      isPatient: true,
      expiresMs: systemClock.monotonicMs() + LONGEST_MS,
      scored: ({ scores, offset }) => resolve(scores.slice(offset, offset + OUTPUT_COLUMNS)),
      failed: (cause) => reject(new GoldenError(`golden case ${name} got no scores: ${cause}`)),
    });
    if (outcome !== 'admitted') reject(new GoldenError(`golden case ${name} was refused: ${outcome}`));
  });
}

/** The answer is rounded to hundredths; the tolerance applies before rounding. */
const ROUNDING = 0.005;

function compare(name: string, actual: ScoreRecord, expected: ScoreRecord, tolerance: number): void {
  for (const field of SCORE_FIELDS) {
    const difference = Math.abs(actual[field] - expected[field]);
    if (!(difference <= tolerance + ROUNDING)) {
      throw new GoldenError(`golden case ${name}: ${field} is ${actual[field]}, expected ${expected[field]}`);
    }
  }
  for (const field of LABEL_FIELDS) {
    if (actual[field] !== expected[field]) {
      throw new GoldenError(`golden case ${name}: ${field} is ${actual[field]}, expected ${expected[field]}`);
    }
  }
}
