/** A thread that reads tables (tableReaders.ts). */
import { parentPort } from 'node:worker_threads';
import { messageOf } from '../base/errors.js';
import { OperatorError } from '../base/operatorError.js';
import type { TableAnswer, TableOpened, TableRequest, TableTask } from './tableReaders.js';
import { FILE_NAMES, isBroken, readingError } from './tableError.js';
import { TableRowReader, type TableRows } from './tableRows.js';

/** An open file. */
interface OpenTable extends TableOpened {
  /** Undefined if only its schema is requested. */
  readonly rows: AsyncGenerator<TableRows, void, undefined> | undefined;
}

/** Loads each library only when needed: both take a while. */
async function openTable({ path, format, options }: TableTask): Promise<OpenTable> {
  const schema = await schemaOf(path, format);
  if (options === undefined) return { schema, memory: 0, rows: undefined };
  const reader = new TableRowReader(options);
  if (format === 'arrow') return { schema, memory: 0, rows: arrowRows(path, reader) };
  const { openParquet } = await import('./parquetFile.js');
  return { schema, ...(await openParquet(path, options, reader)) };
}

async function schemaOf(path: string, format: TableTask['format']): Promise<Uint8Array> {
  if (format === 'parquet') {
    const { parquetSchema } = await import('./parquetFile.js');
    return parquetSchema(path);
  }
  const { arrowSchema } = await import('./arrowFile.js');
  return arrowSchema(path);
}

async function* arrowRows(path: string, reader: TableRowReader): AsyncGenerator<TableRows, void, undefined> {
  const { arrowPieces } = await import('./arrowFile.js');
  for await (const piece of arrowPieces(path)) yield* reader.read(piece);
}

const port = parentPort;
if (port === null) throw new Error('this is a thread of its own');
/** The rows of the current file; undefined after its end, when rows may still be requested. */
let rows: OpenTable['rows'] | undefined;
let format: TableTask['format'] = 'arrow';

function answer(said: TableOpened | TableAnswer): void {
  const isRead = said !== undefined && 'records' in said;
  const buffers = isRead ? [said.records.buffer, said.lengths.buffer, said.columns?.buffer] : [];
  port?.postMessage(
    said,
    buffers.filter((buffer) => buffer instanceof ArrayBuffer),
  );
}

async function handle(request: TableRequest): Promise<void> {
  try {
    if (request !== 'next') answer(await begin(request));
    else if (rows !== undefined) answer(await nextOf(rows));
  } catch (error) {
    rows = undefined;
    if (isBroken(error)) throw error; // this thread ends: the next file gets a new decoder
    const reason = readingError(error, FILE_NAMES[format]);
    answer({ failure: messageOf(reason), isOperators: reason instanceof OperatorError });
  }
}

async function begin(task: TableTask): Promise<TableOpened> {
  ({ format } = task);
  const { schema, memory, rows: its } = await openTable(task);
  rows = its;
  return { schema, memory };
}

async function nextOf(of: NonNullable<OpenTable['rows']>): Promise<TableRows | undefined> {
  const next = await of.next();
  if (next.done !== true) return next.value;
  rows = undefined;
  return undefined;
}

// One by one: a failure must be reported before what follows it.
let last = Promise.resolve();
port.on('message', (request: TableRequest) => {
  last = last.then(() => handle(request));
});
