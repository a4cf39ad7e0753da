import { SERIES_ALIASES, SERIES_FIELDS, SESSION_SCALARS, type SeriesField } from '#rules/fields.js';
import { nameInAnyCase } from '#rules/slips.js';

/** The accepted column names of tables and CSV, in any case: Hive and unquoted SQL write them in lower case. */

export const SERIES_NAMES: ReadonlyMap<string, SeriesField> = new Map([
  ...SERIES_FIELDS.map((field) => [field as string, field] as const),
  [SERIES_ALIASES.HR_night, 'HR_night'],
  [SERIES_ALIASES.RR_night, 'RR_night'],
]);
export const SCALAR_NAMES = new Map(SESSION_SCALARS.map((field) => [field as string, field]));

/** The contract's name for a column; undefined if it is not a session field. */
export function fieldOf(column: string): string | undefined {
  return nameInAnyCase(column, 'session');
}
