import { busiestLoop, JUDGED_POINTS, meanOf, totalOf, workersBusy, type Recent } from './measurements.js';
import { thresholdOf, type JudgedSymptom, type Level, type Sign, type Symptom } from './symptom.js';
import { SYMPTOMS } from './symptoms.js';
import { milliseconds, percent, perSecond } from './format.js';

/** A sign that shows: the measurement, and the value from which it counts. */
export interface Evidence {
  readonly what: string;
  /** The measured value in words; '' if there is none. */
  readonly value: string;
  /** For instance `red from 90 %`; '' if there is none. */
  readonly limit: string;
}

/** A symptom that shows now. */
export interface ActiveSymptom {
  readonly id: string;
  readonly level: Level;
  readonly sentence: string;
  readonly evidence: readonly Evidence[];
}

/**
 * An active symptom that nothing else explains, with the symptoms that follow from it. Its level is the worst
 * of them all.
 */
export interface Cause extends ActiveSymptom {
  readonly effects: readonly ActiveSymptom[];
}

/** What is wrong now, if anything. */
export interface Diagnosis {
  readonly level: Level | 'calm';
  /** The one thing to know first. */
  readonly sentence: string;
  /** The worst first. */
  readonly causes: readonly Cause[];
}

/** Judges the last seconds. Only tests pass `symptoms`. */
export function diagnose(recent: Recent, symptoms: readonly Symptom[] = SYMPTOMS): Diagnosis {
  const shown = symptoms.flatMap((symptom) => {
    if (!('sentence' in symptom)) return [];
    const active = activeOf(symptom, recent);
    return active === undefined ? [] : [{ symptom, active }];
  });
  const rootOf = rootsOf(shown, recent);
  const causes = shown
    .filter(({ active }) => rootOf.get(active.id) === active.id)
    .map(({ active }) => {
      const effects = shown
        .map((one) => one.active)
        .filter(({ id }) => id !== active.id && rootOf.get(id) === active.id);
      return { ...active, level: worst([active, ...effects]), effects };
    })
    .toSorted((a, b) => rank(a.level) - rank(b.level));
  const first = causes[0];
  return first === undefined
    ? { level: 'calm', sentence: calmSentence(recent), causes }
    : { level: first.level, sentence: first.sentence, causes };
}

interface Shown {
  readonly symptom: JudgedSymptom;
  readonly active: ActiveSymptom;
}

/** Maps the id of each active symptom to the id of its root cause: its own if nothing explains it. */
function rootsOf(shown: readonly Shown[], recent: Recent): ReadonlyMap<string, string> {
  const explainedBy = new Map(
    shown.map(({ symptom, active }) => {
      const causes = symptom.followsFrom?.(recent) ?? [];
      return [active.id, causes.find((id) => shown.some((other) => other.active.id === id))];
    }),
  );
  const rootOf = (id: string, seen: readonly string[]): string => {
    const cause = explainedBy.get(id);
    const path = [...seen, id];
    if (cause === undefined) return id;
    // The symptoms explain each other: one of them stands for all.
    return path.includes(cause)
      ? path.slice(path.indexOf(cause)).reduce((a, b) => (a < b ? a : b))
      : rootOf(cause, path);
  };
  return new Map([...explainedBy.keys()].map((id) => [id, rootOf(id, [])]));
}

function activeOf(symptom: JudgedSymptom, recent: Recent): ActiveSymptom | undefined {
  const signs = symptom.signs.flatMap((sign) => {
    const level = levelOf(sign, recent);
    return level === undefined ? [] : [{ level, evidence: evidenceOf(sign, level, recent) }];
  });
  if (signs.length === 0) return undefined;
  const level = worst(signs);
  return {
    id: symptom.id,
    level,
    sentence: symptom.sentence(recent, level),
    evidence: signs.map(({ evidence }) => evidence),
  };
}

function levelOf(sign: Sign, recent: Recent): Level | undefined {
  if ('holds' in sign) return sign.holds(recent) ? sign.level : undefined;
  const value = sign.value(recent);
  return (['red', 'amber'] as const).find((level) => {
    const threshold = thresholdOf(sign, level, recent);
    return threshold !== undefined && value >= threshold;
  });
}

function evidenceOf(sign: Sign, level: Level, recent: Recent): Evidence {
  const { what } = sign;
  if ('holds' in sign) return { what, value: sign.detail?.(recent) ?? '', limit: '' };
  const threshold = thresholdOf(sign, level, recent);
  return {
    what,
    value: sign.words(sign.value(recent)),
    limit: threshold === undefined ? '' : `${level} from ${sign.words(threshold)}`,
  };
}

function worst(all: readonly { readonly level: Level }[]): Level {
  return all.some(({ level }) => level === 'red') ? 'red' : 'amber';
}

function rank(level: Level): number {
  return level === 'red' ? 0 : 1;
}

function calmSentence(recent: Recent): string {
  const { points } = recent;
  if (points.length === 0) return 'Nothing is known yet: the first second is being counted.';
  const served = meanOf(points, (point) => point.served);
  const use = `event loop ${percent(busiestLoop(recent).busy)} busy, workers ${percent(workersBusy(recent))}`;
  if (served > 0) {
    const p99Ms = milliseconds(meanOf(points, (point) => point.p99Ms));
    return `All is well: ${perSecond(served)} scored, p99 ${p99Ms}, ${use}.`;
  }
  const isIdle = totalOf(recent, ({ refused }) => refused) === 0;
  return `All is well: no request ${isIdle ? '' : 'was scored '}in the last ${JUDGED_POINTS} seconds.`;
}
