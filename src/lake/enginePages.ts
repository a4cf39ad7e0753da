import { DOUBLE, LIST, VARCHAR, type DuckDBDataChunk, type DuckDBValue } from '@duckdb/node-api';
import type { SeriesLimits } from '#rules/fields.js';
import { UNPROCESSABLE } from '../contract/problems.js';
import { ColumnReader } from '../reading/columns.js';
import { BreaksInQuotesError, type Engine } from './engine.js';
import {
  cellSql,
  fieldSql,
  hasFloats,
  keptSql,
  orderSql,
  personSql,
  type Source,
  type SourceColumn,
} from './engineSources.js';
import { FormatError, TableError, type RowProblem } from './errors.js';
import { namesBeside, type RowColumns } from './names.js';
import { tablePage, type BesideColumns, type KeptForm, type OpenInput, type Page } from './page.js';
import {
  namesOfColumns,
  sessionColumns,
  sessionFields,
  trimmedCell,
  valueOfCell,
  type SessionField,
} from './tableColumns.js';
import { columnOf, doublesOf, isNullIn, listsOf, textsOf, validityOf } from './vectors.js';

/** Opens tables that the engine reads one after the other, or sorted by person and time. */
export function openSources(
  engine: Engine,
  tables: readonly [Source, ...Source[]],
  limits: SeriesLimits,
  isSorted: boolean,
): OpenInput {
  checkAlike(tables);
  const sources = tables.length === 1 ? tables : tables.map(withDoubles);
  const [first] = tables.length === 1 ? tables : [withDoubles(tables[0])];
  return {
    names: first.columns.length === 0 ? undefined : namesOfColumns(first.columns),
    keptTypes: ({ keep }) =>
      keep.map((name) => {
        const { isCell, type } = columnNamed(first, name);
        return isCell === true ? 'VARCHAR' : String(type);
      }),
    async *pages(columns, form = 'json') {
      if (first.columns.length === 0) return;
      const what = isSorted && sources.length > 1 ? 'one of the files' : first.what;
      const reader = new EngineReader(first, columns, form, limits, isSorted);
      const queryOf = (from: (source: Source) => string): string => {
        const selects = sources.map(
          (source) => `SELECT ${selectionOf(source, columns, form).list.join(', ')} FROM ${from(source)}`,
        );
        return isSorted ? reader.sorted(selects) : selects.join(' UNION ALL ');
      };
      try {
        for await (const chunk of engine.chunks(
          queryOf(({ from }) => from),
          what,
        ))
          yield reader.page(chunk);
      } catch (error) {
        if (!(error instanceof BreaksInQuotesError)) throw error;
        const again = queryOf((source) => source.fromWithBreaks ?? source.from);
        for await (const chunk of engine.chunks(`${again} OFFSET ${reader.rowsBefore}`, what))
          yield reader.page(chunk);
      }
      // The engine ends a stream that it gives up without an error.
      const rows = sources.map((source) => source.rows ?? NaN).reduce((sum, own) => sum + own, 0);
      if (!Number.isNaN(rows) && reader.rowsBefore !== rows)
        throw new TableError(`${what} can't be read: ${reader.rowsBefore} of its ${rows} rows came`);
    },
    close: async () => undefined,
  };
}

/** Its lists of FLOAT as ones of DOUBLE, which other tables may have. */
function withDoubles(source: Source): Source {
  const columns = source.columns.map((column) =>
    hasFloats(column) ? { ...column, type: LIST(DOUBLE) } : column,
  );
  return { ...source, columns };
}

/** Tables that are read together have the same fields in the same forms. @throws FormatError */
function checkAlike([first, ...more]: readonly [Source, ...Source[]]): void {
  const formsOf = (source: Source): string[] =>
    fieldsOf(source).map(
      ({ field, kind, isSeries }) => `${field} (${kind === 'text' ? kind : isSeries ? 'lists' : 'numbers'})`,
    );
  const own = formsOf(first);
  for (const source of more) {
    const other = formsOf(source);
    const odd = [...own, ...other].find((form) => !own.includes(form) || !other.includes(form));
    if (odd !== undefined)
      throw new FormatError(
        `${first.what} and ${source.what} differ in ${odd}: give both the same columns, with --sql for example`,
      );
  }
}

function fieldsOf({ columns }: Source): ReturnType<typeof sessionFields<SourceColumn>> {
  return sessionFields(columns).toSorted((a, b) => (a.field < b.field ? -1 : 1));
}

function columnNamed({ columns }: Source, name: string): SourceColumn {
  const absent = {
    name,
    kind: 'null',
    typeName: 'VARCHAR',
    sql: 'CAST(NULL AS VARCHAR)',
    type: VARCHAR,
  } as const;
  return columns.find((one) => one.name === name) ?? absent;
}

