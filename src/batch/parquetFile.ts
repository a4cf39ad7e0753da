import { openAsBlob } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { ReadableStream } from 'node:stream/web';
import { Field, RecordBatch, Schema, Struct, makeData, type Data } from 'apache-arrow';
import { parseRecordBatch } from 'arrow-js-ffi';
import { ParquetFile, wasmMemory, type RecordBatch as DecodedBatch } from 'parquet-wasm';
import { SERIES_NAMES, fieldOf, type NameReading } from './columnNames.js';
import { openCodecs } from './parquetCodecs.js';
import { chunksOf, readFooter, type Footer } from './parquetFooter.js';
import { ListColumn, listFormOf, rowsTogether, type ListForm } from './parquetLists.js';
import { memoryOf } from './parquetMemory.js';
import { PageBodies } from './parquetPages.js';
import { namesBeside, type RowColumns } from './rowColumns.js';
import { wholeDecimals } from './tableDecimals.js';
import type { TableRowReader, TableRows } from './tableRows.js';

/** The schema of a Parquet file, as an Arrow stream without rows. @throws TableError */
export async function parquetSchema(path: string): Promise<Uint8Array> {
  const handle = await open(path);
  try {
    readFooter({ fd: handle.fd, size: (await handle.stat()).size });
  } finally {
    await handle.close();
  }
  const file = await ParquetFile.fromFile(await openAsBlob(path));
  const schema = file.schema().intoIPCStream();
  file.free();
  return schema;
}

/** An open Parquet file. */
export interface OpenParquet {
  /** Most memory that reading it takes, in bytes. */
  readonly memory: number;
  readonly rows: AsyncGenerator<TableRows, void, undefined>;
}

/**
 * Opens a file whose rows `reader` reads, with those needed columns that it has. Refuses, by the file's own metadata,
 * what can't be read. @throws TableError
 */
export async function openParquet(
  path: string,
  columns: RowColumns,
  reader: TableRowReader,
): Promise<OpenParquet> {
  const handle = await open(path);
  try {
    const file = { fd: handle.fd, size: (await handle.stat()).size };
    const footer = readFooter(file);
    const names = footer.columns.map(({ element }) => element.name);
    const beside = new Set(namesBeside(columns));
    const forms = listForms(footer, beside, columns.names);
    const others = names.filter(
      (name) => !forms.has(name) && (beside.has(name) || fieldOf(name, columns.names) !== undefined),
    );
    const memory = memoryOf(file, footer, { lists: [...forms.keys()], others });
    const source = { file, codecs: await openCodecs(), bodies: new PageBodies(file) };
    const chunks = new Map([...forms.keys()].map((name) => [name, chunksOf(footer, [name], file).flat()]));
    const lists = new Map(
      [...forms].map(([name, form]) => [name, new ListColumn(source, chunks.get(name) ?? [], form)]),
    );
    const together = rowsTogether([...chunks.values()].flat());
    const bytesPerRow = file.size / Math.max(1, footer.rows);
    const join: Join = (numRows, batch) =>
      reader.read({ batch: joined(numRows, lists, batch), bytesRead: Math.round(numRows * bytesPerRow) });
    const rows =
      others.length > 0
        ? otherRows(path, { columns: others, batchSize: together }, join)
        : listRows(footer.rows, together, join);
    return { memory, rows: closing(handle, rows) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function* closing(
  handle: FileHandle,
  rows: AsyncIterable<TableRows>,
): AsyncGenerator<TableRows, void, undefined> {
  try {
    yield* rows;
  } finally {
    await handle.close();
  }
}

/** The columns that are plain lists of numbers, which is most of a file; by name. */
function listForms(
  { columns }: Footer,
  beside: ReadonlySet<string>,
  names: NameReading,
): ReadonlyMap<string, ListForm> {
  const forms = new Map<string, ListForm>();
  for (const column of columns) {
    const { name } = column.element;
    const form = listFormOf(column);
    const isSeries = SERIES_NAMES.has(fieldOf(name, names) ?? '');
    if (isSeries && form !== undefined && !beside.has(name)) forms.set(name, form);
  }
  return forms;
}

/** Joins rows of the other columns to as many lists. */
type Join = (numRows: number, batch?: RecordBatch) => Iterable<TableRows>;

async function* listRows(
  rows: number,
  together: number,
  join: Join,
): AsyncGenerator<TableRows, void, undefined> {
  for (let row = 0; row < rows; row += together) yield* join(Math.min(together, rows - row));
}

/** Reads the other columns, of every type, and joins the lists to them. */
async function* otherRows(
  path: string,
  options: { columns: string[]; batchSize: number },
  join: Join,
): AsyncGenerator<TableRows, void, undefined> {
  const file = await ParquetFile.fromFile(await openAsBlob(path));
  const stream = (await file.stream(options)) as ReadableStream<DecodedBatch>;
  for await (const decoded of stream) yield* decodedRows(decoded, join);
  file.free();
}

/** Reads a batch in the decoder's memory, synchronously, before the decoder moves it. */
function decodedRows(decoded: DecodedBatch, join: Join): TableRows[] {
  const place = decoded.intoFFI();
  try {
    const { buffer } = wasmMemory() as WebAssembly.Memory;
    const batch = wholeDecimals(parseRecordBatch(buffer, place.arrayAddr(), place.schemaAddr(), false));
    return [...join(batch.numRows, batch)];
  } finally {
    place.free();
  }
}

/** The next rows of the lists, with the columns of `batch`. */
function joined(length: number, lists: ReadonlyMap<string, ListColumn>, batch?: RecordBatch): RecordBatch {
  const fields = [...(batch?.schema.fields ?? [])];
  const children: Data[] = [...(batch?.data.children ?? [])];
  for (const [name, column] of lists) {
    const data = column.take(length);
    fields.push(new Field(name, data.type, true));
    children.push(data);
  }
  const data = makeData({ type: new Struct(fields), length, nullCount: 0, children });
  return new RecordBatch(new Schema(fields), data);
}
