import { TableError } from '../errors.js';
import type { Engine, NamedType } from './engine.js';
import { textIn, type CsvTable } from './csvRows.js';
import type { Partition } from './inputs.js';
import { fieldOf, meaningOf, namesBeside, type RowColumns } from './names.js';
import type { KeptForm } from './page.js';
import { patternOf, quoted, textOf } from './sql.js';
import { NUMBER, kindOf, sessionFields, type TableColumn } from './tableColumns.js';

/** How SQL selects from Parquet, CSV and queries. */

/** A column of a table that the engine reads. */
export interface SourceColumn extends TableColumn {
  /** The expression that selects it. */
  readonly sql: string;
  /** The zone whose dates count; and the expression of a time with a zone, as the engine's own. */
  readonly zone?: string | undefined;
  readonly moment?: string;
  /** The expression of its text, if the path of the file says it. */
  readonly ofPath?: string;
}

/** A table that the engine reads. */
export interface Source {
  /** For messages. */
  readonly what: string;
  readonly isSelect?: boolean;
  /** The table's place in SQL, after FROM; called when its rows are read. @throws TableError */
  from(): string | Promise<string>;
  readonly columns: readonly SourceColumn[];
  /** The column with a `MARK` for each row of a CSV. */
  readonly mark?: string | undefined;
  /** How many rows it says it has; undefined if only reading can tell. */
  readonly rows?: number | undefined;
}

export async function parquetSource(
  engine: Engine,
  path: string,
  what: string,
  zone: string | undefined,
): Promise<Source> {
  const file = textOf(patternOf(path));
  const from = `read_parquet(${file}, hive_partitioning = false, union_by_name = false)`;
  const columns = await engine.columnsOf(`SELECT * FROM ${from}`, what);
  const own = await topColumns(engine, file, what);
  const [[rows] = []] = await engine.texts(`SELECT sum(num_rows) FROM parquet_file_metadata(${file})`, what);
  return {
    what,
    from: () => from,
    columns: columns.map((column, at) => {
      const { isUtc, ...more } = own[at] ?? {};
      return { ...ownColumn(column, zone, isUtc), ...more };
    }),
    rows: Number(rows),
  };
}

/** Most digits of the engine's decimals. */
const DIGITS_MAX = 38;

/**
 * The file's own names, in its order: the engine renames the second of two columns that differ by case. One without any
 * value, as pandas writes it, is a number to the engine.
 */
async function topColumns(engine: Engine, file: string, what: string): Promise<TopColumn[]> {
  const rows = await engine.texts(
    `SELECT name, coalesce(num_children, 0), precision, logical_type, type, converted_type FROM parquet_schema(${file})`,
    what,
  );
  const wide = rows.find(([, , digits]) => Number(digits) > DIGITS_MAX);
  if (wide !== undefined)
    throw new TableError(
      `${what}: the column ${wide[0]} is a decimal of ${wide[2]} digits (decimal256), which the engine reads wrong: cast it to at most ${DIGITS_MAX}`,
    );
  const columns: TopColumn[] = [];
  let at = 1; // after the root
  const skip = (): void => {
    let children = Number(rows[at++]?.[1] ?? 0);
    for (; children > 0 && at < rows.length; children--) skip();
  };
  while (at < rows.length) {
    const [name, , , logical, physical, converted] = rows[at] ?? [];
    // A mark of former versions, which the engine reads as a local time: it says UTC unless a newer one stands beside it.
    const isUtc = physical === 'INT96' || (logical === null && converted?.startsWith('TIMESTAMP_') === true);
    const none = logical === 'NullType()' && ({ kind: 'null', sql: 'NULL' } as const);
    columns.push({ name: name ?? '', isUtc, ...none });
    skip();
  }
  return columns;
}

type TopColumn = Partial<SourceColumn> & { readonly isUtc: boolean };

/** `isUtc`: moments that the engine takes for local times. */
function ownColumn({ name, type }: NamedType, zone: string | undefined, isUtc = false): SourceColumn {
  const sql = quoted(name);
  const moment = isUtc ? `CAST(${sql} AS TIMESTAMP) AT TIME ZONE 'UTC'` : sql;
  const zoned = { hasZone: true, needsZone: zone === undefined, moment };
  return { name, kind: kindOf(type), type, sql, zone, ...((isUtc || type === ZONED) && zoned) };
}

const ZONED = 'TIMESTAMP WITH TIME ZONE';

/** A column whose values are text. */
function textColumn(name: string, sql: string, isCell = false): SourceColumn {
  return { name, kind: 'text', type: 'VARCHAR', sql, isCell };
}

const NULL_SQL = 'CAST(NULL AS VARCHAR)';

