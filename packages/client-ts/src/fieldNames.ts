import type { PredictionRequestBody, ScoreRecord, Session } from './contract.js';
import { nearestName } from './nearest.js';

/** The names that each kind of object in a request may have; a test holds them against the service's schemas. */
export const FIELD_NAMES = {
  request: ['current_session', 'past_sessions', 'past_targets', 'past_target', 'explain'],
  session: [
    'HR_day_1h',
    'RR_day_1h',
    'HR_night',
    'RR_night',
    'HR_night_imputed',
    'RR_night_imputed',
    'sleepTimeSeconds',
    'deepSleepSeconds',
    'remSleepSeconds',
    'lightSleepSeconds',
    'awakeSleepSeconds',
    'deepPercentage',
    'remPercentage',
    'lightPercentage',
    'age',
    'height_cm',
    'weight_kg',
    'sex',
  ],
  target: ['C_SCORE', 'attention', 'memory', 'reasoning', 'stress', 'valence', 'arousal'],
} as const satisfies {
  readonly request: readonly (keyof PredictionRequestBody)[];
  readonly session: readonly (keyof Session)[];
  readonly target: readonly (keyof ScoreRecord)[];
};

export type ObjectKind = keyof typeof FIELD_NAMES;

/** A field that the service does not know, and would ignore: most likely a known one, mistyped. */
export interface FieldWarning {
  /** Where the object is, as in the findings of a 422: from "body" on. */
  readonly loc: readonly (string | number)[];
  /** The name as it is written. */
  readonly name: string;
  /** The field that is most likely meant. */
  readonly meant: string;
}

/** What in `request` is a slip away from a field that its object lacks. */
export function fieldWarnings(request: PredictionRequestBody): FieldWarning[] {
  const { current_session: current, past_sessions: past } = request;
  return [
    ...warningsOf(request, 'request', ['body']),
    ...warningsOf(current, 'session', ['body', 'current_session']),
    ...warningsOfAll(past, 'session', 'past_sessions'),
    ...warningsOfAll(request.past_targets, 'target', 'past_targets'),
    ...warningsOfAll(request.past_target, 'target', 'past_target'),
  ];
}

function warningsOfAll(objects: unknown, kind: ObjectKind, field: string): FieldWarning[] {
  if (!Array.isArray(objects)) return [];
  return (objects as unknown[]).flatMap((object, index) => warningsOf(object, kind, ['body', field, index]));
}

function warningsOf(object: unknown, kind: ObjectKind, loc: FieldWarning['loc']): FieldWarning[] {
  if (typeof object !== 'object' || object === null) return [];
  const fields = object as Readonly<Record<string, unknown>>;
  return Object.keys(fields).flatMap((name) => {
    const meant = fields[name] === undefined ? undefined : meantField(name, kind);
    // Beside the field itself it is another thing, which merely sounds alike.
    const isSlip = meant !== undefined && (fields[meant] ?? undefined) === undefined;
    return isSlip ? [{ loc, name, meant }] : [];
  });
}

/** Different names that a caller is warned of; more are no slips any longer. */
const WARNED_MAX = 100;

/** Node's own way of warning, once for each name of each kind of object. */
export class ProcessWarnings {
  private readonly told = new Set<string>();

  tell({ loc, name, meant }: FieldWarning): void {
    const place = loc.filter((step) => typeof step === 'string').slice(1);
    const path = [...place, name].join('.');
    if (this.told.has(path) || this.told.size === WARNED_MAX) return;
    this.told.add(path);
    process.emitWarning(`${path} is no field that the service knows: it is ignored. Did you mean ${meant}?`, {
      type: 'AcuityWarning',
      code: 'ACUITY_UNKNOWN_FIELD',
    });
  }
}

/** No known name is as long; a longer one is no slip. */
const NAME_LENGTH_MAX = 32;
/** One edit for every so many letters. */
const LETTERS_PER_EDIT = 3;

/**
 * The field that an unknown name most likely means: it differs in case, in low lines and hyphens, or by a few
 * letters. Undefined where it is a known name, or none comes near.
 */
export function meantField(name: string, kind: ObjectKind): string | undefined {
  const known: readonly string[] = FIELD_NAMES[kind];
  if (known.includes(name) || name.length > NAME_LENGTH_MAX) return undefined;
  const folded = fold(name);
  const edits = Math.floor(folded.length / LETTERS_PER_EDIT);
  const nearest = nearestName(folded, known.map(fold), edits);
  return known.find((field) => fold(field) === nearest);
}

function fold(name: string): string {
  return name.replaceAll(/[-_ ]/g, '').toLowerCase();
}
