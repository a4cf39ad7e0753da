/** The columns of a table: their kinds, what each may be used for, and how its cells are read. */
import { SESSION_SCALARS } from '#rules/fields.js';
import { parsedJson } from '../../base/json.js';
import { UNPROCESSABLE, type BodyProblem } from '../../contract/problems.js';
import type { ReadRows, ScalarColumn, SeriesColumn, SessionColumns } from '../../read/columns.js';
import { NamesError, rowProblem, type RowProblem } from '../errors.js';
import { SERIES_NAMES, fieldOf, type ColumnUse, type InputNames } from './names.js';

/** Kinds of columns, by the name that DuckDB or Arrow gives the type. */
const KINDS = {
  /** Databases export whole numbers as decimals without a fraction. */
  whole: /^(U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|INT(8|16|32|64))|DECIMAL(\(\d+, ?0\)|\[\d+e\+?0\]))$/i,
  float: /^(FLOAT|DOUBLE|FLOAT(16|32|64))$/i,
  decimal: /^DECIMAL/i,
  text: /^(VARCHAR|JSON|ENUM|(LARGE)?UTF8)/i,
  boolean: /^BOOL/i,
  bytes: /^BLOB$/,
  date: /^DATE/i,
  time: /^TIMESTAMP/i,
  uuid: /^UUID$/,
  null: /^(SQL)?NULL$/i,
} as const;
export type Kind = keyof typeof KINDS | 'numbers' | 'other';

const LIST = /^(?:(.*)\[\d*\]|\w*List(?:\[\d+\])?<(.*)>)$/s;
const DICTIONARY = /^Dictionary<\w+, (.*)>$/s;

export function kindOf(type: string): Kind {
  const [, value] = DICTIONARY.exec(type) ?? [];
  if (value !== undefined) return kindOf(value);
  const [isList, ofEngine, ofArrow = ofEngine] = LIST.exec(type) ?? [];
  if (isList !== undefined) return NUMBERS.includes(kindOf(ofArrow ?? '')) ? 'numbers' : 'other';
  const kinds = Object.keys(KINDS) as (keyof typeof KINDS)[];
  return kinds.find((kind) => KINDS[kind].test(type)) ?? 'other';
}

export interface TableColumn {
  /** As written in the input. */
  readonly name: string;
  readonly kind: Kind;
  /** Its name in DuckDB or Arrow. */
  readonly type: string;
  /** Whether it holds cells of CSV: numbers and lists as text, and nothing as an empty one. */
  readonly isCell?: boolean;
  /** Whether its times have a zone, and whether none says whose dates count. */
  readonly hasZone?: boolean;
  readonly needsZone?: boolean;
}

const SCALAR_NAMES = new Map(SESSION_SCALARS.map((field) => [field as string, field]));

const NUMBERS: readonly Kind[] = ['whole', 'float', 'decimal', 'null'];
const NULLS = 'pandas makes floats of whole numbers beside missing ones: astype("Int64")';

/** The kinds that each use takes, and what to do about others. */
const USES: Readonly<Record<'series' | 'sex' | 'number' | ColumnUse, readonly [Kind[], string]>> = {
  series: [['numbers', 'text', 'null'], 'can hold no samples: make a list of numbers of it, --sql can'],
  sex: [['text', 'null'], 'is no sex: write M or F'],
  number: [[...NUMBERS], 'is no number: CAST it with --sql, times asleep into seconds'],
  measured: [[...NUMBERS, 'text'], 'is no measurement: make a number of it, or High or Low'],
  outcome: [[...NUMBERS, 'text', 'boolean'], 'is no outcome: make numbers of it, true or false, High or Low'],
  person: [['text', 'whole', 'uuid', 'null'], "can't say whose a row is: make text or whole numbers of it"],
  order: [
    ['text', 'whole', 'float', 'date', 'time', 'null'],
    "can't say when a row was: make a timestamp of it, a date, milliseconds since 1970, or text of ISO 8601",
  ],
};

