import type { DuckDBDataChunk } from '@duckdb/node-api';
import { TableError } from '../errors.js';
import type { Engine, NamedType } from './engine.js';
import type { Partition } from './inputs.js';
import { fieldOf } from './names.js';
import type { KeptForm } from './page.js';
import { NO_CELL, patternOf, quoted, textOf } from './sql.js';
import { NUMBER, kindOf, type TableColumn } from './tableColumns.js';

/** How SQL selects from Parquet, CSV and queries. */

/** A column of a table that the engine reads. */
export interface SourceColumn extends TableColumn {
  /** The expression that selects it, and the engine's name of its type. */
  readonly sql: string;
  readonly type: string;
  /** The zone whose dates count, of times with one. */
  readonly zone?: string | undefined;
}

/** A table that the engine reads. */
export interface Source {
  /** For messages. */
  readonly what: string;
  /** The table's place in SQL: it stands after FROM. */
  readonly from: string;
  readonly columns: readonly SourceColumn[];
  /** The same for CSV with line breaks in quotes, or long rows. @throws TableError if a quote is not closed */
  readonly slowly?: () => Promise<string>;
  /** A number for rows that are bad: 1 for more or fewer cells than the header, 2 for too many bytes, else 0. */
  readonly isMisshapen?: string | undefined;
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
  const names = await topNames(engine, file, what);
  const [[rows] = []] = await engine.texts(`SELECT sum(num_rows) FROM parquet_file_metadata(${file})`, what);
  return {
    what,
    from,
    columns: columns.map(({ type }, at) => ownColumn({ name: names[at] ?? '', type }, columns[at], zone)),
    rows: Number(rows),
  };
}

/** Most digits of the engine's decimals. */
const DIGITS_MAX = 38;

