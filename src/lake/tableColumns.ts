import { SERIES_ALIASES, SERIES_FIELDS, SESSION_SCALARS, type SeriesField } from '#rules/fields.js';
import { UNPROCESSABLE } from '../contract/problems.js';
import type { ScalarColumn, SeriesColumn, SessionColumns } from '../reading/columns.js';
import { NamesError, type RowProblem } from './errors.js';
import { fieldOf, type HistoryColumns, type InputNames } from './names.js';

/** What a column of a table can be used for, whichever library reads it. */
export type Kind =
  | 'whole'
  | 'float'
  | 'decimal'
  | 'text'
  | 'numbers'
  | 'boolean'
  | 'bytes'
  | 'date'
  | 'time'
  | 'uuid'
  | 'null'
  | 'other';

export interface TableColumn {
  /** As written in the input. */
  readonly name: string;
  readonly kind: Kind;
  /** For messages. */
  readonly typeName: string;
  /** Whether it holds cells of CSV: numbers and lists as text, and nothing as an empty one. */
  readonly isCell?: boolean;
}

const SERIES_NAMES: ReadonlyMap<string, SeriesField> = new Map([
  ...SERIES_FIELDS.map((field) => [field as string, field] as const),
  [SERIES_ALIASES.HR_night, 'HR_night'],
  [SERIES_ALIASES.RR_night, 'RR_night'],
]);
const SCALAR_NAMES = new Map(SESSION_SCALARS.map((field) => [field as string, field]));

const NUMBERS: readonly Kind[] = ['whole', 'float', 'decimal', 'null'];
const NULLS = 'pandas makes floats of whole numbers beside missing ones: astype("Int64")';

/** What columns of a use may be, and what to do about others. */
const USES: Readonly<Record<'series' | 'sex' | 'number' | keyof HistoryColumns, readonly [Kind[], string]>> =
  {
    series: [['numbers', 'text', 'null'], 'can hold no samples: make a list of numbers of it, --sql can'],
    sex: [['text', 'null'], 'is no sex: write M or F'],
    number: [[...NUMBERS], 'is no number: CAST it with --sql, times asleep into seconds'],
    person: [['text', 'whole', 'uuid', 'null'], "can't say whose a row is: make text or whole numbers of it"],
    order: [
      ['text', 'whole', 'float', 'date', 'time', 'null'],
      "can't say when a row was: make a timestamp of it, a date, milliseconds since 1970, or text of ISO 8601",
    ],
  };

function misfitOf({ name, kind, typeName, isCell }: TableColumn, use: keyof typeof USES): string | undefined {
  const [kinds, advice] = USES[use];
  if (isCell === true || kinds.includes(kind)) return undefined;
  const more = use === 'person' && kind === 'float' ? ` (${NULLS})` : '';
  return `the column ${name} is of the type ${typeName}, which ${advice}${more}`;
}

/** The columns that are fields of a session. @throws NamesError if a column's type can't be what its name says */
export function sessionFields<C extends TableColumn>(
  columns: readonly C[],
): (C & { readonly field: string; readonly isSeries: boolean })[] {
  return columns.flatMap((column) => {
    const field = fieldOf(column.name);
    if (field === undefined) return [];
    const isSeries = SERIES_NAMES.has(field);
    const misfit = misfitOf(column, isSeries ? 'series' : field === 'sex' ? 'sex' : 'number');
    if (misfit !== undefined) throw new NamesError(misfit);
    return [{ ...column, field, isSeries }];
  });
}

/** The names of a table, and what each column can be used for. */
export function namesOfColumns(columns: readonly TableColumn[]): InputNames {
  const names = columns.map(({ name }) => name);
  return {
    thing: 'column',
    kinds: { request: [], session: names, target: [], measurement: [] },
    beside: names,
    unfit(name, as) {
      const column = columns.find((one) => one.name === name);
      return column === undefined ? undefined : misfitOf(column, as);
    },
    misfit: () => void sessionFields(columns),
  };
}

type IsNull = (row: number) => boolean;

/** A field of a session in some rows. Texts are Latin-1 of their bytes. */
export type SessionField = { readonly field: string } & (
  | {
      /** Row i's are `values[starts[i] … ends[i])`; a null among them is NaN. */
      readonly values: SeriesColumn['values'];
      readonly starts: ArrayLike<number>;
      /** Equals the start if the row has no list. */
      readonly ends: ArrayLike<number>;
      readonly isNull: IsNull;
    }
  | { readonly numbers: ArrayLike<number>; readonly isNull: IsNull }
  | { readonly texts: (row: number) => string | undefined; readonly isCell: boolean }
);

/** The member of a session's JSON for a row, its bytes as Latin-1; undefined if the row has none. */
type FieldWriter = (row: number) => string | undefined;

