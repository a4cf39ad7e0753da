import type { Recent } from './measurements.js';
import { BASES, LEVELS, SYMPTOMS, type Level, type Measure, type Sign } from './symptoms.js';

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

/** What is wrong now, if anything. */
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
  if ('holds' in sign) return sign.holds(recent) ? sign.level : undefined;
  const value = sign.value(recent);
  return LEVELS.find((level) => {
    const threshold = thresholdOf(sign, level, recent);
    return threshold !== undefined && value >= threshold;
  });
}

function evidenceOf(sign: Sign, level: Level, recent: Recent): Evidence {
  const { what } = sign;
  if ('holds' in sign) return { what, value: sign.detail?.(recent) ?? '', limit: '' };
  const threshold = sign.words(thresholdOf(sign, level, recent) ?? NaN);
  return { what, value: sign.words(sign.value(recent)), limit: `${level} from ${threshold}` };
}

/** The value from which a sign has a level; undefined if it never has it. */
function thresholdOf(sign: Measure, level: Level, recent: Recent): number | undefined {
  const threshold = sign[level];
  return threshold === undefined || sign.of === undefined ? threshold : threshold * recent[sign.of];
}

/** A sign in words, for a table: `event loop busy: amber from 75 %, red from 50 % of ACUITY_DEADLINE_MS`. */
export function signWords(sign: Sign): string {
  if ('holds' in sign) return `${sign.what}: ${sign.level}`;
  const parts = LEVELS.toReversed().flatMap((level) => {
    const threshold = sign[level];
    if (threshold === undefined) return [];
    const share = `${Math.round(threshold * 100)} % of ${sign.of && BASES[sign.of]}`;
    return [`${level} from ${sign.of === undefined ? sign.words(threshold) : share}`];
  });
  return `${sign.what}: ${parts.join(', ')}`;
}