function misfitOf(column: TableColumn, use: keyof typeof USES): string | undefined {
  const { name, kind, type, isCell } = column;
  if (use === 'order' && column.needsZone === true)
    return `the column ${name} has times with a zone, and comes in UTC: --zone says whose dates the nights are (Europe/Berlin, -05:00, UTC)`;
  const [kinds, advice] = USES[use];
  if (isCell === true || kinds.includes(kind)) return undefined;
  const more = use === 'person' && kind === 'float' ? ` (${NULLS})` : '';
  return `the column ${name} is of the type ${type}, which ${advice}${more}`;
}

/**
 * The columns that are fields of a session, by the names of the fields.
 * @throws NamesError if a column's type can't be what its name says
 */
export function sessionFields<C extends TableColumn>(
  columns: readonly C[],
): (C & { readonly field: string; readonly isSeries: boolean })[] {
  const fields = columns.flatMap((column) => {
    const field = fieldOf(column.name);
    if (field === undefined) return [];
    const isSeries = SERIES_NAMES.has(field);
    const misfit = misfitOf(column, isSeries ? 'series' : field === 'sex' ? 'sex' : 'number');
    if (misfit !== undefined) throw new NamesError(misfit);
    return [{ ...column, field, isSeries }];
  });
  return fields.toSorted((a, b) => (a.field < b.field ? -1 : 1));
}

/** The names of a table, and what each column can be used for. @throws NamesError as `sessionFields` */
export function namesOfColumns(columns: readonly TableColumn[]): InputNames {
  sessionFields(columns);
  const names = columns.map(({ name }) => name);
  return {
    thing: 'column',
    kinds: { request: [], session: names, target: [], measurement: [] },
    beside: names,
    unfit(name, as) {
      const column = columns.find((one) => one.name === name);
      return column === undefined ? undefined : misfitOf(column, as);
    },
    hasZone: (name) => columns.find((one) => one.name === name)?.hasZone === true,
  };
}

/** A field of a session in some rows. */
export interface SessionField {
  readonly field: string;
  /** Reads it fast: the lists of a series, or a number for each row; neither if only JSON can say it. */
  readonly series?: Lists;
  readonly scalar?: ScalarColumn['values'];
  /** The value in JSON, its bytes as Latin-1; undefined if the row has none. */
  json(row: number): string | undefined;
}

type IsNull = (row: number) => boolean;

/** The sessions of some rows. */
export function sessionColumns(fields: readonly SessionField[]): SessionColumns {
  const series = fields.flatMap(({ field, series: own }) => {
    const name = SERIES_NAMES.get(field);
    return name === undefined || own === undefined ? [] : [{ field: name, ...own }];
  });
  const scalars = fields.flatMap(({ field, scalar: values }) => {
    const name = SCALAR_NAMES.get(field);
    return name === undefined || values === undefined ? [] : [{ field: name, values }];
  });
  const areSingle = new Set(series.map(({ field }) => field)).size === series.length;
  const bodyOf = (row: number): Buffer => {
    const members = fields.flatMap(({ field, json }) => {
      const value = json(row);
      return value === undefined ? [] : [`,"${field}":`, value];
    });
    const [first = '', ...more] = members;
    const texts = ['{"current_session":{', first.slice(1), ...more, '}}'];
    const body = Buffer.allocUnsafe(texts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const text of texts) at += body.write(text, at, 'latin1'); // to join long texts first would cost more
    return body;
  };
  return { series, scalars, arePlain: areSingle && series.length + scalars.length === fields.length, bodyOf };
}

export type Lists = Omit<SeriesColumn, 'field'>;

export function listField(field: string, series: Lists, isNull: IsNull): SessionField {
  const { values, starts, ends } = series;
  const jsonOf = (value: number): string => (Number.isNaN(value) ? 'null' : jsonNumber(value));
  const json = (row: number): string | undefined =>
    isNull(row) ? undefined : `[${Array.from(values.subarray(starts[row], ends[row]), jsonOf).join(',')}]`;
  return { field, series, json };
}

