import { DuckDBDataChunk, VARCHAR, type DuckDBType, type DuckDBValue } from '@duckdb/node-api';
import type { SeriesLimits } from '#rules/fields.js';
import { UNPROCESSABLE } from '../contract/problems.js';
import {
  ColumnReader,
  type SeriesColumn,
  type SessionColumns,
  type ScalarColumn,
} from '../reading/columns.js';
import { listOfCell, trimmedCell, valueOfCell } from './cells.js';
import { SCALAR_NAMES, SERIES_NAMES } from './columnNames.js';
import { BreaksInQuotesError, type Engine } from './engine.js';
import {
  namesOfSource,
  orderSql,
  personSql,
  selectedField,
  withPartitions,
  type SelectedField,
  type Source,
  type SourceColumn,
} from './engineSources.js';
import { TableError } from './errors.js';
import type { KeptColumns, OpenInput, Page } from './page.js';
import type { RowProblem } from './rowProblem.js';
import type { Partition } from './partitions.js';
import { namesBeside, type RowColumns } from './rowColumns.js';
import { TablePage, type BesideColumns } from './tablePage.js';
import {
  columnOf,
  copyVector,
  doublesOf,
  isNullIn,
  jsonOf,
  listsOf,
  textsOf,
  validityOf,
} from './vectors.js';

/** What is selected of a source, in this order: the session, the kept columns, the person and time, and more. */
interface Selection {
  readonly fields: readonly SelectedField[];
  readonly kept: readonly SourceColumn[];
  readonly measured: readonly SourceColumn[];
  readonly list: readonly string[];
}

/** A table, and the columns that its path says. */
export interface EngineTable {
  readonly source: Source;
  readonly partitions: readonly Partition[];
}

/** Opens tables that the engine reads one after the other, or sorted by person and time. */
export function openSources(
  engine: Engine,
  tables: readonly EngineTable[],
  limits: SeriesLimits,
  isSorted: boolean,
): OpenInput {
  const [table] = tables;
  if (table === undefined) throw new Error('no table');
  const { source: first } = table;
  const sources = tables.map(({ source, partitions }) => withPartitions(source, partitions));
  const keptTypes = (columns: RowColumns): KeptColumns | undefined => {
    const { kept } = selectionOf(sources[0] ?? first, columns);
    return kept.length === 0
      ? undefined
      : { of: 'engine', types: kept.map(({ type }) => type), chunk: undefined };
  };
  return {
    names: namesOfSource(first),
    keptColumns: keptTypes,
    async *pages(columns) {
      if (first.columns.length === 0) return;
      const reader = new EngineReader(sources[0] ?? first, columns, limits, isSorted);
      const what = isSorted && tables.length > 1 ? 'one of the files' : first.what;
      try {
        for await (const chunk of engine.chunks(queryOf(sources, columns, isSorted), what))
          yield reader.page(chunk);
      } catch (error) {
        if (!(error instanceof BreaksInQuotesError)) throw error;
        const again = sources.map((source) => ({ ...source, from: source.fromWithBreaks ?? source.from }));
        const rest = `${queryOf(again, columns, isSorted)} OFFSET ${reader.rowsBefore}`;
        for await (const chunk of engine.chunks(rest, what)) yield reader.page(chunk);
      }
      // The engine ends a stream that it gives up without an error.
      const rows = sources.reduce((sum, source) => sum + (source.rows ?? NaN), 0);
      if (!Number.isNaN(rows) && reader.rowsBefore !== rows)
        throw new TableError(`${what} can't be read: ${reader.rowsBefore} of its ${rows} rows came`);
    },
    close: async () => undefined,
  };
}

/** One SELECT over all sources. */
function queryOf(sources: readonly Source[], columns: RowColumns, isSorted: boolean): string {
  const selects = sources.map((source) => {
    const { list } = selectionOf(source, columns);
    return `SELECT ${list.map((sql, index) => `${sql} AS s${index}`).join(', ')} FROM ${source.from}`;
  });
  if (!isSorted) return selects.join(' UNION ALL ');
  const [first] = sources;
  const places = first === undefined ? undefined : placesOf(selectionOf(first, columns));
  const [person, moment] = [`s${places?.person}`, `s${places?.moment}`];
  // Whole numbers by their size; what is equal stays in the order in which it was read.
  const order = `${person}, TRY_CAST(${moment} AS HUGEINT), ${moment}, n`;
  return `SELECT * FROM (SELECT *, row_number() OVER () AS n FROM (${selects.join(' UNION ALL ')})) ORDER BY ${order}`;
}