/** What is selected of a source: the session, the kept columns, the person and time, and more. */
function selectionOf(source: Source, { keep, history, measured = [] }: RowColumns, form: KeptForm) {
  const list: string[] = [];
  const select = (sql: string): number => list.push(`${sql} AS s${list.length}`) - 1;
  const column = (name: string): SourceColumn => columnNamed(source, name);
  const fields = fieldsOf(source).map((field) => ({
    ...field,
    at: select(fieldSql(field, field.isSeries)),
  }));
  const kept = new Map(
    keep.map((name) => {
      const { sql, isJson } = keptSql(column(name), form);
      return [name, { at: select(sql), isJson, isCell: column(name).isCell === true }] as const;
    }),
  );
  const person = history && select(personSql(column(history.person)));
  const moment = history && select(orderSql(column(history.order)));
  const cells = namesBeside({ keep: [], measured }).map(
    (name) => [name, select(cellSql(column(name)))] as const,
  );
  const { isMisshapen } = source;
  const misshapen = isMisshapen === undefined ? undefined : select(`CAST(${isMisshapen} AS DOUBLE)`);
  return { list, fields, kept, person, moment, cells, misshapen };
}

const MISSHAPEN: RowProblem = {
  status: UNPROCESSABLE.status,
  detail: 'a row with more or fewer cells than the header, or a quote that is not closed',
};

/** Reads the rows of a selection, chunk by chunk. */
class EngineReader {
  private readonly reader: ColumnReader;
  private readonly selection: ReturnType<typeof selectionOf>;
  private readonly header: ReadonlyMap<string, string> | undefined;
  rowsBefore = 0;
  /** The chunk being read: views of its memory do not keep it alive. */
  current: DuckDBDataChunk | undefined;

  constructor(
    source: Source,
    private readonly columns: RowColumns,
    private readonly form: KeptForm,
    limits: SeriesLimits,
    private readonly isSorted: boolean,
  ) {
    this.reader = new ColumnReader(limits);
    this.selection = selectionOf(source, columns, form);
    const { fields, misshapen } = this.selection;
    if (misshapen !== undefined) this.header = new Map(fields.map(({ field, name }) => [field, name]));
  }

  /** One SELECT by person and time; whole numbers by their size. What is equal stays in the order in which it was read. */
  sorted(selects: readonly string[]): string {
    const [person, moment] = [`s${this.selection.person}`, `s${this.selection.moment}`];
    const order = `${person}, TRY_CAST(${moment} AS HUGEINT), ${moment}, n`;
    return `SELECT * FROM (SELECT *, row_number() OVER () AS n FROM (${selects.join(' UNION ALL ')})) ORDER BY ${order}`;
  }

  page(chunk: DuckDBDataChunk): Page {
    this.current = chunk;
    const rows = chunk.rowCount;
    const { misshapen } = this.selection;
    const problems = new Map<number, RowProblem>();
    const beside = this.beside(chunk);
    const read = this.reader.read(sessionColumns(this.fields(chunk), problems), 0, rows);
    const marks = misshapen === undefined ? [] : [...doublesOf(columnOf(chunk, misshapen), rows).entries()];
    for (const [row, mark] of marks) if (mark === 1) problems.set(row, MISSHAPEN);
    this.rowsBefore += rows;
    return tablePage(rows, read, beside, this.columns.measured, problems);
  }

  private fields(chunk: DuckDBDataChunk): SessionField[] {
    const rows = chunk.rowCount;
    return this.selection.fields.map((column): SessionField => {
      const { field, isSeries, kind, isCell = false, at } = column;
      const vector = columnOf(chunk, at);
      if (isCell || kind === 'text') return { field, texts: textsOf(vector, rows), isCell };
      const isNull = isNullIn(validityOf(vector, rows));
      if (isSeries) return { field, ...listsOf(vector, rows, hasFloats(column)), isNull };
      return { field, numbers: doublesOf(vector, rows), isNull };
    });
  }

  private beside(chunk: DuckDBDataChunk): BesideColumns {
    const { selection, isSorted, header, form } = this;
    const valuesAt = (index: number | undefined): readonly DuckDBValue[] =>
      index === undefined ? [] : chunk.getColumnValues(index);
    const people = valuesAt(selection.person);
    const moments = valuesAt(selection.moment);
    const cells = new Map(selection.cells.map(([name, at]) => [name, valuesAt(at)]));
    const numbers = isSorted ? valuesAt(selection.list.length) : undefined;
    const before = this.rowsBefore;
    const kept = new Map(
      [...selection.kept].map(([name, own]) => [name, { ...own, values: valuesAt(own.at) }]),
    );
    return {
      header,
      kept(name, row) {
        const own = kept.get(name);
        const value = own?.values[row];
        if (own === undefined || value === undefined) return undefined;
        if (value === null) return own.isCell ? undefined : 'null';
        if (typeof value === 'string' && form === 'json' && own.isCell) return valueOfCell(value);
        return own.isJson ? String(value) : jsonOf(value, form);
      },
      person: (row) => people[row] as string | null | undefined,
      moment: (row) => moments[row] as string | null | undefined,
      cell: (name, row) => trimmedCell(cells.get(name)?.[row]),
      numberOf: (row) => (numbers === undefined ? before + row + 1 : Number(numbers[row])),
    };
  }
}

/** A value as JSON: whole numbers keep their digits. */
function jsonOf(value: DuckDBValue, form: KeptForm): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'number' || Number.isFinite(value)) return String(value);
  return form === 'text' ? `"${value}"` : 'null';
}