/** The engine renames the second of two columns that differ by case: the file's own names, in its order. */
async function topNames(engine: Engine, file: string, what: string): Promise<string[]> {
  const rows = await engine.texts(
    `SELECT name, coalesce(num_children, 0), precision FROM parquet_schema(${file})`,
    what,
  );
  const wide = rows.find(([, , digits]) => Number(digits) > DIGITS_MAX);
  if (wide !== undefined)
    throw new TableError(
      `${what}: the column ${wide[0]} is a decimal of ${wide[2]} digits (decimal256), which the engine reads wrong: cast it to at most ${DIGITS_MAX}`,
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

/** `selected` is the column as the engine names it. */
function ownColumn(
  { name, type }: NamedType,
  selected: NamedType | undefined,
  zone: string | undefined,
): SourceColumn {
  const needsZone = type === ZONED && zone === undefined;
  const sql = quoted(selected?.name ?? name);
  return { name, kind: kindOf(type), typeName: type, needsZone, sql, type, zone };
}

const ZONED = 'TIMESTAMP WITH TIME ZONE';

/** A column whose values are text. */
function textColumn(name: string, sql: string, isCell: boolean): SourceColumn {
  return { name, kind: 'text', typeName: 'VARCHAR', sql, type: 'VARCHAR', isCell };
}

/** How a CSV is opened. */
export interface CsvOptions {
  readonly encoding?: string | undefined;
  readonly compression?: 'gzip' | 'zstd' | undefined;
  readonly rowBytesMax: number;
}

const BUFFER_BYTES = 8 << 20;
/** If a row does not fit into that. */
const LONG_BYTES = 64 << 20;
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
  // A longer row than a body may be costs itself; one that the buffers can't hold, the file.
  const readCsv = (columns: string, bytes: number, ...more: readonly string[]): string => {
    const bytesMax = Math.max(bytes, 2 * rowBytesMax);
    const all = [
      file,
      `columns = {${columns}}`,
      'auto_detect = false',
      'hive_partitioning = false',
      `encoding = ${textOf(encoding)}`,
      `compression = ${textOf(compression ?? 'none')}`,
      `max_line_size = ${bytesMax}`,
      `buffer_size = ${bytesMax}`,
      ...more,
    ];
    return `read_csv(${all.join(', ')})`;
  };
  const lines = (bytes: number): string =>
    `SELECT line FROM ${readCsv("'line': 'VARCHAR'", bytes, `header = false, delim = '', quote = '', escape = '', strict_mode = false`)}`;
  const [[head] = []] = await engine.texts(`${lines(BUFFER_BYTES)} LIMIT 1`, what);
  if (head === undefined || head === null) return { what, from: '(SELECT 1 LIMIT 0)', columns: [] };
  if (head.startsWith('\ufffe'))
    throw new TableError(
      `${what} is UTF-16 big endian, which is not read: convert it (iconv -f UTF-16 -t UTF-8)`,
    );
  const { delimiter, names } = headerOf(head.replace(/^\uFEFF/, '').replace(/\r$/, ''));
  const cells = [...names, ...Array.from({ length: CELLS_BEYOND }, () => '')];
  const columns = cells.map((_, index) => `'c${index}': 'VARCHAR'`).join(', ');
  const rows = (bytes: number, ...more: readonly string[]): string =>
    readCsv(
      columns,
      bytes,
      'header = false',
      'skip = 1',
      `delim = ${textOf(delimiter)}`,
      `quote = '"'`,
      `escape = '"'`,
      `nullstr = '${NO_CELL}'`, // so that a cell that is not there differs from an empty one
      'null_padding = true',
      ...more,
    );
  const bytes = names.map((_, index) => `coalesce(strlen(c${index}), 0)`).join(' + ');
  return {
    what,
    from: rows(BUFFER_BYTES),
    async slowly() {
      const texts = (chunk: DuckDBDataChunk) => chunk.getColumnValues(0) as readonly (string | null)[];
      await checkClosed(engine.chunks(lines(LONG_BYTES), what, texts), delimiter, what);
      return rows(LONG_BYTES, 'parallel = false');
    },
    columns: names.map((name, index) => textColumn(name, `c${index}`, true)),
    isMisshapen: `CASE WHEN c${names.length - 1} IS NULL OR c${names.length} IS NOT NULL THEN 1 WHEN ${bytes} > ${rowBytesMax} THEN 2 ELSE 0 END`,
  };
}

/** On one thread the engine loses what follows a quote that is not closed. @throws TableError */
async function checkClosed(
  chunks: AsyncIterable<readonly (string | null)[]>,
  delimiter: string,
  what: string,
): Promise<void> {
  let [line, opened] = [0, 0];
  for await (const texts of chunks)
    for (const text of texts) {
      line++;
      let before = delimiter;
      if (opened > 0 || text?.includes('"') === true)
        for (const letter of text ?? '') {
          if (letter !== '"') before = letter;
          else if (opened > 0) [opened, before] = [0, letter];
          else if (before === delimiter || before === '"') opened = line;
        }
    }
  if (opened > 0)
    throw new TableError(
      `${what} is no CSV in line ${opened}: check its quotes, one is not closed (empty lines are not counted)`,
    );
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
  return { what, from, columns: own.map((column, index) => ownColumn(column, columns[index], zone)) };
}

/** The source with the columns that the path of its file says, if it lacks them: numbers only as fields of a session. */
export function withPartitions(source: Source, partitions: readonly Partition[]): Source {
  const isCell = source.isMisshapen !== undefined;
  const added = partitions.filter(({ name }) => !source.columns.some((column) => column.name === name));
  const columns = added.map(({ name, value }): SourceColumn => {
    const text = textColumn(name, value === null ? 'CAST(NULL AS VARCHAR)' : textOf(value), isCell);
    if (isCell || fieldOf(name) === undefined || Number.isNaN(Number(value ?? 0))) return text;
    return { ...text, kind: 'float', sql: `CAST(${text.sql} AS DOUBLE)` };
  });
  return { ...source, columns: [...source.columns, ...columns] };
}

/** Whether samples come as the engine's FLOAT, else as DOUBLE. */
export function hasFloats({ type }: SourceColumn): boolean {
  return /^FLOAT\[\d*\]$/.test(type);
}

/** A field of a session: lists and numbers as such, the rest as text. */
export function fieldSql(column: SourceColumn & { readonly isSeries: boolean }): string {
  const { sql, kind, isCell, isSeries } = column;
  if (isCell === true) return sql;
  if (kind === 'text') return `CAST(${sql} AS VARCHAR)`;
  if (isSeries) return `CAST(${sql} AS ${hasFloats(column) ? 'FLOAT' : 'DOUBLE'}[])`;
  return `CAST(${sql} AS DOUBLE)`;
}

/** A measured value: a number or a text. */
export function cellSql({ sql, kind }: SourceColumn): string {
  return kind === 'text' ? `CAST(${sql} AS VARCHAR)` : `CAST(${sql} AS DOUBLE)`;
}

/** A kept column as JSON; whole numbers keep their digits. In the form 'text' the engine casts it back to its type. */
export function keptSql({ sql, kind, isCell }: SourceColumn, form: KeptForm): string {
  const text = (own: string): string => `CAST(to_json(CAST(${own} AS VARCHAR)) AS VARCHAR)`;
  const number = (own: string): string => {
    const digits = `regexp_replace(CAST(CAST(${own} AS DOUBLE) AS VARCHAR), '\\.0$', '')`;
    const other = form === 'text' ? text(own) : 'NULL';
    return `CASE WHEN isfinite(CAST(${own} AS DOUBLE)) THEN ${digits} ELSE ${other} END`;
  };
  if (isCell === true) {
    if (form === 'text') return text(`nullif(${sql}, '')`);
    return `CASE WHEN ${sql} = '' THEN NULL WHEN regexp_full_match(${sql}, '${NUMBER.source}') THEN ${sql} ELSE ${text(sql)} END`;
  }
  let own = `CAST(to_json(${sql}) AS VARCHAR)`;
  if (kind === 'whole' || kind === 'boolean') own = `CAST(${sql} AS VARCHAR)`;
  else if (kind === 'float') own = number(sql);
  else if (form === 'text' || kind === 'uuid' || kind === 'text') own = text(sql);
  else if (kind === 'date' || kind === 'time') own = number(`epoch_us(${sql}) / 1000`);
  else if (kind === 'bytes') own = text(`lower(hex(${sql}))`);
  else if (kind === 'decimal') own = number(sql);
  return `coalesce(${own}, 'null')`;
}

/** The person of a row as text: whole numbers keep their digits. */
export function personSql({ sql, isCell }: SourceColumn): string {
  return isCell === true ? `nullif(${sql}, '')` : `CAST(${sql} AS VARCHAR)`;
}

/** The night of a row as text that `nightOf` reads; times as the date in their zone. */
export function orderSql({ sql, type, kind, isCell, zone }: SourceColumn): string {
  if (isCell === true) return `nullif(${sql}, '')`;
  if (type === ZONED) return `CAST(CAST(${inZone(sql, zone)} AS DATE) AS VARCHAR)`;
  if (kind === 'time') return `CAST(CAST(${sql} AS DATE) AS VARCHAR)`;
  if (kind === 'float')
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
