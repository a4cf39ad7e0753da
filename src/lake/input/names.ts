/** The names of an input: its columns and fields, and the use of each. */
import {
  FIELDS_OF_A_SESSION,
  MEASURED_FIELDS,
  SERIES_ALIASES,
  SERIES_FIELDS,
  type MeasuredField,
  type ObjectKind,
  type SeriesField,
} from '#rules/fields.js';
import { parsedJson } from '../../base/json.js';
import { nearestName } from '#rules/nearest.js';
import { LETTERS_PER_EDIT, meantField, nameInAnyCase } from '#rules/slips.js';
import { UNPROCESSABLE, type Finding } from '../../contract/problems.js';
import { measurementFindings } from '../../read/measurementReader.js';
import type { GivenMeasurement } from '../../night/request.js';
import { NamesError, type RowProblem } from '../errors.js';

/** The columns or fields with a row's person and time. */
export interface HistoryColumns {
  readonly person: string;
  readonly order: string;
}

/** The uses of columns beside the session that not every type fits. */
export type ColumnUse = keyof HistoryColumns | 'measured' | 'outcome';

/** The options that name columns beside the session. */
export interface WantedColumns {
  /** Copied to the output; undefined: those of `USUAL_KEPT` that the input has. */
  readonly keep?: readonly string[] | undefined;
  /** Set if history is used. */
  readonly history?: HistoryColumns | undefined;
  /** The columns of the output: no kept one may have such a name. Without an output the kept ones are outcomes. */
  readonly reserved?: ReadonlySet<string> | undefined;
}

/** The columns needed beside the session. */
export interface RowColumns {
  /** Copied to the output, including a row's person and time unless the path has them. */
  readonly keep: readonly string[];
  readonly history?: HistoryColumns | undefined;
  /** Set if history is used; rows of NDJSON have measurements like requests. */
  readonly measured?: readonly MeasuredColumn[] | undefined;
}

/** The names needed beside the session, kept ones first. */
export function namesBeside({ keep, history, measured = [] }: RowColumns): string[] {
  const ofHistory = history === undefined ? [] : [history.person, history.order];
  const ofMeasured = measured.flatMap(({ name, reliability }) => [name, reliability ?? name]);
  return [...new Set([...keep, ...ofHistory, ...ofMeasured])];
}

const USUAL_KEPT = ['id', 'custom_id'] as const;

/** The contract's name for a column, in any case: Hive and unquoted SQL write lower case; undefined for others. */
export function fieldOf(column: string): string | undefined {
  return nameInAnyCase(column, 'session');
}

/** The contract's name for a column, measured ones too; its own name if it has none. Columns of one name are one. */
export function meaningOf(column: string): string {
  return knownName(column) ?? column;
}

/** The same; undefined for others. */
export function knownName(column: string): string | undefined {
  const small = column.toLowerCase();
  return fieldOf(column) ?? (NAMES.includes(small) ? small : undefined);
}

/**
 * Why a name can't stay that is nearly the contract's: it would be ignored, and the rest of the row scored as if it were
 * complete. Columns may be in any case.
 */
function nearlyKnown(name: string, kind: ObjectKind, thing: InputNames['thing']): string | undefined {
  const field = thing === 'column' ? knownName(name.trim()) : nameInAnyCase(name.trim(), kind);
  if (field === undefined || field === name) return undefined;
  if (name !== name.trim())
    return `the ${thing} ${JSON.stringify(name)} has space around its name: rename it`;
  return thing === 'column'
    ? undefined
    : `${name} is no field of the service and is ignored; did you mean ${field}?`;
}

/** The names in an input, read from its beginning. */
export interface InputNames {
  /** The word for a name's owner in messages. */
  readonly thing: 'column' | 'field';
  /** The names in objects of each kind. The columns of a table count as names of a session, with repetitions. */
  readonly kinds: Readonly<Record<ObjectKind, readonly string[]>>;
  /** The names that can be copied to the output. */
  readonly beside: readonly string[];
  /** The ones among them that the folders of the file say, and whether the rows have them too. */
  readonly ofPath?: ReadonlyMap<string, boolean>;
  /** Why a column can't be used as requested; undefined if it can. */
  readonly unfit?: (name: string, as: ColumnUse) => string | undefined;
  /** Whether a column has times with a zone. */
  readonly hasZone?: (name: string) => boolean;
}

/** How an input is read, with the remarks to make first. */
export interface NamesReport {
  readonly columns: RowColumns;
  /** Which session fields were found and which not; undefined if no row says so. */
  readonly found: string | undefined;
  /** The names of the input by the session field that they are read as. */
  readonly header?: ReadonlyMap<string, string>;
  /** Whether rows may have measurements of their own, or histories with some. */
  readonly hasMeasurements: boolean;
  readonly warnings: readonly string[];
}

const NESTED = ['past_sessions', 'past_targets', 'past_target', 'current_session'];
/** Fields of requests that tables have in another way. */
const NOT_OF_TABLES = new Map([
  ['history', '--person and --order give each row its past'],
  ['measurements', 'columns such as measured_attention are read'],
]);
const KINDS = ['request', 'session', 'target', 'measurement'] as const;

