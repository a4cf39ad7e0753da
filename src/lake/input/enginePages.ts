import { DuckDBTypeId, type DuckDBDataChunk } from '@duckdb/node-api';
import bindings, { type DataChunk, type Vector } from '@duckdb/node-bindings';
import type { SeriesLimits } from '#rules/fields.js';
import { ColumnReader } from '../../read/columns.js';
import { problemOf } from './csvRows.js';
import type { Engine } from './engine.js';
import {
  fieldsOf,
  selectionOf,
  sortedSql,
  type Selection,
  type Source,
  type SourceColumn,
} from './engineSources.js';
import { NamesError, TableError } from '../errors.js';
import { meaningOf } from './names.js';
import { tablePage, type BesideColumns, type OpenInput, type Page } from './page.js';
import {
  listField,
  namesOfColumns,
  numberField,
  problemsIn,
  sessionColumns,
  textField,
  type Lists,
  type SessionField,
} from './tableColumns.js';

/** Opens tables that the engine reads one after the other, or sorted by person and time. */
export function openSources(
  engine: Engine,
  sources: readonly [Source, ...Source[]],
  limits: SeriesLimits,
  isSorted: boolean,
): OpenInput {
  checkAlike(sources);
  const [first] = sources;
  const ofAll = sources.flatMap(({ columns }) => columns);
  const hasZone = (name: string): boolean => ofAll.some((one) => one.name === name && one.hasZone === true);
  return {
    names: first.columns.length === 0 ? undefined : { ...namesOfColumns(allColumns(sources)), hasZone },
    keptTypes: ({ keep }) => keep.map((name) => commonType(sources, name)),
    async *pages(columns, form = 'json') {
      if (first.columns.length === 0) return;
      const what = isSorted && sources.length > 1 ? 'one of the files' : first.what;
      const selection = selectionOf(first, columns, form);
      const reader = new ColumnReader(limits);
      let rowsBefore = 0;
      const pageOf = (chunk: DuckDBDataChunk): Page => {
        const rows = chunk.rowCount;
        const beside = besideIn(chunk, selection, isSorted ? undefined : rowsBefore + 1);
        const fields = selection.fields.map((column) => fieldIn(chunk, column));
        const read = reader.read(sessionColumns(fields), 0, rows);
        const problems = problemsIn(fields, read);
        const marks = selection.mark === undefined ? [] : doublesOf(columnOf(chunk, selection.mark), rows);
        for (const [row, mark] of marks.entries()) {
          const problem = problemOf(mark);
          if (problem !== undefined) problems.set(row, problem);
        }
        rowsBefore += rows;
        return tablePage(rows, read, beside, problems, columns.measured);
      };
      const selects: string[] = [];
      for (const source of sources) {
        const { list, times } = selectionOf(source, columns, form);
        const selected = isSorted ? [...list, ...times] : list;
        selects.push(`SELECT ${selected.join(', ')} FROM ${await source.from()}`);
      }
      const all = selects.join(' UNION ALL ');
      // More threads cost more where the order is kept.
      const threads = !isSorted && sources.every((source) => source.rows !== undefined) ? 1 : undefined;
      const read = first.isSelect === true ? { selected: what } : what;
      yield* engine.chunks(isSorted ? sortedSql(all, selection) : all, read, pageOf, threads);
      // A damaged file may hold fewer rows than it says.
      const rows = sources.map((source) => source.rows ?? NaN).reduce((sum, own) => sum + own, 0);
      if (!Number.isNaN(rows) && rowsBefore !== rows)
        throw new TableError(`${what} can't be read: ${rowsBefore} of its ${rows} rows came`);
    },
    close: async () => undefined,
  };
}

/** The columns of the first table, and those that only others have: measurements, and what is kept. */
function allColumns([first, ...more]: readonly [Source, ...Source[]]): SourceColumn[] {
  const others = more
    .flatMap(({ columns }) => columns)
    .filter(({ name }) => first.columns.every((own) => meaningOf(own.name) !== meaningOf(name)));
  return [...first.columns, ...new Map(others.map((column) => [meaningOf(column.name), column])).values()];
}

/** The type of a kept column, text if the tables differ in it: a value cast to another's type may be another one. */
function commonType(sources: readonly Source[], name: string): string {
  const all = sources.flatMap(({ columns }) => columns.filter((column) => column.name === name));
  const [type = 'VARCHAR', ...others] = new Set(all.map((column) => column.type));
  return others.length === 0 ? type : 'VARCHAR';
}