function selectionOf(source: Source, { keep, history, measured = [] }: RowColumns): Selection {
  const find = (name: string): SourceColumn => {
    const column = source.columns.find((one) => one.name === name);
    return column ?? { name, sql: 'CAST(NULL AS VARCHAR)', type: VARCHAR, isCell: false };
  };
  const fields = source.columns.flatMap((column) => selectedField(column) ?? []);
  const kept = keep.map(find);
  const cells = namesBeside({ keep: [], measured }).map(find);
  const list = [
    ...fields.map(({ sql }) => sql),
    ...kept.map(({ sql, isCell }) => (isCell ? `nullif(${sql}, '')` : sql)),
    ...(history === undefined ? [] : [personSql(find(history.person)), orderSql(find(history.order))]),
    ...cells.map(({ sql, type, isCell }) =>
      isCell || String(type) === 'VARCHAR'
        ? sql
        : String(type).startsWith('ENUM')
          ? `CAST(${sql} AS VARCHAR)`
          : `CAST(${sql} AS DOUBLE)`,
    ),
    ...(source.isMisshapen === undefined ? [] : [`CAST(${source.isMisshapen} AS DOUBLE)`]),
  ];
  return { fields, kept, measured: cells, list };
}

function placesOf({ fields, kept }: Selection): {
  kept: number;
  person: number;
  moment: number;
  measured: number;
} {
  const person = fields.length + kept.length;
  return { kept: fields.length, person, moment: person + 1, measured: person };
}

const MISSHAPEN: RowProblem = {
  status: UNPROCESSABLE.status,
  detail: 'a row with more or fewer cells than the header, or a quote that is not closed',
};

/** Reads the rows of a selection, chunk by chunk. */
class EngineReader {
  private readonly reader: ColumnReader;
  private readonly selection: Selection;
  private readonly header: ReadonlyMap<string, string> | undefined;
  rowsBefore = 0;
  /** The chunk being read: views of its memory do not keep it alive. */
  current: DuckDBDataChunk | undefined;

  constructor(
    private readonly source: Source,
    private readonly columns: RowColumns,
    limits: SeriesLimits,
    private readonly isSorted: boolean,
  ) {
    this.reader = new ColumnReader(limits);
    this.selection = selectionOf(source, columns);
    this.header = source.isMisshapen === undefined ? undefined : headerOf(source);
  }

  page(chunk: DuckDBDataChunk): Page {
    this.current = chunk;
    const rows = chunk.rowCount;
    const problems = new Map<number, RowProblem>();
    const beside = this.beside(chunk);
    const read = this.reader.read(this.session(chunk, problems), 0, rows);
    if (this.source.isMisshapen !== undefined) {
      const marks = doublesOf(columnOf(chunk, this.selection.list.length - 1), rows);
      for (let row = marks.indexOf(1); row >= 0; row = marks.indexOf(1, row + 1))
        problems.set(row, MISSHAPEN);
    }
    this.rowsBefore += rows;
    return new TablePage(rows, read, beside, this.columns.measured, problems, this.header);
  }

  private session(chunk: DuckDBDataChunk, problems: Map<number, RowProblem>): SessionColumns {
    const rows = chunk.rowCount;
    const series: SeriesColumn[] = [];
    const scalars: ScalarColumn[] = [];
    const writers: FieldWriter[] = [];
    let arePlain = true;
    for (const [index, { field, form }] of this.selection.fields.entries()) {
      const vector = columnOf(chunk, index);
      const [seriesField, scalarField] = [SERIES_NAMES.get(field), SCALAR_NAMES.get(field)];
      if (form === 'text') {
        const texts = textsOf(vector, rows);
        const isCell = this.source.isMisshapen !== undefined;
        if (seriesField !== undefined) writers.push(textSeries(field, texts, problems));
        else writers.push(textScalar(field, texts, isCell));
        if (scalarField === 'sex' && !isCell)
          scalars.push({ field: scalarField, at: (row) => sexOf(texts(row)) });
        else arePlain = false;
      } else if (seriesField !== undefined) {
        const { values, starts, ends } = listsOf(vector, rows, form === 'floats');
        if (series.some((other) => other.field === seriesField)) arePlain = false;
        series.push({
          field: seriesField,
          values,
          from: (row) => starts[row] ?? 0,
          to: (row) => ends[row] ?? 0,
        });
        const isNull = isNullIn(validityOf(vector, rows));
        writers.push((row) =>
          isNull(row) ? undefined : `"${field}":[${jsonList(values, starts[row], ends[row])}]`,
        );
      } else if (scalarField !== undefined) {
        const values = doublesOf(vector, rows);
        const isNull = isNullIn(validityOf(vector, rows));
        // JSON has neither NaN nor infinities: such values go to the exact path, which refuses them.
        scalars.push({ field: scalarField, at: (row) => (isNull(row) ? NaN : given(values[row] ?? NaN)) });
        writers.push((row) => (isNull(row) ? undefined : `"${field}":${jsonNumber(values[row] ?? NaN)}`));
      }
    }
    const bodyOf = (row: number): Buffer => {
      const parts = writers.flatMap((write) => write(row) ?? []);
      return Buffer.from(`{"current_session":{${parts.join(',')}}}`, 'latin1');
    };
    return { series, scalars, arePlain, bodyOf };
  }

