import { SERIES_ALIASES, SERIES_FIELDS, SESSION_SCALARS, type SeriesField } from '#rules/fields.js';
import { namesBeside, type RowColumns } from './bodyPages.js';

/** What the columns of a table or of CSV may be named. */

export const SERIES_NAMES: ReadonlyMap<string, SeriesField> = new Map([
  ...SERIES_FIELDS.map((field) => [field as string, field] as const),
  [SERIES_ALIASES.HR_night, 'HR_night'],
  [SERIES_ALIASES.RR_night, 'RR_night'],
]);
export const SCALAR_NAMES = new Map(SESSION_SCALARS.map((field) => [field as string, field]));

const NESTED = ['past_sessions', 'past_targets', 'past_target', 'current_session'];

/** Whether a column of this name is a field of a session. */
export function isKnown(name: string): boolean {
  return SERIES_NAMES.has(name) || SCALAR_NAMES.has(name);
}

/** What is wrong with columns of these names, for people; undefined where they can be scored. */
export function columnsProblem(names: readonly string[], columns: RowColumns): string | undefined {
  const nested = NESTED.find((name) => names.includes(name));
  if (nested !== undefined)
    return `the column ${nested}: a row of a table is one session, a column for each field; --person gives it its past`;
  if (!names.some(isKnown)) return 'no column is named as a field of a session';
  const { history } = columns;
  const missing = history && [history.person, history.order].find((name) => !names.includes(name));
  if (missing !== undefined) return `there is no column ${JSON.stringify(missing)}`;
  // One would be taken for the other.
  const beside = new Set(namesBeside(columns));
  const twice = names.find((name, at) => names.indexOf(name) < at && (isKnown(name) || beside.has(name)));
  return twice === undefined ? undefined : `two columns are named ${JSON.stringify(twice)}`;
}
