import { DEFAULT_SERIES_LIMITS, LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import type { ScoreRecord } from '#acuity/contract/request.js';
import type { Bundle } from '#acuity/model/bundle.js';
import { WasmParser } from '#acuity/read/wasmParser.js';
import { isBodyProblem, readExactly } from '#acuity/read/read.js';
import { adjustedRow } from '#acuity/night/measuredRow.js';
import { respond } from '#acuity/night/respond.js';
import { inputOf } from '#bench/peers/features.js';
import { openInference } from '#bench/peers/inference.js';
import { Connection, requestBytes, type Reply, type Target } from '#acuity/tune/load/connection.js';

/** A request and the scores that every peer must give for it. */
export interface Question {
  readonly body: string;
  readonly expected: ScoreRecord;
}

/** Largest accepted difference of a score: additions in another order, and the rounding of the answer. */
const TOLERANCE = 0.02;
/** Golden scores are not rounded, so the answer's rounding comes on top. */
const ROUNDING = 0.005;

/** The golden requests of a bundle with their golden scores. */
export function goldenQuestions({ golden }: Bundle): Question[] {
  return golden.cases.map(({ request, scores }) => ({ body: JSON.stringify(request), expected: scores }));
}

/** The scores of `bodies`, one by one, by the exact reader and the network in this process. */
export async function questionsOf(bundle: Bundle, bodies: readonly string[]): Promise<Question[]> {
  const parser = new WasmParser(DEFAULT_SERIES_LIMITS);
  const inference = await openInference(bundle);
  const questions: Question[] = [];
  for (const body of bodies) {
    const { measured, thresholds } = bundle.manifest;
    const request = readExactly(Buffer.from(body), DEFAULT_SERIES_LIMITS, parser, measured);
    if (isBodyProblem(request)) throw new Error('a payload of the bench is no valid request');
    const { adjustments } = request;
    const scores = await inference.score(inputOf(request));
    const answered = adjustments === undefined ? scores : adjustedRow(adjustments, scores, 0);
    const expected = JSON.parse(respond(answered, 0, 0, thresholds)) as ScoreRecord;
    questions.push({ body, expected });
  }
  await inference.close();
  return questions;
}

/** Says what is wrong with an answer; undefined if it is right. Contains no values: requests may be real ones. */
export function differenceOf(
  { status, body }: Pick<Reply, 'status' | 'body'>,
  expected: ScoreRecord,
): string | undefined {
  if (status !== 200) return `status ${status}`;
  const actual = JSON.parse(body) as ScoreRecord;
  for (const field of SCORE_FIELDS) {
    const difference = Math.abs(actual[field] - expected[field]);
    if (!(difference <= TOLERANCE + ROUNDING)) return `${field} is off by ${difference.toFixed(2)}`;
  }
  const label = LABEL_FIELDS.find((field) => actual[field] !== expected[field]);
  return label === undefined ? undefined : `${label} is the other one`;
}

/**
 * Asks every question `rounds` times over `connections` at once, to find answers that are wrong only under
 * concurrency. Returns what was wrong, one line for each kind.
 */
export async function wrongAnswers(
  target: Target,
  questions: readonly Question[],
  { connections, rounds }: { readonly connections: number; readonly rounds: number },
): Promise<string[]> {
  const wrong = new Map<string, number>();
  const asked = questions.map(({ body, expected }) => ({ request: requestBytes(target, body), expected }));
  let next = 0;
  const ask = async (): Promise<void> => {
    const connection = await Connection.open(target.socket ?? target.port);
    for (let turn = next++; turn < asked.length * rounds; turn = next++) {
      const question = asked[turn % asked.length];
      if (question === undefined) break;
      const difference = differenceOf(await connection.send(question.request), question.expected);
      const kind = difference?.replace(/ by .*/, '');
      if (kind !== undefined) wrong.set(kind, (wrong.get(kind) ?? 0) + 1);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, ask));
  return [...wrong].map(([kind, count]) => `${kind} (${count} of ${asked.length * rounds} answers)`);
}
