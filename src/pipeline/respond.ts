import type { HistoryToCome } from '../records/request.js';

/** The probability from which each label is High. */
export interface Thresholds {
  readonly valence: number;
  readonly arousal: number;
}

/** 0 … 100 in steps of a hundredth as JSON numbers: a look-up costs half as much as formatting. */
const HUNDREDTHS = Array.from({ length: 10_001 }, (_, hundredths) => String(hundredths / 100));

/** A non-negative number as JSON, rounded to two decimals. */
export function rounded(value: number): string {
  const hundredths = Math.round(value * 100);
  return HUNDREDTHS[hundredths] ?? String(hundredths / 100);
}

/**
 * In whole hundredths, the resolution of an answer: what is compared or summed in them also holds for the printed
 * numbers.
 */
export function hundredths(value: number): number {
  return Math.round(value * 100);
}

/**
 * The body of a 200. `scores[offset …]` are C_SCORE, attention, memory, reasoning, stress (0 to 100) and the
 * probabilities of High valence and arousal; `inferMs` are milliseconds, left out if undefined.
 */
export function respond(
  scores: Float32Array,
  offset: number,
  inferMs: number | undefined,
  thresholds: Thresholds,
): string {
  // offset + 7 ≤ scores.length: a row of the model's output
  const valence = scores[offset + 5]! >= thresholds.valence ? 'High' : 'Low';
  const arousal = scores[offset + 6]! >= thresholds.arousal ? 'High' : 'Low';
  return (
    `{"C_SCORE":${rounded(scores[offset]!)},"attention":${rounded(scores[offset + 1]!)}` +
    `,"memory":${rounded(scores[offset + 2]!)},"reasoning":${rounded(scores[offset + 3]!)}` +
    `,"stress":${rounded(scores[offset + 4]!)},"valence":"${valence}","arousal":"${arousal}"` +
    (inferMs === undefined ? '}' : `,"inference_time_ms":${rounded(inferMs)}}`)
  );
}

/** The body of a 200, made by `respond`, with the seven unmeasured scores appended. */
export function withUnmeasured(
  body: string,
  scores: Float32Array,
  offset: number,
  thresholds: Thresholds,
): string {
  return `${body.slice(0, -1)},"unmeasured":${respond(scores, offset, undefined, thresholds)}}`;
}

/** The body of a 200, made by `respond`, with the field `name` appended. */
export function withField(
  body: string,
  name: 'explanation' | 'measured' | 'measurements_ignored',
  value: object,
): string {
  return withJson(body, name, JSON.stringify(value));
}

/** The same, for a value in JSON. */
export function withJson(body: string, name: string, json: string): string {
  return `${body.slice(0, -1)},"${name}":${json}}`;
}

/** The body of a 200 with what became of the request's measurements appended. */
export function withMeasured(
  body: string,
  { tests, ignored }: Pick<HistoryToCome, 'tests' | 'ignored'>,
): string {
  const told = tests.length === 0 ? body : withField(body, 'measured', tests);
  return ignored.length === 0 ? told : withField(told, 'measurements_ignored', ignored);
}
