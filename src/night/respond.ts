import type { HistoryToCome } from './request.js';

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

/** The body of a 200, made by `respond`, with those of `fields` appended that have a value: JSON. */
export function withFields(body: string, fields: Readonly<Record<string, string | undefined>>): string {
  let text = body.slice(0, -1);
  for (const name in fields) if (fields[name] !== undefined) text += `,"${name}":${fields[name]}`;
  return `${text}}`;
}

/** Fields of an answer: what became of the request's measurements. */
export function measuredFields({ tests, ignored }: Pick<HistoryToCome, 'tests' | 'ignored'>) {
  return {
    measured: tests.length === 0 ? undefined : JSON.stringify(tests),
    measurements_ignored: ignored.length === 0 ? undefined : JSON.stringify(ignored),
  };
}
