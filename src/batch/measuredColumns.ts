import { MEASURED_FIELDS, type MeasuredField } from '#rules/fields.js';
import { nearestName } from '#rules/nearest.js';
import type { NameReading } from './columnNames.js';

/** A column with measurements for the night of its row. */
export interface MeasuredColumn {
  readonly score: MeasuredField;
  /** As written in the input. */
  readonly name: string;
  /** The column of its reliability, if any. */
  readonly reliability: string | undefined;
}

const PREFIX = 'measured_';
const RELIABILITY = '_reliability';
const LETTERS_WRONG = 3;
const NAMES: readonly string[] = MEASURED_FIELDS.flatMap((field) => [
  PREFIX + field,
  PREFIX + field + RELIABILITY,
]);

/** The measured columns among `names`. */
export function measuredColumns(names: readonly string[], reading: NameReading): MeasuredColumn[] {
  const find = (known: string): string | undefined =>
    names.find((name) => (reading === 'any-case' ? name.toLowerCase() : name) === known);
  return MEASURED_FIELDS.flatMap((score) => {
    const name = find(PREFIX + score);
    return name === undefined ? [] : [{ score, name, reliability: find(PREFIX + score + RELIABILITY) }];
  });
}

/** The known name that differs from `name` only in case; undefined if none does. */
export function measuredInOtherCase(name: string): string | undefined {
  return NAMES.find((known) => known !== name && known === name.toLowerCase());
}

/** The remark on an unknown name with a known prefix; undefined for any other name. */
export function measuredSlip(name: string): string | undefined {
  const small = name.toLowerCase();
  if (!small.startsWith(PREFIX) || NAMES.includes(small)) return undefined;
  const near = nearestName(small, NAMES, LETTERS_WRONG);
  const meant = near === undefined ? `such columns are ${NAMES.join(', ')}` : `did you mean ${near}?`;
  return `the column ${name} is not known, and ignored: ${meant}`;
}
