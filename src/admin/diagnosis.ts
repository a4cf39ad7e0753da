/** The diagnosis of the last seconds: which symptoms show, and by which signs. */
import { VARIABLES } from '../config/variables.js';
import type { Recent } from './measurements.js';
import { LEVELS, SYMPTOMS, type Level, type Sign } from './symptoms.js';

/** A sign that shows: the measurement, and the value from which it counts. */
interface Evidence {
  readonly what: string;
  /** The measured value in words; '' if there is none. */
  readonly value: string;
  /** For instance `red from 90 %`; '' if there is none. */
  readonly limit: string;
}

interface ActiveSymptom {
  readonly id: string;
  readonly level: Level;
  readonly evidence: readonly Evidence[];
}

/** The present state in one sentence, with its symptoms. */
export interface Diagnosis {
  readonly level: Level | 'calm';
  /** The one thing to know first. */
  readonly sentence: string;
  /** The worst first; of those alike, causes before what follows from them. */
  readonly symptoms: readonly ActiveSymptom[];
}

/** Judges the last seconds. */
export function diagnose(recent: Recent): Diagnosis {
  const shown = SYMPTOMS.flatMap(({ id, title, signs }) => {
    const found = signs.flatMap((sign) => {
      const level = levelOf(sign, recent);
      return level === undefined ? [] : [{ level, evidence: evidenceOf(sign, level, recent) }];
    });
    const level = LEVELS.find((one) => found.some((sign) => sign.level === one));
    return level === undefined ? [] : [{ id, title, level, evidence: found.map((sign) => sign.evidence) }];
  }).toSorted((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level));
  const [first] = shown;
  if (first === undefined) {
    const isNew = recent.points.length === 0;
    const sentence = isNew ? 'Nothing is known yet: the first second is being counted.' : 'All is well.';
    return { level: 'calm', sentence, symptoms: [] };
  }
  const symptoms = shown.map(({ id, level, evidence }) => ({ id, level, evidence }));
  return { level: first.level, sentence: `${first.title}.`, symptoms };
}

function levelOf(sign: Sign, recent: Recent): Level | undefined {
  const value = Number(sign.value(recent));
  return LEVELS.find((level) => value >= thresholdOf(sign, level, recent));
}

function evidenceOf(sign: Sign, level: Level, recent: Recent): Evidence {
  const { what, words } = sign;
  if (words === undefined) return { what, value: sign.detail?.(recent) ?? '', limit: '' };
  const limit = `${level} from ${words(thresholdOf(sign, level, recent))}`;
  return { what, value: words(Number(sign.value(recent))), limit };
}

/** The value from which a sign has a level; NaN if it never has it. */
function thresholdOf(sign: Sign, level: Level, recent: Recent): number {
  return (sign[level] ?? NaN) * (sign.of === undefined ? 1 : recent[sign.of]);
}

/** A sign in words, for a table: `event loop busy: amber from 75 %, red from 50 % of ACUITY_DEADLINE_MS`. */
export function signWords(sign: Sign): string {
  const { what, words, of } = sign;
  const parts = LEVELS.toReversed().flatMap((level) => {
    const threshold = sign[level];
    if (threshold === undefined) return [];
    if (words === undefined) return [level];
    return [
      `${level} from ${of === undefined ? words(threshold) : `${100 * threshold} % of ${VARIABLES[of].env}`}`,
    ];
  });
  return `${what}: ${parts.join(', ')}`;
}
