import {
  FIELDS_OF_A_SESSION,
  LABEL_FIELDS,
  SCORE_FIELDS,
  SERIES_ALIASES,
  type ObjectKind,
} from '#rules/fields.js';
import { nearestName } from '#rules/nearest.js';
import { LETTERS_PER_EDIT, meantField, nameInAnyCase } from '#rules/slips.js';
import { fieldOf } from './columnNames.js';
import { NamesError } from './errors.js';
import { measuredColumns, measuredSlip } from './measuredColumns.js';
import type { Partition } from './partitions.js';
import { UNMEASURED_NAMES } from './unmeasured.js';
import { USUAL_KEPT, type HistoryColumns, type RowColumns, type WantedColumns } from './rowColumns.js';

/** The names in an input, read from its beginning. */
export interface InputNames {
  /** What the names belong to, for messages. */
  readonly thing: 'column' | 'field';
  /** The names in objects of each kind. The columns of a table count as names of a session, with repetitions. */
  readonly kinds: Readonly<Record<ObjectKind, readonly string[]>>;
  /** The names that can be copied to the output. */
  readonly beside: readonly string[];
  /** Why a column can't be used as requested; undefined if it can. */
  readonly unfit?: (name: string, as: keyof HistoryColumns) => string | undefined;
  /** @throws NamesError if a column's type can't be what its name says */
  readonly misfit?: () => void;
}

/** How an input is read, with the remarks to make first. */
export interface NamesReport {
  readonly columns: RowColumns;
  /** Which session fields were found and which not; undefined if no row says so. */
  readonly found: string | undefined;
  /** Whether rows may have measurements of their own, or histories with some. */
  readonly hasMeasurements: boolean;
  readonly warnings: readonly string[];
}

/** Columns that the output adds itself, in any format, or in its bad rows. */
const OWN_NAMES: ReadonlySet<string> = new Set([
  'row',
  ...SCORE_FIELDS,
  ...LABEL_FIELDS,
  'inference_time_ms',
  'model',
  'model_version',
  ...UNMEASURED_NAMES,
  'explanation',
  'error',
  'file',
  'status',
  'detail',
]);
const NESTED = ['past_sessions', 'past_targets', 'past_target', 'current_session'];
const KINDS = ['request', 'session', 'target', 'measurement'] as const;

/**
 * Decides by name what each column of an input is used for. `mayVary`: both it and its output are NDJSON, where rows
 * may have different fields. `own` is undefined if no row has names; `ofPath` are columns from the path.
 * @throws NamesError
 */
export function readNames(
  own: InputNames | undefined,
  wanted: WantedColumns,
  mayVary: boolean,
  ofPath: readonly Partition[] = [],
): NamesReport {
  const { keep, history } = wanted;
  const partitions = ofPath.filter(({ name }) => own?.beside.includes(name) !== true);
  const usual = USUAL_KEPT.filter((name) => mayVary || own?.beside.includes(name) !== false);
  const through = [...(keep ?? usual), ...(history === undefined ? [] : [history.person, history.order])];
  // The output path contains these columns: readers of a folder tree reject files that contain them too.
  const isOfPath = (name: string): boolean => ofPath.some((partition) => partition.name === name);
  const kept = through.filter((name) => !isOfPath(name) || keep?.includes(name) === true);
  const all = own?.thing === 'column' ? withPartitions(own, partitions).kinds.session : [];
  const measured = measuredColumns(all);
  const columns = { keep: [...new Set(kept)], history, partitions, measured };
  if (wanted.isRead !== true) checkOwn(columns.keep);
  if (own === undefined) return { columns, found: undefined, hasMeasurements: false, warnings: [] };
  const names = withPartitions(own, partitions);
  checkNested(names);
  checkSpaces(names);
  checkMeasured(columns);
  const slips = slipsOf(names, columns);
  checkSession(names, slips);
  for (const name of through) if (keep !== undefined || !isUsual(name)) checkThere(name, names);
  checkTwice(names, columns);
  checkTypes(names, history);
  names.misfit?.();
  const warnings = [...slips, ...clashes(own, ofPath)];
  return { columns, found: foundLine(names), hasMeasurements: ofRequests(names, history), warnings };
}

/**
 * With a history for each person any row of NDJSON may bring measurements; else only a row with a history of its own.
 */
function ofRequests({ thing, kinds }: InputNames, history: HistoryColumns | undefined): boolean {
  return thing === 'field' && (history !== undefined || kinds.request.includes('history'));
}

/** Session fields in the path become columns, but not for NDJSON, where each line has its own session. */
function withPartitions(own: InputNames, partitions: readonly Partition[]): InputNames {
  const added = partitions.map(({ name }) => name);
  const session = own.thing === 'column' ? [...own.kinds.session, ...added] : own.kinds.session;
  return { ...own, kinds: { ...own.kinds, session }, beside: [...own.beside, ...added] };
}

function clashes({ thing, beside }: InputNames, ofPath: readonly Partition[]): string[] {
  const twice = ofPath.filter(({ name }) => beside.includes(name));
  return twice.map(({ name }) => `the ${thing} ${name} of the file counts, not the folder of that name`);
}