  private beside(chunk: DuckDBDataChunk): BesideColumns {
    const { columns, selection, isSorted } = this;
    const { history } = columns;
    const at = placesOf(selection);
    const valuesAt = (index: number): readonly DuckDBValue[] => chunk.getColumnValues(index);
    const people = history === undefined ? [] : valuesAt(at.person);
    const moments = history === undefined ? [] : valuesAt(at.moment);
    const firstCell = at.measured + (history === undefined ? 0 : 2);
    const cells = new Map(selection.measured.map(({ name }, index) => [name, valuesAt(firstCell + index)]));
    const numbers = isSorted ? valuesAt(selection.list.length) : undefined;
    const before = this.rowsBefore;
    const kept = keptOf(chunk, selection, at.kept);
    return {
      keptColumns: kept === undefined ? undefined : { of: 'engine', types: kept.types, chunk: kept.chunk },
      kept: (name, row) => kept?.jsonOf(name, row),
      person: (row) => people[row] as string | null | undefined,
      moment: (row) => moments[row] as string | null | undefined,
      cell(name, row) {
        const value = cells.get(name)?.[row];
        return typeof value === 'string' ? trimmedCell(value) : value;
      },
      numberOf: (row) => (numbers === undefined ? before + row + 1 : Number(numbers[row])),
    };
  }
}

interface KeptCopy {
  readonly chunk: DuckDBDataChunk;
  readonly types: readonly DuckDBType[];
  jsonOf(name: string, row: number): string | undefined;
}

/** A copy of the kept columns, which outlives the chunk. */
function keptOf(chunk: DuckDBDataChunk, { kept }: Selection, first: number): KeptCopy | undefined {
  if (kept.length === 0) return undefined;
  const types = kept.map(({ type }) => type);
  const copy = DuckDBDataChunk.create(types, chunk.rowCount);
  for (const [index, type] of types.entries())
    copyVector(columnOf(chunk, first + index), columnOf(copy, index), type, chunk.rowCount);
  const places = new Map(kept.map(({ name }, index) => [name, index]));
  return {
    chunk: copy,
    types,
    jsonOf(name, row) {
      const place = places.get(name);
      if (place === undefined) return undefined;
      const value = copy.getColumnVector(place).getItem(row) as DuckDBValue;
      if (kept[place]?.isCell !== true) return jsonOf(value);
      return typeof value === 'string' ? valueOfCell(value) : undefined;
    },
  };
}

/** The member of a session's JSON for a row, its bytes as Latin-1; undefined if the row has none. */
type FieldWriter = (row: number) => string | undefined;
type Texts = ReturnType<typeof textsOf>;

function textSeries(field: string, texts: Texts, problems: Map<number, RowProblem>): FieldWriter {
  return (row) => {
    const text = latin1Of(texts(row));
    if (text === undefined || text === '') return undefined;
    const list = listOfCell(text);
    if (list !== undefined) return `"${field}":${list}`;
    const detail = `the cell of ${field} begins as a JSON array, and is not one whole array`;
    problems.set(row, { status: UNPROCESSABLE.status, detail });
    return undefined;
  };
}

function textScalar(field: string, texts: Texts, isCell: boolean): FieldWriter {
  return (row) => {
    const text = latin1Of(texts(row));
    if (text === undefined || (isCell && text === '')) return undefined;
    return `"${field}":${isCell ? valueOfCell(text.trim()) : JSON.stringify(text)}`;
  };
}

function latin1Of(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined) return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

const LETTER_M = 0x4d;
const LETTER_F = 0x46;

function sexOf(text: Uint8Array | undefined): number {
  if (text === undefined) return NaN;
  if (text.length !== 1) return Infinity;
  return text[0] === LETTER_M ? 1 : text[0] === LETTER_F ? -1 : Infinity;
}

function given(value: number): number {
  return Number.isNaN(value) ? Infinity : value;
}

function jsonNumber(value: number): string {
  return Number.isFinite(value) ? String(value) : `"${value}"`;
}

/** A null within a list is NaN here. */
function jsonList(values: Float32Array | Float64Array, start = 0, end = 0): string {
  return Array.from(values.subarray(start, end), (value) =>
    Number.isNaN(value) ? 'null' : jsonNumber(value),
  ).join(',');
}

function headerOf({ columns }: Source): ReadonlyMap<string, string> {
  return new Map(
    columns.flatMap((column) => {
      const field = selectedField(column)?.field;
      return field === undefined ? [] : [[field, column.name] as const];
    }),
  );
}
