import { Message } from 'apache-arrow';
import { TableError } from './errors.js';

/** Precedes the metadata of a message: -1 and the length; a length of 0 ends the stream. */
const PREFIX_BYTES = 8;
const CONTINUATION = -1;

type Pieces = AsyncGenerator<Uint8Array, void, undefined>;

/**
 * The consecutive Arrow streams in `input`, each read to its end before the next is requested. The library reads such
 * an input too (`readAll`), but waits for bytes after the end of a stream, which arrive only after the stream is
 * answered.
 */
export async function* arrowStreams(
  input: AsyncIterable<Uint8Array>,
): AsyncGenerator<AsyncIterable<Uint8Array>, void, undefined> {
  const chunks = input[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array();
  const hasMore = async (): Promise<boolean> => {
    while (rest.length === 0) {
      const { done, value } = await chunks.next();
      if (done === true) return false;
      rest = value;
    }
    return true;
  };
  /** @throws TableError at the end of the input */
  const take = async function* (length: number): Pieces {
    for (let left = length; left > 0;) {
      if (!(await hasMore())) throw new TableError('the Arrow stream ends too early');
      const piece = rest.subarray(0, left);
      rest = rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  };
  while (await hasMore()) yield oneStream(take);
}

/** The bytes of one stream, up to its end mark. */
async function* oneStream(take: (length: number) => Pieces): Pieces {
  for (;;) {
    const prefix = await whole(take(PREFIX_BYTES));
    yield prefix;
    const length = prefix.readInt32LE(4);
    if (prefix.readInt32LE(0) !== CONTINUATION || length < 0)
      throw new TableError("what follows is no message of Arrow's streaming format (version 1)");
    if (length === 0) return;
    const metadata = await whole(take(length));
    yield metadata;
    yield* take(Message.decode(metadata).bodyLength);
  }
}

async function whole(pieces: Pieces): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}
