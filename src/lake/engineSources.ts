import { runInNewContext } from 'node:vm';
import {
  BIGINT,
  DuckDBArrayType,
  DuckDBListType,
  DuckDBTypeId,
  VARCHAR,
  type DuckDBType,
} from '@duckdb/node-api';
import { Message, Type, type Field, type Schema } from 'apache-arrow';
import { SERIES_NAMES, fieldOf } from './columnNames.js';
import { quoted, textOf, type Engine, type NamedType } from './engine.js';
import { NamesError, TableError } from './errors.js';
import type { InputNames } from './inputNames.js';
import type { Partition } from './partitions.js';
import type { HistoryColumns } from './rowColumns.js';

/** A column of a table that the engine reads. */
export interface SourceColumn {
  /** As written in the input. */
  readonly name: string;
  /** What selects it. */
  readonly sql: string;
  readonly type: DuckDBType;
  /** Whether it holds cells of CSV: numbers and lists as text, and nothing as an empty one. */
  readonly isCell: boolean;
  /** The zone in whose dates its times are; undefined for UTC. */
  readonly zone?: string | undefined;
  /** Why its numbers are not what they seem. */
  readonly fault?: string | undefined;
}

/** A table that the engine reads. */
export interface Source {
  /** For messages. */
  readonly what: string;
  /** What stands after FROM. */
  readonly from: string;
  readonly columns: readonly SourceColumn[];
  /** The same for CSV with line breaks in quotes. */
  readonly fromWithBreaks?: string | undefined;
  /** A condition for rows with more or fewer cells than the header. */
  readonly isMisshapen?: string | undefined;
  /** How many rows it says it has; undefined if only reading can tell. */
  readonly rows?: number | undefined;
}

