import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';

/** What a row is scored for, in the order of the network's output. */
export const SCORES = [...SCORE_FIELDS, ...LABEL_FIELDS] as const;
export type ScoreName = (typeof SCORES)[number];

/** An outcome that stands beside the nights, and the score that it is held against. */
export interface Outcome {
  readonly column: string;
  readonly score: ScoreName;
  /** 1 where more of the score should go with more of the outcome, −1 where with less. It is given, never found. */
  readonly sign: 1 | -1;
  /** It is a percentile of 0 to 100, as the score is. */
  readonly isPercentile: boolean;
}

/** `tired:-attention` as an outcome; undefined where it is none. */
export function outcomeOf(text: string): Outcome | undefined {
  const [, column, minus, name] = /^(.+):(-?)(\w+)$/.exec(text) ?? [];
  const score = SCORES.find((one) => one === name);
  if (column === undefined || score === undefined) return undefined;
  return { column, score, sign: minus === '-' ? -1 : 1, isPercentile: false };
}

/** Which way an outcome goes when more of a rival is better for people: with it, or against it. */
export function betterSign({ score, sign }: Outcome): 1 | -1 {
  return score === 'stress' ? (-sign as 1 | -1) : sign;
}

/**
 * A value beside a night, which is JSON, as a number: true and High are 1, false and Low are 0.
 * Undefined where there is none, NaN where it is something else.
 */
export function valueOf(json: string | undefined): number | undefined {
  if (json === undefined || json === 'null' || json === '""') return undefined;
  const word = WORDS.get(json);
  if (word !== undefined) return word;
  const value = json.startsWith('"') || json.startsWith('[') ? NaN : Number(json);
  return Number.isFinite(value) ? value : NaN;
}

const WORDS: ReadonlyMap<string, number> = new Map([
  ['true', 1],
  ['false', 0],
  ['"High"', 1],
  ['"Low"', 0],
]);