/** A CSV, which the engine sorts in a table of its own. `open` opens it anew. */
export async function csvSource(
  engine: Engine,
  open: () => Promise<CsvTable>,
  what: string,
): Promise<Source> {
  const header = await open();
  await header.close();
  const { names } = header;
  return {
    what,
    async from() {
      const table = await engine.table([...names.map(() => 'VARCHAR' as const), 'DOUBLE'], what);
      for await (const page of (await open()).rows())
        await table.append(Array.from(page.marks.subarray(0, page.rows).keys()), (place, some) =>
          // An empty cell is no value.
          some.map((row) => (place < names.length ? textIn(page, row, place) || undefined : page.marks[row])),
        );
      await table.close();
      return table.name;
    },
    columns: names.map((name, place) => textColumn(name, `c${place}`, true)),
    mark: `c${names.length}`,
  };
}

export async function querySource(
  engine: Engine,
  sql: string,
  what: string,
  zone: string | undefined,
): Promise<Source> {
  const query = sql.replace(/[\s;]+$/, '');
  const own = await engine.columnsOf(query, what);
  const from = `(${query}\n)`;
  const columns = await engine.columnsOf(`SELECT * FROM ${from}`, what);
  return {
    what,
    isSelect: true,
    from: () => from,
    columns: columns.map((column, at) => ({ ...ownColumn(column, zone), name: own[at]?.name ?? '' })),
  };
}

/**
 * The source with the columns that the path of its file says, if it lacks them: numbers, in the notation that a CSV has,
 * only as fields of a session. There an empty text is no value, as in a CSV.
 */
export function withPartitions(source: Source, partitions: readonly Partition[]): Source {
  const isCell = source.mark !== undefined;
  const added = partitions.filter(({ name }) => !source.columns.some((column) => column.name === name));
  const columns = added.map(({ name, value }): SourceColumn => {
    const isField = fieldOf(name) !== undefined;
    const own = value === '' && isField ? null : value;
    const ofPath = value === null ? NULL_SQL : textOf(value);
    const text = { ...textColumn(name, own === null ? NULL_SQL : textOf(own), isCell), ofPath };
    if (isCell || !isField) return text;
    if (own === null) return { ...text, kind: 'null' };
    return NUMBER.test(own.trim()) ? { ...text, kind: 'float', sql: `CAST(${text.sql} AS DOUBLE)` } : text;
  });
  return { ...source, columns: [...source.columns, ...columns] };
}

/** The fields of a session in a source; one without any value has the kind of its field, as in other files. */
export function fieldsOf({ columns }: Source) {
  return sessionFields(columns).map((column) => {
    const kind = column.field === 'sex' ? 'text' : 'float';
    return column.kind === 'null' ? { ...column, kind: kind as typeof column.kind } : column;
  });
}

/** The selection of a source: the session, the kept columns, the person and time, and more. */
export function selectionOf(source: Source, { keep, history, measured = [] }: RowColumns, form: KeptForm) {
  const list: string[] = [];
  const select = (sql: string): number => list.push(`${sql} AS s${list.length}`) - 1;
  // A column that the source lacks has no values.
  const columnNamed = (name: string): SourceColumn =>
    source.columns.find((one) => meaningOf(one.name) === meaningOf(name)) ?? textColumn(name, NULL_SQL);
  const selectNamed = (names: readonly string[], sqlOf: (column: SourceColumn) => string) =>
    new Map(names.map((name) => [name, select(sqlOf(columnNamed(name)))]));
  const fields = fieldsOf(source).map((field) => ({ ...field, at: select(fieldSql(field)) }));
  const kept = selectNamed(keep, (column) => keptSql(column, form));
  const person = history && select(textSql(columnNamed(history.person)));
  const moment = history && select(orderSql(columnNamed(history.order)));
  const times = history === undefined ? [] : [`${timeSql(columnNamed(history.order))} AS time`];
  const cells = selectNamed(namesBeside({ keep: [], measured }), fieldSql);
  const mark = source.mark === undefined ? undefined : select(source.mark);
  return { list, fields, kept, person, moment, times, cells, mark };
}

export type Selection = ReturnType<typeof selectionOf>;

/** One SELECT by person and time; whole numbers by their size. What is equal stays in the order in which it was read. */
export function sortedSql(rows: string, { person, moment }: Selection): string {
  const order = `s${person}, ${nightSql(`s${moment}`)}, TRY_CAST(s${moment} AS HUGEINT), time NULLS FIRST, s${moment}, n`;
  return `SELECT * EXCLUDE (time) FROM (SELECT *, CAST(row_number() OVER () AS DOUBLE) AS n FROM (${rows})) ORDER BY ${order}`;
}