/** A path as the engine's pattern for nothing but itself. */
export function patternOf(path: string): string {
  return path.replaceAll(/[[*?]/g, '[$&]');
}

export async function parquetSource(engine: Engine, path: string, what: string): Promise<Source> {
  const file = textOf(patternOf(path));
  const from = `read_parquet(${file}, hive_partitioning = false, union_by_name = false)`;
  const columns = await engine.columnsOf(`SELECT * FROM ${from}`, what);
  const names = await topNames(engine, file, what);
  const fields = await arrowFields(engine, file, what);
  const [[rows] = []] = await engine.texts(`SELECT sum(num_rows) FROM parquet_file_metadata(${file})`, what);
  return {
    what,
    from,
    columns: columns.map((column, at) => ownColumn(column, names[at], fields)),
    rows: Number(rows),
  };
}

/** The engine renames the second of two columns that differ by case: the file's own names, in its order. */
async function topNames(engine: Engine, file: string, what: string): Promise<string[]> {
  const rows = await engine.texts(
    `SELECT name, coalesce(num_children, 0) FROM parquet_schema(${file})`,
    what,
  );
  const names: string[] = [];
  let at = 1; // after the root
  const skip = (): void => {
    let children = Number(rows[at++]?.[1] ?? 0);
    for (; children > 0 && at < rows.length; children--) skip();
  };
  while (at < rows.length) {
    names.push(rows[at]?.[0] ?? '');
    skip();
  }
  return names;
}

/** Before a message of Arrow: −1, and its length. */
const PREFIX_BYTES = 8;
const DECODING_MS = 5_000;

/** What Arrow's writers say of the columns beside Parquet's own schema: zones of times, and durations. */
async function arrowFields(engine: Engine, file: string, what: string): Promise<readonly Field[]> {
  const query = `SELECT decode(value) FROM parquet_kv_metadata(${file}) WHERE decode(key) = 'ARROW:schema'`;
  const [[text] = []] = await engine.texts(query, what);
  if (text === undefined || text === null) return [];
  const bytes = Buffer.from(text, 'base64').subarray(PREFIX_BYTES);
  const decode = (): readonly Field[] =>
    ((Message.decode(bytes).header() as Schema | undefined)?.fields ?? []) as Field[];
  try {
    // The decoder takes a damaged count for true, and may count for hours.
    return runInNewContext('decode()', { decode }, { timeout: DECODING_MS }) as readonly Field[];
  } catch {
    throw new TableError(`${what} can't be read: what Arrow's writer says of its columns is damaged`);
  }
}

function ownColumn(
  { name, type }: NamedType,
  own: string | undefined,
  fields: readonly Field[],
): SourceColumn {
  const column = { name: own ?? name, sql: quoted(name), type, isCell: false };
  const field = fields.find((one) => one.name === column.name);
  const zone = (field?.type as { readonly timezone?: string | null } | undefined)?.timezone ?? undefined;
  const inner = (field?.type.children as Field[] | null | undefined)?.[0]?.typeId;
  const isDuration = field?.typeId === Type.Duration || inner === Type.Duration;
  return isDuration ? { ...column, zone, fault: 'a duration' } : { ...column, zone };
}

/** What a CSV is opened with. */
export interface CsvOptions {
  readonly encoding?: string | undefined;
  readonly compression?: 'gzip' | 'zstd' | undefined;
  readonly rowBytesMax: number;
}

const BUFFER_BYTES = 8 << 20;
const DELIMITERS = [',', ';', '\t', '|'];
/** A row with more cells than the header and these ends the run. */
const CELLS_BEYOND = 32;

export async function csvSource(
  engine: Engine,
  path: string,
  what: string,
  { encoding = 'utf-8', compression, rowBytesMax }: CsvOptions,
): Promise<Source> {
  const file = textOf(patternOf(path));
  const shared = [
    'auto_detect = false',
    'hive_partitioning = false',
    `encoding = ${textOf(encoding)}`,
    `compression = ${textOf(compression ?? 'none')}`,
    `max_line_size = ${rowBytesMax}`,
    `buffer_size = ${Math.max(BUFFER_BYTES, 2 * rowBytesMax)}`,
  ];
  const line = `read_csv(${file}, columns = {'line': 'VARCHAR'}, header = false, delim = '\u0001', quote = '', escape = '', ${shared.join(', ')})`;
  const [[head] = []] = await engine.texts(`SELECT line FROM ${line} LIMIT 1`, what);
  if (head === undefined || head === null) return { what, from: '(SELECT 1 LIMIT 0)', columns: [] };
  const { delimiter, names } = headerOf(head.replace(/^\uFEFF/, '').replace(/\r$/, ''));
  const cells = [...names, ...Array.from({ length: CELLS_BEYOND }, () => '')];
  const columns = cells.map((_, index) => `'c${index}': 'VARCHAR'`).join(', ');
  const options = [
    `columns = {${columns}}`,
    'header = false',
    'skip = 1',
    `delim = ${textOf(delimiter)}`,
    `quote = '"'`,
    `escape = '"'`,
    `nullstr = '\u0001'`, // so that a cell that is not there differs from an empty one
    'null_padding = true',
    ...shared,
  ];
  return {
    what,
    from: `read_csv(${file}, ${options.join(', ')})`,
    fromWithBreaks: `read_csv(${file}, parallel = false, ${options.join(', ')})`,
    columns: names.map((name, index) => ({ name, sql: `c${index}`, type: VARCHAR, isCell: true })),
    isMisshapen: `(c${names.length - 1} IS NULL OR c${names.length} IS NOT NULL)`,
  };
}

/** Splits the first line at the delimiter that finds the most fields of a session. */
function headerOf(line: string): { readonly delimiter: string; readonly names: readonly string[] } {
  const ways = DELIMITERS.map((delimiter) => ({ delimiter, names: cellsOf(line, delimiter) }));
  const known = (names: readonly string[]): number =>
    names.filter((name) => fieldOf(name.trim()) !== undefined).length;
  const [best] = ways.toSorted((a, b) => known(b.names) - known(a.names) || b.names.length - a.names.length);
  return best ?? { delimiter: ',', names: [line] };
}

function cellsOf(line: string, delimiter: string): string[] {
  const cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    const letter = line[at] ?? '';
    if (letter === '"' && isQuoted && line[at + 1] === '"') cell += line[++at] ?? '';
    else if (letter === '"') isQuoted = !isQuoted;
    else if (letter === delimiter && !isQuoted) {
      cells.push(cell);
      cell = '';
    } else cell += letter;
  }
  return [...cells, cell];
}