/** Tables that are read together have the same fields in the same forms. @throws NamesError */
function checkAlike([first, ...more]: readonly [Source, ...Source[]]): void {
  const formsOf = (source: Source): string[] =>
    fieldsOf(source)
      .map(
        ({ field, kind, isSeries }) =>
          `${field} (${kind === 'text' ? kind : isSeries ? 'lists' : 'numbers'})`,
      )
      .concat(source.mark === undefined ? [] : 'their format (CSV)');
  const own = formsOf(first);
  for (const source of more) {
    const other = formsOf(source);
    const odd = [...own, ...other].find((form) => !own.includes(form) || !other.includes(form));
    if (odd !== undefined)
      throw new NamesError(
        `${first.what} and ${source.what} differ in ${odd}: give both the same columns, with --sql for example`,
      );
  }
}

function textsAt(chunk: DuckDBDataChunk, at: number | undefined): TextAt {
  return at === undefined ? () => undefined : textsOf(columnOf(chunk, at), chunk.rowCount, 'letters');
}

/** Columns by their names. A function of its own: what is made of them must not hold the chunk. */
function columnsAt<Values>(
  chunk: DuckDBDataChunk,
  places: ReadonlyMap<string, number>,
  valuesAt: (chunk: DuckDBDataChunk, at: number) => Values,
): Map<string, Values> {
  return new Map([...places].map(([name, at]) => [name, valuesAt(chunk, at)]));
}

/**
 * Values beside the sessions of a chunk: copies, for the chunk is gone when the page is written. No function here may
 * use it: with one all would hold it, and the engine's memory of a page, until the collector's next full pass.
 */
function besideIn(
  chunk: DuckDBDataChunk,
  { list, ...places }: Selection,
  first: number | undefined,
): BesideColumns {
  const kept = columnsAt(chunk, places.kept, textsAt);
  const cells = columnsAt(chunk, places.cells, (own, at) => own.getColumnValues(at));
  const [person, moment] = [textsAt(chunk, places.person), textsAt(chunk, places.moment)];
  const numbers = first === undefined ? doublesOf(columnOf(chunk, list.length), chunk.rowCount) : undefined;
  return {
    kept: (name, row) => finite(kept.get(name)?.(row)),
    person,
    moment,
    cell: (name, row) => cells.get(name)?.[row],
    numberOf: (row) => (first === undefined ? (numbers?.[row] ?? NaN) : first + row),
  };
}

/** JSON of the engine, with null for a number within it that JSON lacks. */
function finite(json: string | undefined): string | undefined {
  if (json === undefined || !NOT_FINITE.test(json)) return json;
  return json.replaceAll(/"(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity)/g, (token) =>
    token.startsWith('"') ? token : 'null',
  );
}

const NOT_FINITE = /NaN|Infinity/;

function fieldIn(chunk: DuckDBDataChunk, column: Selection['fields'][number]): SessionField {
  const { field, isSeries, kind, at } = column;
  const rows = chunk.rowCount;
  const vector = columnOf(chunk, at);
  if (kind === 'text') return textField(column, rows, textsOf(vector, rows, 'bytes'));
  const isNull = isNullIn(vector, rows);
  if (isSeries) return listField(field, listsOf(vector, rows), isNull);
  return numberField(field, rows, doublesOf(vector, rows), isNull);
}

/** The engine's columns in memory, valid as long as their chunk; the bindings give copies of what they hold. */

function columnOf(chunk: { readonly chunk: DataChunk }, index: number): Vector {
  return bindings.data_chunk_get_vector(chunk.chunk, index);
}

const LIST_ENTRY_BYTES = 16;
/** A text's length, then its bytes if there are at most twelve, else their address. */
const TEXT_BYTES = 16;
const INLINE_MAX = 12;
/** Long texts come together from so many bytes on. */
const PIECE_BYTES = 1 << 14;

const never = (): boolean => false;

/** Whether a row is null: the engine has one bit for each, 0 for null, if any is; else `never`. */
function isNullIn(vector: Vector, rows: number): (row: number) => boolean {
  const validity = bindings.vector_get_validity(vector, Math.ceil(rows / 64) * 8) as Uint8Array | null;
  return validity === null ? never : (row) => (((validity[row >> 3] ?? 0) >> (row & 7)) & 1) === 0;
}