/** The sessions of some rows; cells that are no lists go to `problems`. */
export function sessionColumns(
  fields: readonly SessionField[],
  problems: Map<number, RowProblem>,
): SessionColumns {
  const series: SeriesColumn[] = [];
  const scalars: ScalarColumn[] = [];
  const writers: FieldWriter[] = [];
  let arePlain = true;
  for (const own of fields) {
    const [seriesField, scalarField] = [SERIES_NAMES.get(own.field), SCALAR_NAMES.get(own.field)];
    const member = (json: string): string => `"${own.field}":${json}`;
    if ('texts' in own) {
      const { texts, isCell, field } = own;
      if (scalarField === 'sex' && !isCell) scalars.push({ field: 'sex', at: (row) => sexOf(texts(row)) });
      else arePlain = false;
      writers.push(
        seriesField === undefined ? scalarText(field, texts, isCell) : seriesText(field, texts, problems),
      );
    } else if ('starts' in own && seriesField !== undefined) {
      const { values, starts, ends, isNull } = own;
      if (series.some(({ field }) => field === seriesField)) arePlain = false;
      const [from, to] = [starts, ends].map((all) => (row: number) => all[row] ?? 0);
      if (from !== undefined && to !== undefined) series.push({ field: seriesField, values, from, to });
      writers.push((row) =>
        isNull(row) ? undefined : member(jsonList(values.subarray(starts[row] ?? 0, ends[row] ?? 0))),
      );
    } else if ('numbers' in own && scalarField !== undefined) {
      const { numbers, isNull } = own;
      // JSON has neither NaN nor infinities: such values go to the exact path, which refuses them.
      const at = (row: number): number => (isNull(row) ? NaN : given(numbers[row] ?? NaN));
      scalars.push({ field: scalarField, at });
      writers.push((row) => (isNull(row) ? undefined : member(jsonNumber(numbers[row] ?? NaN))));
    }
  }
  const bodyOf = (row: number): Buffer => {
    const members = writers.flatMap((write) => write(row) ?? []);
    return Buffer.from(`{"current_session":{${members.join(',')}}}`, 'latin1');
  };
  return { series, scalars, arePlain, bodyOf };
}

type Texts = (row: number) => string | undefined;

function seriesText(field: string, texts: Texts, problems: Map<number, RowProblem>): FieldWriter {
  return (row) => {
    const text = texts(row);
    if (text === undefined || text === '') return undefined;
    const list = listOfCell(text);
    if (list !== undefined) return `"${field}":${list}`;
    const detail = `the cell of ${field} begins as a JSON array, and is not one whole array`;
    problems.set(row, { status: UNPROCESSABLE.status, detail });
    return undefined;
  };
}

function scalarText(field: string, texts: Texts, isCell: boolean): FieldWriter {
  return (row) => {
    const text = texts(row);
    if (text === undefined || (isCell && text === '')) return undefined;
    return `"${field}":${isCell ? valueOfCell(text.trim()) : JSON.stringify(text)}`;
  };
}

function sexOf(text: string | undefined): number {
  if (text === undefined) return NaN;
  return text === 'M' ? 1 : text === 'F' ? -1 : Infinity;
}

function given(value: number): number {
  return Number.isNaN(value) ? Infinity : value;
}

function jsonNumber(value: number): string {
  return Number.isFinite(value) ? String(value) : `"${value}"`;
}

function jsonList(values: ArrayLike<number>): string {
  const items = Array.from(values, (value) => (Number.isNaN(value) ? 'null' : jsonNumber(value)));
  return `[${items.join(',')}]`;
}

/** A number in JSON's notation. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const MANY =
  /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?:[\s;|]+-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)*$/;
/** An array that ends where the cell ends, recognised without decoding: no nested brackets, no text. */
const PLAIN_ARRAY = /^\[[^[\]{}"]*\]$/;

/** Undefined if the cell is not one whole array: the text after it would become fields of the session. */
function listOfCell(cell: string): string | undefined {
  const text = cell.trim();
  if (text.startsWith('[')) return PLAIN_ARRAY.test(text) || isArray(text) ? text : undefined;
  if (MANY.test(text)) return `[${text.replaceAll(/[\s;|]+/g, ',')}]`;
  return `[${text
    .split(/[\s;|]+/)
    .map(valueOfCell)
    .join(',')}]`;
}

function isArray(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text));
  } catch {
    return false;
  }
}

/** A cell as JSON. */
export function valueOfCell(text: string): string {
  return NUMBER.test(text) ? text : JSON.stringify(text);
}

/** Text without surrounding space; a numeric text becomes a number; undefined if empty. */
export function trimmedCell(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const inner = value.trim();
  if (inner === '') return undefined;
  return Number.isFinite(Number(inner)) ? Number(inner) : inner;
}
