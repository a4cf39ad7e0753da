import { Message } from 'apache-arrow';
import { TableError } from './errors.js';

/** Precedes the metadata of a message: -1 and the length; a length of 0 ends the stream. */
const PREFIX_BYTES = 8;
const CONTINUATION = -1;

/**
 * The consecutive Arrow streams in `input`, each read to its end before the next is requested. The library reads such
 * an input too (`readAll`), but waits for bytes after the end of a stream, which arrive only after the stream is
 * answered.
 */
export async function* arrowStreams(
  input: AsyncIterable<Uint8Array>,
): AsyncGenerator<AsyncIterable<Uint8Array>, void, undefined> {
  const bytes = new Pieces(input);
  while (await bytes.hasMore()) yield oneStream(bytes);
}

/** The bytes of one stream, up to its end mark or the end of the input. */
async function* oneStream(bytes: Pieces): AsyncGenerator<Uint8Array, void, undefined> {
  for (;;) {
    const prefix = await bytes.take(PREFIX_BYTES);
    yield prefix;
    const length = metadataLength(prefix);
    if (length === 0) return;
    const metadata = await bytes.take(length);
    yield metadata;
    for (let left = Message.decode(metadata).bodyLength; left > 0;) {
      const piece = await bytes.next(left);
      left -= piece.length;
      yield piece;
    }
  }
}

function metadataLength(prefix: Buffer): number {
  const length = prefix.readInt32LE(4);
  if (prefix.readInt32LE(0) === CONTINUATION && length >= 0) return length;
  throw new TableError("what follows is no message of Arrow's streaming format (version 1)");
}

/** Takes bytes from chunks in other portions. */
class Pieces {
  private readonly input: AsyncIterator<Uint8Array>;
  private rest: Uint8Array = new Uint8Array(0);

  constructor(input: AsyncIterable<Uint8Array>) {
    this.input = input[Symbol.asyncIterator]();
  }

  async hasMore(): Promise<boolean> {
    while (this.rest.length === 0) {
      const { done, value } = await this.input.next();
      if (done === true) return false;
      this.rest = value;
    }
    return true;
  }

  /** Between one byte and `most`. @throws TableError at the end of the input */
  async next(most: number): Promise<Uint8Array> {
    if (!(await this.hasMore())) throw new TableError('the Arrow stream ends too early');
    const piece = this.rest.subarray(0, most);
    this.rest = this.rest.subarray(piece.length);
    return piece;
  }

  /** @throws TableError at the end of the input */
  async take(length: number): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    for (let left = length; left > 0;) {
      const piece = await this.next(left);
      left -= piece.length;
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }
}