function isUsual(name: string): boolean {
  return USUAL_KEPT.some((usual) => usual === name);
}

function checkOwn(keep: readonly string[]): void {
  const own = keep.find((name) => OWN_NAMES.has(name));
  if (own !== undefined)
    throw new NamesError(
      `${own} can't be kept: the output has a column of that name, so give yours another one`,
    );
}

function checkNested({ thing, kinds }: InputNames): void {
  if (thing === 'field') return;
  const nested = kinds.session.find((name) => NESTED.includes(name.toLowerCase()));
  if (nested !== undefined)
    throw new NamesError(
      `the column ${nested}: a row of a table is one session, a column for each field; --person gives it its past`,
    );
}

/** A name with a space around it would be ignored, and the rest of the row scored as if it were complete. */
function checkSpaces({ thing, kinds }: InputNames): void {
  for (const kind of KINDS) {
    const spaced = kinds[kind].find(
      (name) => name !== name.trim() && nameInAnyCase(name.trim(), kind) !== undefined,
    );
    if (spaced !== undefined)
      throw new NamesError(`the ${thing} ${JSON.stringify(spaced)} has space around its name: rename it`);
  }
}

/** Measurements are kept in a person's history: without one they would be ignored. */
function checkMeasured({ measured, history }: Pick<RowColumns, 'measured' | 'history'>): void {
  const [first] = measured ?? [];
  if (first !== undefined && history === undefined)
    throw new NamesError(
      `the column ${first.name}: measurements are kept in the history of a person, so they need --person and --order`,
    );
}

/** Remarks on unknown names that differ by a few letters from a missing one. */
function slipsOf({ thing, kinds }: InputNames, { keep }: RowColumns): string[] {
  return KINDS.flatMap((kind) => {
    const there = new Set(kinds[kind].map((name) => nameInAnyCase(name, kind) ?? name));
    return [...there].flatMap((name) => {
      const slip = thing === 'column' && !keep.includes(name) ? measuredSlip(name) : undefined;
      if (slip !== undefined) return [slip];
      const meant = keep.includes(name) ? undefined : meantField(name, kind);
      if (meant === undefined || there.has(meant)) return [];
      return [`the ${thing} ${name} is not known, and ignored: did you mean ${meant}?`];
    });
  });
}

function checkSession({ thing, kinds }: InputNames, slips: readonly string[]): void {
  if (kinds.session.some((name) => fieldOf(name) !== undefined)) return;
  const where =
    thing === 'column'
      ? 'no column is named as a field of a session'
      : 'no field of a session is in the first rows: they stand within current_session';
  throw new NamesError([`${where} (HR_night, sleepTimeSeconds, age …)`, ...slips].join('; '));
}

function checkThere(name: string, { thing, beside }: InputNames): void {
  if (beside.includes(name)) return;
  const small = beside.find((other) => other.toLowerCase() === name.toLowerCase());
  const near = small ?? nearestName(name, beside, Math.floor(name.length / LETTERS_PER_EDIT));
  const hint = near === undefined ? '' : `: did you mean ${JSON.stringify(near)}?`;
  const place = thing === 'column' ? '' : ' beside the session in the first rows';
  throw new NamesError(`there is no ${thing} ${JSON.stringify(name)}${place}${hint}`);
}

/** One would be mistaken for the other. */
function checkTwice({ thing, kinds }: InputNames, { keep }: RowColumns): void {
  if (thing === 'field') return;
  const seen = new Set<string>();
  for (const name of kinds.session) {
    const field = fieldOf(name);
    const key = field ?? name;
    if (seen.has(key) && (field !== undefined || keep.includes(name)))
      throw new NamesError(`two columns are named ${JSON.stringify(key)}: rename one, or leave it out`);
    seen.add(key);
  }
}

function checkTypes({ unfit }: InputNames, history: HistoryColumns | undefined): void {
  if (unfit === undefined || history === undefined) return;
  for (const as of ['person', 'order'] as const) {
    const problem = unfit(history[as], as);
    if (problem !== undefined) throw new NamesError(problem);
  }
}

const ALIASES = new Map<string, string>(
  Object.entries(SERIES_ALIASES).map(([field, alias]) => [alias, field]),
);

function foundLine({ thing, kinds }: InputNames): string {
  const there = new Set(
    kinds.session.flatMap((name) => {
      const field = fieldOf(name);
      return field === undefined ? [] : [ALIASES.get(field) ?? field];
    }),
  );
  const found = FIELDS_OF_A_SESSION.filter((field) => there.has(field));
  const missing = FIELDS_OF_A_SESSION.filter((field) => !there.has(field));
  const measured = thing === 'column' ? measuredColumns(kinds.session) : [];
  const also = measured.length === 0 ? '' : `; measured ${measured.map(({ score }) => score).join(', ')}`;
  if (missing.length === 0) return `all ${found.length} fields of a session found${also}`;
  return `found ${found.join(', ')}; not found ${missing.join(', ')}${also}`;
}
