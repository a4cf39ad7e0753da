/** Outcomes: a column beside the nights, and the score that it is compared with. */
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';

/** The scores of a row, in the order of the network's output. */
export const SCORES = [...SCORE_FIELDS, ...LABEL_FIELDS] as const;
export type ScoreName = (typeof SCORES)[number];

/** An outcome recorded with the nights, and the score that it is compared with. */
export interface Outcome {
  readonly column: string;
  readonly score: ScoreName;
  /** 1 if more of the score should go with more of the outcome, −1 if with less. It is given, never estimated. */
  readonly sign: 1 | -1;
  /** Whether it is a percentile, 0 to 100, like the score. */
  readonly isPercentile: boolean;
}

/** Parses an outcome such as `tired:-attention`; undefined if invalid. */
export function outcomeOf(text: string): Outcome | undefined {
  const [, column, minus, name] = /^(.+):(-?)(\w+)$/.exec(text) ?? [];
  const score = SCORES.find((one) => one === name);
  if (column === undefined || score === undefined) return undefined;
  return { column, score, sign: minus === '-' ? -1 : 1, isPercentile: false };
}

/** The columns of nights that hold an outcome, and the score that it is compared with. */
export function columnsOf({ column, score }: Pick<Outcome, 'column' | 'score'>) {
  return { outcome: `outcome ${column}`, score: `score ${score}` };
}

/** The expected sign of an outcome's correlation with a rival of which more is better for people. */
export function betterSign({ score, sign }: Outcome): 1 | -1 {
  return score === 'stress' ? (-sign as 1 | -1) : sign;
}

/**
 * A value recorded with a night, as JSON, as a number: true and High are 1, false and Low are 0. Undefined if absent,
 * NaN for anything else.
 */
export function valueOf(json: string | undefined): number | undefined {
  if (json === undefined || json === 'null' || json === '""') return undefined;
  // A CSV has words as texts, and programs write them in other cases.
  const word = WORDS.get(json.replaceAll('"', '').toLowerCase());
  if (word !== undefined) return word;
  const value = json.startsWith('"') || json.startsWith('[') ? NaN : Number(json);
  return Number.isFinite(value) ? value : NaN;
}

const WORDS: ReadonlyMap<string, number> = new Map([
  ['true', 1],
  ['false', 0],
  ['high', 1],
  ['low', 0],
]);
