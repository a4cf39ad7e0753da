import { SERIES_ALIASES, SERIES_FIELDS, SESSION_SCALARS, type SeriesField } from '#rules/fields.js';
import { nameInAnyCase } from '#rules/slips.js';

/** The accepted column names of tables and CSV. */

export const SERIES_NAMES: ReadonlyMap<string, SeriesField> = new Map([
  ...SERIES_FIELDS.map((field) => [field as string, field] as const),
  [SERIES_ALIASES.HR_night, 'HR_night'],
  [SERIES_ALIASES.RR_night, 'RR_night'],
]);
export const SCALAR_NAMES = new Map(SESSION_SCALARS.map((field) => [field as string, field]));

/** Whether names must match in case: Hive and unquoted SQL write all names in lower case. */
export type NameReading = 'exact' | 'any-case';

/** The contract's name for a column; undefined if it is not a session field. */
export function fieldOf(column: string, names: NameReading): string | undefined {
  const field = nameInAnyCase(column, 'session');
  return names === 'any-case' || field === column ? field : undefined;
}
