/** The streams of an Arrow input, each known to be whole. */
import { DataType, Message, type Field } from 'apache-arrow';
import { OperatorError } from '../../base/errors.js';
import { TableError } from '../errors.js';

/** Precedes the metadata of a message: -1 and the length; a length of 0 ends the stream. */
const PREFIX_BYTES = 8;
const CONTINUATION = -1;
/** The first bytes of Arrow's file format. */
const FILE_MARK = 'ARROW1';

type Take = (length: number) => Promise<Buffer>;

/**
 * The consecutive Arrow streams in `input`, each read to its end before the next is requested. The library reads such
 * an input too (`readAll`), but waits for bytes after the end of a stream, which arrive only after the stream is
 * answered. With `isOnly` there is one, whose end mark comes once nothing follows: the library stops there.
 * @throws TableError if a stream breaks off; with `isOnly` if another one follows, or there is none
 */
export async function* arrowStreams(
  input: AsyncIterable<Uint8Array>,
  isOnly = false,
): AsyncGenerator<AsyncIterable<Uint8Array>, void, undefined> {
  const chunks = input[Symbol.asyncIterator]();
  let rest = Buffer.alloc(0);
  const has = async (length: number): Promise<boolean> => {
    const pieces: Uint8Array[] = [rest];
    for (let bytes = rest.length; bytes < length;) {
      const { done, value } = await chunks.next();
      if (done === true) return false;
      pieces.push(value);
      bytes += value.length;
    }
    if (pieces.length > 1) rest = Buffer.concat(pieces);
    return true;
  };
  /** @throws TableError at the end of the input */
  const take: Take = async (length) => {
    if (!(await has(length))) throw new TableError('the Arrow stream ends too early');
    const bytes = rest.subarray(0, length);
    rest = rest.subarray(length);
    return bytes;
  };
  const checkEnd = async (): Promise<void> => {
    if (isOnly && (await has(1)))
      throw new TableError('another Arrow stream follows the first one: read both with --tables');
  };
  if (isOnly && !(await has(1))) throw new TableError('standard input is empty: it holds no Arrow stream');
  while (await has(1)) yield oneStream(take, checkEnd);
}

/** The bytes of one stream, up to its end mark. @throws OperatorError for the file format, TableError, as `checkEnd` */
async function* oneStream(
  take: Take,
  checkEnd: () => Promise<void>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let columns: readonly Field[] = [];
  for (;;) {
    const prefix = await take(PREFIX_BYTES);
    if (prefix.toString('latin1').startsWith(FILE_MARK))
      throw new OperatorError(
        "Arrow's file format is read from its end: make Parquet of it, or pipe a stream",
      );
    const length = prefix.readInt32LE(4);
    if (prefix.readInt32LE(0) !== CONTINUATION || length < 0)
      throw new TableError("what follows is no message of Arrow's streaming format (version 1)");
    if (length === 0) await checkEnd();
    yield prefix;
    if (length === 0) return;
    const metadata = await take(length);
    yield metadata;
    const message = Message.decode(metadata);
    if (message.isSchema()) columns = message.header().fields;
    if (message.isRecordBatch()) checkRows(message.header(), columns);
    yield await take(message.bodyLength);
  }
}

/** @throws TableError if a column has not as many rows as its batch: the library leaves rows out, or fills them up */
function checkRows({ length, nodes }: Batch, columns: readonly Field[]): void {
  let at = 0;
  for (const { name, type } of columns) {
    if (nodes[at]?.length !== length)
      throw new TableError(
        `the Arrow stream is damaged: the column ${name} has not as many rows as its batch`,
      );
    at += nodesOf(type);
  }
}

type Batch = Readonly<{ length: number; nodes: readonly { readonly length: number }[] }>;

/** The nodes of a column in a batch: its own, and those of the columns within it. */
function nodesOf(type: DataType): number {
  const inner: readonly Field[] = DataType.isDictionary(type) ? [] : (type.children ?? []);
  return inner.reduce((sum, field) => sum + nodesOf(field.type as DataType), 1);
}
