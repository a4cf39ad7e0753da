import { FIELD_NAMES, type ObjectKind } from './fields.js';
import { nearestName } from './nearest.js';

/** Names of fields with a typing error in them. */

/** Every known name is shorter; a longer one is no typing error. */
export const NAME_LENGTH_MAX = 32;
/** One edit is allowed for this many letters. */
export const LETTERS_PER_EDIT = 3;

/**
 * The field that an unknown name most likely means: the names differ in case, in underscores and hyphens, or
 * by a few letters. Undefined for a known name, or if no name is near.
 */
export function meantField(name: string, kind: ObjectKind): string | undefined {
  const known: readonly string[] = FIELD_NAMES[kind];
  if (known.includes(name) || name.length > NAME_LENGTH_MAX) return undefined;
  const folded = fold(name);
  const edits = Math.floor(folded.length / LETTERS_PER_EDIT);
  const nearest = nearestName(folded, known.map(fold), edits);
  return known.find((field) => fold(field) === nearest);
}

/** The known name that equals `name`, in any case of its letters; undefined if there is none. */
export function nameInAnyCase(name: string, kind: ObjectKind): string | undefined {
  const known: readonly string[] = FIELD_NAMES[kind];
  const letters = name.toLowerCase();
  return known.find((field) => field.toLowerCase() === letters);
}

function fold(name: string): string {
  return name.replaceAll(/[-_ ]/g, '').toLowerCase();
}