/** A field of a session, or a measured value: lists and numbers as such, the rest as text. */
function fieldSql(column: SourceColumn & { readonly isSeries?: boolean }): string {
  const { sql, kind, type, isSeries } = column;
  if (kind === 'text') return textSql(column);
  if (isSeries === true) return `CAST(${sql} AS ${type.startsWith('FLOAT[') ? 'FLOAT' : 'DOUBLE'}[])`;
  return `CAST(${sql} AS DOUBLE)`;
}

/** A person as text: whole numbers keep their digits. */
function textSql({ sql }: SourceColumn): string {
  return `CAST(${sql} AS VARCHAR)`;
}

/** A kept column as JSON; whole numbers keep their digits. In the form 'text' the engine casts it back to its type. */
function keptSql({ sql, kind, isCell, ofPath }: SourceColumn, form: KeptForm): string {
  const text = (own: string): string => `CAST(to_json(CAST(${own} AS VARCHAR)) AS VARCHAR)`;
  const number = (own: string): string =>
    `CASE WHEN isfinite(CAST(${own} AS DOUBLE)) THEN regexp_replace(CAST(CAST(${own} AS DOUBLE) AS VARCHAR), '\\.0$', '') END`;
  if (ofPath !== undefined) return `coalesce(${text(ofPath)}, 'null')`;
  if (isCell === true)
    return `CASE WHEN regexp_full_match(${sql}, '${NUMBER.source}') THEN ${sql} ELSE ${text(sql)} END`;
  let own = `CAST(to_json(${sql}) AS VARCHAR)`;
  if (kind === 'whole' || kind === 'decimal' || kind === 'boolean') own = `CAST(${sql} AS VARCHAR)`;
  else if (form === 'text' && kind === 'float')
    own = `CASE WHEN isfinite(${sql}) THEN CAST(${sql} AS VARCHAR) ELSE ${text(sql)} END`;
  else if (form === 'text' || kind === 'uuid' || kind === 'text') own = text(sql);
  else if (kind === 'float') own = number(sql);
  else if (kind === 'date' || kind === 'time') own = number(`epoch_us(${sql}) / 1000`);
  else if (kind === 'bytes') own = text(`lower(hex(${sql}))`);
  return `coalesce(${own}, 'null')`;
}

/** The night of a text as `nightOf` reads it; null for one that it refuses. */
function nightSql(text: string): string {
  const number = `TRY_CAST(${text} AS DOUBLE)`;
  const date = `TRY_CAST(left(trim(trim(${text}, E'\\t\\n\\r ')), 10) AS DATE)`;
  const written = `TRY_STRPTIME(CAST(CAST(${number} AS BIGINT) AS VARCHAR), '%Y%m%d')`;
  const dayOf = (own: string): string => `CAST(${own} AS DATE) - DATE '1970-01-01'`;
  const ofNumber = `WHEN ${number} >= 1e11 THEN floor(${number} / 864e5) WHEN ${number} >= 1e7 THEN ${dayOf(written)}`;
  return `CASE WHEN ${number} IS NULL THEN ${dayOf(date)} ${ofNumber} ELSE ${number} END`;
}

/** The night of a row as text that `nightOf` reads; times as the date in their zone. */
function orderSql(column: SourceColumn): string {
  const { sql, kind, zone, moment } = column;
  if (moment !== undefined) return `CAST(CAST(${inZone(moment, zone)} AS DATE) AS VARCHAR)`;
  if (kind === 'time') return `CAST(CAST(${sql} AS DATE) AS VARCHAR)`;
  return textSql(column);
}

/**
 * The time of a row as text, by which rows of one night are sorted; null if its night says as much. In UTC where that is
 * known: a clock that is set back shows an hour twice.
 */
function timeSql({ sql, kind, zone, moment }: SourceColumn): string {
  let own = 'NULL';
  if (kind === 'text') own = inZone(`CASE WHEN length(${sql}) > 10 THEN TRY_CAST(${sql} AS ${ZONED}) END`);
  else if (kind === 'time' && /^[a-z]/i.test(zone ?? ''))
    own = inZone(moment ?? `(${sql}) AT TIME ZONE ${textOf(zone ?? '')}`);
  else if (kind === 'time') own = moment === undefined ? sql : inZone(moment, zone);
  return `CAST(TRY(${own}) AS VARCHAR)`;
}

/** A time with a zone as the local time there. */
function inZone(sql: string, zone = 'UTC'): string {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? [];
  const utc = `((${sql}) AT TIME ZONE ${textOf(sign === undefined ? zone || 'UTC' : 'UTC')})`;
  return sign === undefined
    ? utc
    : `(${utc} ${sign} INTERVAL '${60 * Number(hours) + Number(minutes)} minutes')`;
}