/** A number for each of `rows` rows. */
export function numberField(
  field: string,
  rows: number,
  numbers: ArrayLike<number>,
  isNull: IsNull,
): SessionField {
  const scalar = new Float64Array(rows).fill(NaN);
  // JSON has neither NaN nor infinities: such values go to the exact path, which refuses them.
  for (let row = 0; row < rows; row++)
    if (!isNull(row)) scalar[row] = Number.isNaN(numbers[row]) ? Infinity : (numbers[row] ?? Infinity);
  return {
    field,
    scalar,
    json: (row) => (isNull(row) ? undefined : jsonNumber(numbers[row] ?? NaN)),
  };
}

/**
 * Texts, or cells of CSV if `isCell`, which are numbers and lists too; their bytes as Latin-1. A cell that is no list may
 * make a body that is no JSON.
 */
export function textField(
  { field, isCell = false }: { readonly field: string; readonly isCell?: boolean | undefined },
  rows: number,
  texts: (row: number) => string | undefined,
): SessionField {
  const isSeries = SERIES_NAMES.has(field);
  const json = (row: number): string | undefined => {
    const text = texts(row);
    if (text === undefined || (text === '' && (isCell || isSeries))) return undefined;
    if (isSeries) return listOfCell(text);
    return isCell ? valueOfCell(trimmed(text)) : JSON.stringify(text);
  };
  if (field !== 'sex' || isCell) return { field, json };
  return { field, scalar: Float64Array.from({ length: rows }, (_, row) => sexOf(texts(row))), json };
}

/** Why a row is refused; one that is no JSON by its column: a byte of the body means nothing to a user of tables. */
export function problemIn(fields: readonly SessionField[], row: number, problem: BodyProblem): RowProblem {
  if (problem.kind !== 'malformed') return rowProblem(problem);
  const field = fields.find(({ json }) => parsedJson(json(row) ?? '0') === undefined)?.field;
  const detail = `the cell of ${field} is no list of numbers: write [61, 58.5] as in JSON, not as numpy prints it, and leave out what is missing`;
  return { status: UNPROCESSABLE.status, detail };
}

/** The same for rows of a table, from the row `first` on. */
export function problemsIn(
  fields: readonly SessionField[],
  { problems }: ReadRows,
  first = 0,
): Map<number, RowProblem> {
  return new Map([...problems].map(([row, problem]) => [row, problemIn(fields, first + row, problem)]));
}

function sexOf(text: string | undefined): number {
  if (text === undefined) return NaN;
  return text === 'M' ? 1 : text === 'F' ? -1 : Infinity;
}

function jsonNumber(value: number): string {
  return Number.isFinite(value) ? String(value) : `"${value}"`;
}

/** A number in JSON's notation. */
export const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const ONE = NUMBER.source.slice(1, -1);
/** Two marks have a missing sample between them. */
const SEPARATOR = /[ \t\r\n]+(?:[;|][ \t\r\n]*)?|[;|][ \t\r\n]*/g;
const MANY = new RegExp(`^${ONE}(?:(?:${SEPARATOR.source})${ONE})*$`);

/** Without the space around it; in bytes as Latin-1 half a letter may look like one. */
function trimmed(text: string): string {
  return text.includes('\xa0') ? text : text.trim();
}

/** No JSON if the cell begins as an array and is not one as a whole: the text after it would become fields of the session. */
function listOfCell(cell: string): string {
  const text = trimmed(cell);
  if (text.startsWith('[')) return isPlainArray(text) || Array.isArray(parsedJson(text)) ? text : '[';
  if (MANY.test(text)) return `[${text.replaceAll(SEPARATOR, ',')}]`;
  return `[${text.split(SEPARATOR).map(valueOfCell).join(',')}]`;
}

/** Whether a text that begins an array ends with it, told without decoding: no nested brackets, no text. */
function isPlainArray(text: string): boolean {
  if (text.indexOf(']') !== text.length - 1) return false;
  return !['[', '{', '}', '"'].some((letter) => text.includes(letter, 1)); // a regular expression would cost more
}

/** A cell as JSON. */
export function valueOfCell(text: string): string {
  return NUMBER.test(text) ? text : JSON.stringify(text);
}