function doublesOf(vector: Vector, rows: number): Float64Array {
  const { buffer, byteOffset } = bindings.vector_get_data(vector, rows * 8);
  return new Float64Array(buffer, byteOffset, rows);
}

function listsOf(vector: Vector, rows: number): Lists {
  const { buffer, byteOffset } = bindings.vector_get_data(vector, rows * LIST_ENTRY_BYTES);
  // Lengths and places are below 2^32: the low word of each.
  const entries = new Uint32Array(buffer, byteOffset, rows * 4);
  const isNull = isNullIn(vector, rows);
  const starts = new Int32Array(rows);
  const ends = new Int32Array(rows);
  let last = 0;
  for (let row = 0; row < rows; row++) {
    if (!isNull(row)) {
      starts[row] = entries[4 * row] ?? 0;
      last = ends[row] = (starts[row] ?? 0) + (entries[4 * row + 2] ?? 0);
    } else starts[row] = ends[row] = last;
  }
  return { values: itemsOf(vector), starts, ends };
}

/** The numbers in all lists: FLOAT, or DOUBLE, which the engine makes of both. */
function itemsOf(vector: Vector): Float32Array | Float64Array {
  const size = bindings.list_vector_get_size(vector);
  if (size === 0) return new Float64Array();
  const child = bindings.list_vector_get_child(vector);
  const isFloat = bindings.get_type_id(bindings.vector_get_column_type(child)) === Number(DuckDBTypeId.FLOAT);
  const { buffer, byteOffset } = bindings.vector_get_data(child, size * (isFloat ? 4 : 8));
  const own = isFloat
    ? new Float32Array(buffer, byteOffset, size)
    : new Float64Array(buffer, byteOffset, size);
  const isNull = isNullIn(child, size);
  if (isNull === never) return own;
  for (let item = 0; item < size; item++) if (isNull(item)) own[item] = NaN; // a copy of the engine's
  return own;
}

type TextAt = (row: number) => string | undefined;

const NOT_ASCII = /[\x80-\xff]/;

/** Texts by row, undefined for null: their bytes as Latin-1 while the chunk lives, or their letters, also after it. */
function textsOf(vector: Vector, rows: number, form: 'bytes' | 'letters'): TextAt {
  const { buffer, byteOffset } = bindings.vector_get_data(vector, rows * TEXT_BYTES);
  const words = new Uint32Array(buffer, byteOffset, (rows * TEXT_BYTES) / 4);
  const inline = Buffer.from(buffer, byteOffset, rows * TEXT_BYTES).toString('latin1'); // a call for each would cost more
  const isNull = isNullIn(vector, rows);
  const lengthOf = (row: number): number => words[4 * row] ?? 0;
  const isLong = (row: number): boolean => lengthOf(row) > INLINE_MAX && !isNull(row);
  const addressOf = (row: number): number => (words[4 * row + 2] ?? 0) + (words[4 * row + 3] ?? 0) * 2 ** 32;
  /** Copied last, and its address: long texts mostly lie one after the other. */
  let piece = Buffer.from(buffer, 0, 0);
  let begin = 0;
  const bytesAt = (row: number): string => {
    const at = row * TEXT_BYTES;
    const length = lengthOf(row);
    if (!isLong(row)) return inline.slice(at + 4, at + 4 + length);
    const address = addressOf(row);
    if (address < begin || address + length > begin + piece.length) {
      let end = address + length;
      for (let next = row + 1; next < rows && end - address < PIECE_BYTES; next++)
        if (isLong(next) && addressOf(next) === end) end += lengthOf(next);
        else break;
      const own = bindings.get_data_from_pointer(buffer as ArrayBuffer, byteOffset + at + 8, end - address);
      [piece, begin] = [Buffer.from(own.buffer, own.byteOffset, own.length), address];
    }
    return piece.toString('latin1', address - begin, address - begin + length);
  };
  const textAt = (row: number): string => {
    const bytes = bytesAt(row);
    return form === 'letters' && NOT_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes;
  };
  const longs: string[] = [];
  for (let row = form === 'letters' ? 0 : rows; row < rows; row++) if (isLong(row)) longs[row] = textAt(row);
  return (row) => (isNull(row) ? undefined : (longs[row] ?? textAt(row)));
}