/**
 * Decides by name what each column of an input is used for. `mayVary`: both it and its output are NDJSON, where rows
 * may have different fields. `names` is undefined if no row has any.
 * @throws NamesError
 */
export function readNames(
  names: InputNames | undefined,
  { keep, history, reserved }: WantedColumns,
  mayVary: boolean,
): NamesReport {
  const usual = USUAL_KEPT.filter((name) => mayVary || names?.beside.includes(name) !== false);
  const through = namesBeside({ keep: keep ?? usual, history });
  // The output path contains these columns: readers of a folder tree reject files that contain them too.
  const kept = through.filter((name) => names?.ofPath?.has(name) !== true || keep?.includes(name) === true);
  const measured = measuredColumns(names?.thing === 'column' ? names.kinds.session : []);
  const columns = { keep: kept, history, measured };
  // Readers of tables, the engine too, take two names that differ by case for one.
  const folded = (name: string): string => (mayVary ? name : name.toLowerCase());
  const taken = new Set([...(reserved ?? [])].map(folded));
  for (const name of columns.keep) {
    if (reserved !== undefined && taken.has(folded(name)))
      throw new NamesError(
        `${name} can't be kept: the output has a column of that name, so give yours another one`,
      );
    taken.add(folded(name));
  }
  if (names === undefined) return { columns, found: undefined, hasMeasurements: false, warnings: [] };
  const slips = slipsOf(names, columns);
  const asked = namesBeside({ keep: keep ?? [], history });
  const outcomes = reserved === undefined ? (keep ?? []) : [];
  const [problem] = problemsOf(names, columns, { asked, slips, outcomes });
  if (problem !== undefined) throw new NamesError(problem);
  const clashes = [...(names.ofPath ?? [])].filter(([, isTwice]) => isTwice);
  const warnings = clashes.map(
    ([name]) =>
      `the ${names.thing} ${name} of the file counts, not the folder of that name${kept.includes(name) || !through.includes(name) ? '' : `, which the output keeps: --keep ${name} writes it too`}`,
  );
  // With a history for each person any row of NDJSON may bring some; else only a row with a history of its own.
  const isOfRequests =
    names.thing === 'field' && (history !== undefined || names.kinds.request.includes('history'));
  return {
    columns,
    found: foundLine(names, measured),
    header: new Map(names.kinds.session.map((name) => [fieldOf(name) ?? name, name])),
    hasMeasurements: isOfRequests || measured.length > 0,
    warnings: [...slips, ...warnings],
  };
}

/** Reasons that prevent scoring, the first one first. */
function* problemsOf(
  names: InputNames,
  { keep, history, measured = [] }: RowColumns,
  { asked, slips, outcomes }: Readonly<Record<'asked' | 'slips' | 'outcomes', readonly string[]>>,
): Generator<string, void, undefined> {
  const { thing, kinds, beside, ofPath = new Map(), unfit } = names;
  const isTable = thing === 'column';
  const nested = kinds.session.find((name) => NESTED.includes(name.toLowerCase()));
  if (isTable && nested !== undefined)
    yield `the column ${nested}: a row of a table is one session, a column for each field; --person gives it its past`;
  yield* nearlyKnownIn(names, isTable ? [] : keep);
  if (history === undefined)
    for (const { name } of measured)
      yield `the column ${name}: measurements are kept in the history of a person, so they need --person and --order`;
  const where = isTable
    ? 'no column is named as a field of a session'
    : 'no field of a session is in the first rows: they stand within current_session';
  if (!kinds.session.some((name) => fieldOf(name) !== undefined))
    yield [`${where} (HR_night, sleepTimeSeconds, age …)`, ...slips].join('; ');
  for (const name of asked) {
    if (beside.includes(name)) continue;
    const small = beside.find((other) => other.toLowerCase() === name.toLowerCase());
    const near = small ?? nearestName(name, beside, Math.floor(name.length / LETTERS_PER_EDIT));
    const hint = near === undefined ? '' : `: did you mean ${JSON.stringify(near)}?`;
    const place = isTable ? '' : ' beside the session in the first rows';
    const later = isTable || near !== undefined ? '' : ': if later rows have it, write null in the first one';
    yield `there is no ${thing} ${JSON.stringify(name)}${place}${hint}${later}`;
  }
  // One would be mistaken for the other.
  const seen = new Set<string>();
  for (const name of isTable ? kinds.session : []) {
    const key = meaningOf(name);
    if (seen.has(key) && (knownName(name) !== undefined || keep.includes(name)))
      yield `two columns are named ${JSON.stringify(key)}: rename one, or leave it out`;
    seen.add(key);
  }
  const uses = [
    ...(history === undefined ? [] : (['person', 'order'] as const).map((as) => [history[as], as] as const)),
    ...namesBeside({ keep: [], measured }).map((name) => [name, 'measured'] as const),
    ...outcomes.map((name) => [name, 'outcome'] as const),
  ];
  for (const [name, as] of uses) {
    const problem = unfit?.(name, as);
    if (problem !== undefined) yield problem;
  }
  for (const [name, isTwice] of isTable ? [] : ofPath)
    if (knownName(name) !== undefined && !isTwice)
      yield `the folder ${name}=… is a field of the session, which rows of NDJSON have within them: write it there, or make Parquet of them`;
}

