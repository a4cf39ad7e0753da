import { SERIES_ALIASES, SERIES_FIELDS, SESSION_SCALARS, type SeriesField } from '#rules/fields.js';
import { nameInAnyCase } from '#rules/slips.js';

/** What the columns of a table or of CSV may be named. */

export const SERIES_NAMES: ReadonlyMap<string, SeriesField> = new Map([
  ...SERIES_FIELDS.map((field) => [field as string, field] as const),
  [SERIES_ALIASES.HR_night, 'HR_night'],
  [SERIES_ALIASES.RR_night, 'RR_night'],
]);
export const SCALAR_NAMES = new Map(SESSION_SCALARS.map((field) => [field as string, field]));

/** Whether a name counts in the case of its letters only, or in any: Hive and unquoted SQL write all of them small. */
export type NameReading = 'exact' | 'any-case';

/** The name of the contract that a column of this name is; undefined for a column that is no field of a session. */
export function fieldOf(column: string, names: NameReading): string | undefined {
  const field = nameInAnyCase(column, 'session');
  return names === 'any-case' || field === column ? field : undefined;
}
