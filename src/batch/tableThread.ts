/** A thread that reads tables (tableReaders.ts). */
import { parentPort } from 'node:worker_threads';
import { messageOf } from '../base/errors.js';
import { OperatorError } from '../base/operatorError.js';
import { namesBeside } from './bodyPages.js';
import type { TableAnswer, TableRequest, TableTask } from './tableReaders.js';
import { SCALAR_NAMES, SERIES_NAMES } from './columnNames.js';
import { FILE_NAMES, isBroken, readingError } from './tableError.js';
import { TableRowReader, type TableRows } from './tableRows.js';

/** Each library is loaded only where it is needed: both take a while. */
async function* rowsOf({ path, format, options }: TableTask): AsyncGenerator<TableRows, void, undefined> {
  const reader = new TableRowReader(options);
  if (format === 'arrow') {
    const { arrowPieces } = await import('./arrowFile.js');
    for await (const piece of arrowPieces(path)) yield* reader.read(piece);
    return;
  }
  const { parquetRows } = await import('./parquetFile.js');
  const names = [...SERIES_NAMES.keys(), ...SCALAR_NAMES.keys(), ...namesBeside(options)];
  yield* parquetRows(path, names, reader);
}

const port = parentPort;
if (port === null) throw new Error('this is a thread of its own');
/** The file in hand; undefined behind its end, where rows may still be asked for. */
let file: { readonly rows: AsyncGenerator<TableRows>; readonly format: TableTask['format'] } | undefined;

function answer(rows: TableAnswer): void {
  const isRead = rows !== undefined && 'records' in rows;
  const buffers = isRead ? [rows.records.buffer, rows.lengths.buffer, rows.columns?.buffer] : [];
  port?.postMessage(
    rows,
    buffers.filter((buffer) => buffer instanceof ArrayBuffer),
  );
}

async function handle(request: TableRequest): Promise<void> {
  if (request !== 'next') {
    file = { rows: rowsOf(request), format: request.format };
    return;
  }
  if (file === undefined) return;
  const { rows, format } = file;
  try {
    const next = await rows.next();
    if (next.done === true) file = undefined;
    answer(next.done === true ? undefined : next.value);
  } catch (error) {
    file = undefined;
    if (isBroken(error)) throw error; // this thread ends: the next file has a decoder of its own
    const reason = readingError(error, FILE_NAMES[format]);
    answer({ failure: messageOf(reason), isOperators: reason instanceof OperatorError });
  }
}

// One after the other: a failure must be told before what follows it.
let last = Promise.resolve();
port.on('message', (request: TableRequest) => {
  last = last.then(() => handle(request));
});