/** Why names can't stay that are nearly the contract's; `asked` ones are the caller's own. */
export function* nearlyKnownIn({ thing, kinds }: InputNames, asked: readonly string[]): Generator<string> {
  for (const kind of KINDS)
    for (const name of kinds[kind]) {
      const slip = asked.includes(name) ? undefined : nearlyKnown(name, kind, thing);
      if (slip !== undefined) yield slip;
    }
}

/** Remarks on unknown names that differ by a few letters from a missing one, or begin as columns of measurements do. */
export function slipsOf({ thing, kinds }: InputNames, { keep, measured }: RowColumns): string[] {
  const used = namesBeside({ keep, measured });
  return KINDS.flatMap((kind) => {
    const there = new Set(kinds[kind].map((name) => nameInAnyCase(name, kind) ?? name));
    return [...there].flatMap((name) => {
      const small = name.toLowerCase();
      const isMeasured = thing === 'column' && small.startsWith(PREFIX);
      if (used.includes(name)) return [];
      if (isMeasured && NAMES.includes(small))
        return [`the column ${name} is ignored: no column has its measurement`];
      const instead = thing === 'column' ? NOT_OF_TABLES.get(small) : undefined;
      if (instead !== undefined) return [`the column ${name} is ignored: ${instead}`];
      const meant = isMeasured ? nearestName(small, NAMES, LETTERS_WRONG) : meantField(name, kind);
      if (meant === undefined ? !isMeasured : there.has(meant)) return [];
      const hint = meant === undefined ? `such columns are ${NAMES.join(', ')}` : `did you mean ${meant}?`;
      return [`the ${thing} ${name} is not known, and ignored: ${hint}`];
    });
  });
}

/** The series by each of their names. */
export const SERIES_NAMES: ReadonlyMap<string, SeriesField> = new Map([
  ...SERIES_FIELDS.map((field) => [field as string, field] as const),
  [SERIES_ALIASES.HR_night, 'HR_night'],
  [SERIES_ALIASES.RR_night, 'RR_night'],
]);

function foundLine({ kinds }: InputNames, measured: readonly MeasuredColumn[]): string {
  const fields = kinds.session.flatMap((name) => fieldOf(name) ?? []);
  const there = new Set(fields.map((field) => SERIES_NAMES.get(field) ?? field));
  const found = FIELDS_OF_A_SESSION.filter((field) => there.has(field));
  const missing = FIELDS_OF_A_SESSION.filter((field) => !there.has(field));
  const also = measured.length === 0 ? '' : `; measured ${measured.map(({ score }) => score).join(', ')}`;
  if (missing.length === 0) return `all ${found.length} fields of a session found${also}`;
  return `found ${found.join(', ')}; not found ${missing.join(', ')}${also}`;
}

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
function measuredColumns(names: readonly string[]): MeasuredColumn[] {
  const find = (known: string): string | undefined => names.find((name) => name.toLowerCase() === known);
  return MEASURED_FIELDS.flatMap((score) => {
    const name = find(PREFIX + score);
    return name === undefined ? [] : [{ score, name, reliability: find(PREFIX + score + RELIABILITY) }];
  });
}

/**
 * The measurements in a row's cells, for its night. `cell` returns a number, a text that may say one, or null or undefined
 * for none; a reliability without a value is ignored.
 */
export function measuredCells(
  columns: readonly MeasuredColumn[],
  cell: (name: string) => unknown,
): readonly GivenMeasurement[] | RowProblem {
  const given: GivenMeasurement[] = [];
  const findings: Finding[] = [];
  for (const { score, name, reliability: column } of columns) {
    const value = measuredCell(cell(name));
    if (value === undefined) continue;
    const reliability = measuredCell(column === undefined ? undefined : cell(column));
    const frame = { score, value, ...(reliability === undefined ? {} : { reliability }) };
    const wrong = measurementFindings(frame, ['body']);
    for (const [field, { msg, type }] of wrong)
      findings.push({ loc: ['body', field === 'reliability' ? (column ?? name) : name], msg, type });
    if (wrong.size === 0)
      given.push({
        score,
        value: value as GivenMeasurement['value'],
        day: NaN,
        reliability: reliability as number | undefined,
      });
  }
  return findings.length === 0 ? given : { status: UNPROCESSABLE.status, detail: findings };
}

/** Text without surrounding space; a numeric text becomes a number; undefined if there is none. */
function measuredCell(cell: unknown): unknown {
  if (typeof cell === 'bigint') return Number(cell);
  if (typeof cell !== 'string') return cell ?? undefined;
  const inner = cell.trim();
  if (inner === '') return undefined;
  const value = parsedJson(inner);
  return typeof value === 'number' ? value : inner;
}