export async function querySource(engine: Engine, sql: string, what: string): Promise<Source> {
  const query = sql.replace(/[\s;]+$/, '');
  const own = await engine.columnsOf(query, what);
  const from = `(${query}\n)`;
  const columns = await engine.columnsOf(`SELECT * FROM ${from}`, what);
  return { what, from, columns: columns.map((column, index) => ownColumn(column, own[index]?.name, [])) };
}

/** The source with the columns that the path of its file says, if it lacks them. */
export function withPartitions(source: Source, partitions: readonly Partition[] = []): Source {
  const [first] = source.columns;
  const isCell = first?.isCell === true;
  const added = partitions.filter(({ name }) => !source.columns.some((column) => column.name === name));
  const columns = added.map(({ name, value, isNumber }): SourceColumn => {
    const type = isNumber && !isCell ? 'BIGINT' : 'VARCHAR';
    const sql = `CAST(${value === null ? 'NULL' : textOf(value)} AS ${type})`;
    return { name, sql, type: isNumber && !isCell ? BIGINT : VARCHAR, isCell };
  });
  return { ...source, columns: [...source.columns, ...columns] };
}

const { ENUM, SQLNULL, UUID, DATE, FLOAT, DOUBLE, DECIMAL } = DuckDBTypeId;
const WHOLE: ReadonlySet<DuckDBTypeId> = idsOf(
  'TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT',
);
const TIMES: ReadonlySet<DuckDBTypeId> = idsOf('TIMESTAMP TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS');
const { TIMESTAMP_TZ } = DuckDBTypeId;

function idsOf(names: string): Set<DuckDBTypeId> {
  return new Set(names.split(' ').map((name) => DuckDBTypeId[name as keyof typeof DuckDBTypeId]));
}

function isNumber({ typeId }: DuckDBType): boolean {
  return WHOLE.has(typeId) || typeId === FLOAT || typeId === DOUBLE || typeId === DECIMAL;
}

function isText({ typeId }: DuckDBType): boolean {
  return typeId === DuckDBTypeId.VARCHAR || typeId === ENUM;
}

/** How a field of a session is selected, and in which form it comes. */
export interface SelectedField {
  readonly field: string;
  readonly sql: string;
  readonly form: 'floats' | 'doubles' | 'number' | 'text';
}

/** @throws NamesError if the column's type can't be what its name says */
export function selectedField({ name, sql, type, isCell, fault }: SourceColumn): SelectedField | undefined {
  const field = fieldOf(name);
  if (field === undefined) return undefined;
  if (isCell) return { field, sql, form: 'text' };
  const refuse = (what: string, remedy: string): never => {
    throw new NamesError(
      `the column ${name} is of the type ${fault ?? String(type)}, which ${what}: ${remedy}`,
    );
  };
  if (SERIES_NAMES.has(field)) {
    const inner =
      type instanceof DuckDBListType || type instanceof DuckDBArrayType ? type.valueType : undefined;
    if (type.typeId === SQLNULL) return { field, sql: `CAST(NULL AS DOUBLE[])`, form: 'doubles' };
    if (isText(type)) return { field, sql: `CAST(${sql} AS VARCHAR)`, form: 'text' };
    if (inner === undefined || fault !== undefined || !(isNumber(inner) || inner.typeId === SQLNULL))
      return refuse('can hold no samples', 'make a list of numbers of it, --sql can');
    if (inner.typeId === FLOAT) return { field, sql: `CAST(${sql} AS FLOAT[])`, form: 'floats' };
    return { field, sql: `CAST(${sql} AS DOUBLE[])`, form: 'doubles' };
  }
  if (field === 'sex') {
    if (!isText(type) && type.typeId !== SQLNULL) return refuse('is no sex', 'write M or F');
    return { field, sql: `CAST(${sql} AS VARCHAR)`, form: 'text' };
  }
  if (fault !== undefined || !(isNumber(type) || type.typeId === SQLNULL))
    return refuse('is no number', 'CAST it with --sql, times asleep into seconds');
  return { field, sql: `CAST(${sql} AS DOUBLE)`, form: 'number' };
}

