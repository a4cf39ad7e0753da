import type { Recent } from './measurements.js';
import type { NumberFormat } from './format.js';

/** Amber: look at it before callers feel it. Red: callers feel it, or are about to. */
export type Level = 'amber' | 'red';

/** Settings that a threshold may be a share of. */
export const BASES = {
  deadlineMs: 'ACUITY_DEADLINE_MS',
  queueMax: 'ACUITY_QUEUE_MAX',
  bodiesMaxBytes: 'ACUITY_BODIES_MAX_BYTES',
} as const;
export type Basis = keyof typeof BASES;

/** A number that counts as a sign from a threshold on. */
export interface Measure {
  /** What the number measures, for instance `event loop busy`. */
  readonly what: string;
  value(recent: Recent): number;
  readonly words: NumberFormat;
  /** The thresholds; shares of the setting `of` if that is given. */
  readonly amber?: number;
  readonly red?: number;
  readonly of?: Basis;
}

/** A sign that either holds or does not. */
export interface State {
  readonly what: string;
  holds(recent: Recent): boolean;
  readonly level: Level;
  /** More about it, for the page; not a number. */
  detail?(recent: Recent): string | undefined;
}

export type Sign = Measure | State;

/**
 * What an operator sees, where it shows, and what to do: for the dashboard and for
 * `docs/operations/symptoms.md`.
 */
interface SymptomHelp {
  readonly id: string;
  readonly title: string;
  /** Names of the metrics that show it, the most telling first. */
  readonly metrics: readonly string[];
  /** What to look at and what to change, in order. */
  readonly remedy: string;
}

/** A symptom that its signs show. */
export interface JudgedSymptom extends SymptomHelp {
  readonly signs: readonly Sign[];
  /** What is wrong now, with its numbers, in one sentence; called only when a sign shows. */
  sentence(recent: Recent, level: Level): string;
  /** Ids of the symptoms that explain this one if they show too. */
  followsFrom?(recent: Recent): readonly string[];
}

/** Symptoms without signs need a longer observation. */
export type Symptom = JudgedSymptom | (SymptomHelp & { readonly signs: readonly [] });

/** The value from which a sign has a level; undefined if it never has it. */
export function thresholdOf(sign: Measure, level: Level, recent: Recent): number | undefined {
  const threshold = sign[level];
  return threshold === undefined || sign.of === undefined ? threshold : threshold * recent[sign.of];
}

/** The same in words, for every `Recent`: `75 %`, `half of ACUITY_DEADLINE_MS`. */
export function thresholdWords(sign: Measure, level: Level): string | undefined {
  const threshold = sign[level];
  if (threshold === undefined) return undefined;
  return sign.of === undefined
    ? sign.words(threshold)
    : `${Math.round(threshold * 100)} % of ${BASES[sign.of]}`;
}

/** A sign in words, for a table: `event loop busy: amber from 75 %, red from 90 %`. */
export function signWords(sign: Sign): string {
  if ('holds' in sign) return `${sign.what}: ${sign.level}`;
  const parts = (['amber', 'red'] as const).flatMap((level) => {
    const words = thresholdWords(sign, level);
    return words === undefined ? [] : [`${level} from ${words}`];
  });
  return `${sign.what}: ${parts.join(', ')}`;
}
