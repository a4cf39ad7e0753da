import { DEFAULT_SERIES_LIMITS, LABEL_FIELDS, SCORE_FIELDS, type ScoreRecord } from '../contract/request.js';
import type { Golden } from '../model/manifest.js';
import { createReader, isBodyProblem } from '../pipeline/read.js';
import { respond } from '../pipeline/respond.js';
import type { Scorer } from '../scoring/scorer.js';

/** A model that does not give its own golden scores; it must not serve. */
export class GoldenError extends Error {
  override readonly name = 'GoldenError';
}

/**
 * Scores the golden requests of a model one by one through `scorer`.
 * @throws GoldenError at the first whose scores differ by more than the tolerance, or whose label differs
 */
export async function checkGolden(golden: Golden, scorer: Scorer): Promise<void> {
  const readRequest = createReader(DEFAULT_SERIES_LIMITS);
  for (const { name, request: body, scores: expected } of golden.cases) {
    const request = readRequest(Buffer.from(JSON.stringify(body)));
    if (isBodyProblem(request)) throw new GoldenError(`golden case ${name} is no valid request`);
    const actual = await new Promise<ScoreRecord>((resolve, reject) => {
      const outcome = scorer.admit(request, {
        isGone: false,
        scored: (row, offset, _timing, { thresholds }) =>
          resolve(JSON.parse(respond(row, offset, 0, thresholds)) as ScoreRecord),
        failed: (cause) => reject(new GoldenError(`golden case ${name} got no scores: ${cause}`)),
      });
      if (outcome !== 'admitted') reject(new GoldenError(`golden case ${name} was refused: ${outcome}`));
    });
    compare(name, actual, expected, golden.tolerance);
  }
}

/** The answer is rounded to hundredths; the tolerance is meant before rounding. */
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