/** The person of a row as text: whole numbers keep their digits. */
export function personSql({ sql, isCell }: SourceColumn): string {
  return isCell ? `nullif(${sql}, '')` : `CAST(${sql} AS VARCHAR)`;
}

/** The night of a row as text that `nightOf` reads; times as the date in their zone. */
export function orderSql({ sql, type, isCell, zone }: SourceColumn): string {
  if (isCell) return `nullif(${sql}, '')`;
  const { typeId } = type;
  if (TIMES.has(typeId)) return `CAST(CAST(${sql} AS DATE) AS VARCHAR)`;
  if (typeId === TIMESTAMP_TZ) return `CAST(CAST(${inZone(sql, zone)} AS DATE) AS VARCHAR)`;
  if (typeId === FLOAT || typeId === DOUBLE)
    return `CASE WHEN ${sql} = trunc(${sql}) AND abs(${sql}) < 1e18 THEN CAST(CAST(${sql} AS BIGINT) AS VARCHAR) ELSE CAST(${sql} AS VARCHAR) END`;
  return `CAST(${sql} AS VARCHAR)`;
}

/** A time with a zone as the local time there. */
function inZone(sql: string, zone = 'UTC'): string {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? [];
  const utc = `(${sql} AT TIME ZONE ${textOf(sign === undefined ? zone || 'UTC' : 'UTC')})`;
  return sign === undefined
    ? utc
    : `(${utc} ${sign} INTERVAL '${60 * Number(hours) + Number(minutes)} minutes')`;
}

/** The names of a source, and what each column can be used for. */
export function namesOfSource({ columns }: Source): InputNames | undefined {
  if (columns.length === 0) return undefined;
  const names = columns.map(({ name }) => name);
  return {
    thing: 'column',
    kinds: { request: [], session: names, target: [], measurement: [] },
    beside: names,
    unfit(name, as) {
      const column = columns.find((one) => one.name === name);
      if (column === undefined || column.isCell || USES[as].isFit(column.type)) return undefined;
      return `the column ${name} is of the type ${String(column.type)}, which ${USES[as].advice(column.type)}`;
    },
    misfit: () => {
      for (const column of columns) selectedField(column);
    },
  };
}

const USES: Readonly<
  Record<keyof HistoryColumns, { isFit(type: DuckDBType): boolean; advice(type: DuckDBType): string }>
> = {
  person: {
    isFit: (type) =>
      isText(type) || WHOLE.has(type.typeId) || type.typeId === UUID || type.typeId === SQLNULL,
    advice: ({ typeId }) =>
      `can't say whose a row is: make text or whole numbers of it${typeId === FLOAT || typeId === DOUBLE ? ' (pandas makes floats of whole numbers beside missing ones: astype("Int64"))' : ''}`,
  },
  order: {
    isFit: (type) =>
      isText(type) ||
      WHOLE.has(type.typeId) ||
      [FLOAT, DOUBLE, DATE, SQLNULL, TIMESTAMP_TZ].includes(type.typeId) ||
      TIMES.has(type.typeId),
    advice: () =>
      "can't say when a row was: make a timestamp of it, a date, milliseconds since 1970, or text of ISO 8601",
  },
};
