/** The writing of answers to the HTTP library: heads, bodies, and the end of a connection. */
import { STATUS_CODES } from 'node:http';
import type { HttpResponse } from 'uWebSockets.js';
import { JSON_TYPE, NDJSON_TYPE } from '../contract/mediaTypes.js';

/** A header line of one answer, beyond those that every answer has; several are concatenated. */
export function headerLine(name: string, value: string): string {
  return `\r\n${name}: ${value}`;
}

/**
 * Whether the connection stays open after the answer, ends because the service wants it, or ends because the
 * caller asked for it. The library recognises that last case itself, and then does not say so in the answer.
 */
export type ConnectionEnd = 'stays' | 'ends' | 'endsAsAsked';

export interface Answer {
  readonly status: number;
  readonly requestId: string;
  /** Made with `headerLine`; '' for none. */
  readonly headers: string;
  readonly body: string;
  /** HEAD: the body's length is sent, the body is not. */
  readonly isHead: boolean;
  readonly connection: ConnectionEnd;
  /** JSON if absent. */
  readonly mediaType?: string;
}

/**
 * The one place that writes responses: whole, corked, once. The caller must know that `res` is still open.
 */
export function writeAnswer(res: HttpResponse, answer: Answer): void {
  if (answer.isHead && answer.connection === 'ends') return writeLastHead(res, answer);
  res.cork(() => {
    writeHead(res, answer);
    // When the library is asked to end a connection that would stay, it writes the header itself.
    if (answer.connection === 'endsAsAsked') writeClose(res);
    if (!answer.isHead) return res.end(answer.body, answer.connection !== 'stays');
    writeLength(res, answer);
    return res.endWithoutBody();
  });
}

/**
 * The library can't end a connection after an answer that declares a body but sends none: the build for Node
 * 20 leaves such an answer open. So the head is written up to its empty line, and the connection closed; but
 * not while the library reads a packet, because nothing has been sent by then.
 */
function writeLastHead(res: HttpResponse, answer: Answer): void {
  res.cork(() => {
    writeHead(res, answer);
    writeLength(res, answer);
    res.writeHeader('Connection', 'close\r\n');
  });
  res.close();
}

/**
 * RFC 9110 section 8.6: a length in the answer to HEAD must be that of the body it stands for. The build for
 * Node 20 leaves the answer open if `endWithoutBody` gets a length.
 */
function writeLength(res: HttpResponse, { body }: Answer): void {
  res.writeHeader('Content-Length', String(Buffer.byteLength(body)));
}

const CONTENT_TYPE = Buffer.from('Content-Type');

/**
 * Writes a piece of an answer of unknown length; the first piece includes the head. The response stays open after a
 * piece that is not the last. `connection` must not be `ends`: the library would announce it in the middle of the body.
 * @returns false if the caller has to read first; the library then keeps `piece`
 */
export function writePiece(
  res: HttpResponse,
  head: Answer | undefined,
  isLast: boolean,
  piece: string,
): boolean {
  let isTaken = true;
  res.cork(() => {
    if (head !== undefined) {
      writeHead(res, head);
      if (head.connection === 'endsAsAsked') writeClose(res);
    }
    isTaken = res.write(piece);
    if (isLast) res.end();
  });
  return isTaken;
}

function writeHead(res: HttpResponse, { status, requestId, headers, mediaType = JSON_TYPE }: Answer): void {
  // The library writes this status by itself, and each call into it costs time.
  if (status !== 200) res.writeStatus(`${status} ${STATUS_CODES[status]}`);
  // Each call into the library costs as much as the rest of its line, so all lines are passed as one value.
  // The only part from the caller is the request id, whose form allows no line ends.
  res.writeHeader(
    CONTENT_TYPE,
    `${mediaType}\r\nCache-Control: no-store\r\nX-Request-Id: ${requestId}${headers}`,
  );
}

function writeClose(res: HttpResponse): void {
  res.writeHeader('Connection', 'close');
}

interface ListHead {
  readonly requestId: string;
  /** Made with `headerLine`. */
  readonly headers: string;
  /** Called when the answer begins. */
  connection(): ConnectionEnd;
}

/** The answer to a list: written whole, or in pieces as they are ready and the caller reads. */
export class ListAnswer {
  private hasBegun = false;
  private isFull = false;

  constructor(
    private readonly res: HttpResponse,
    private readonly head: ListHead,
  ) {}

  /** Whether a piece that is not the last may be written now. */
  get mayWrite(): boolean {
    return !this.isFull && (this.hasBegun || this.head.connection() !== 'ends');
  }

  /** Whether the last piece may be written now. */
  get mayEnd(): boolean {
    return !this.isFull;
  }

  /** Calls `listener` each time the caller has caught up with reading. */
  onRead(listener: () => void): void {
    this.res.onWritable(() => {
      this.isFull = false;
      listener();
      return true;
    });
  }

  write(piece: string): void {
    const isFirst = !this.hasBegun;
    this.hasBegun = true;
    this.isFull = !writePiece(this.res, isFirst ? this.answer('') : undefined, false, piece);
  }

  /** Writes the last piece. */
  end(piece: string): void {
    if (this.hasBegun) writePiece(this.res, undefined, true, piece);
    else writeAnswer(this.res, this.answer(piece));
  }

  private answer(body: string): Parameters<typeof writeAnswer>[1] {
    const { requestId, headers, connection } = this.head;
    return {
      status: 200,
      requestId,
      headers,
      body,
      isHead: false,
      connection: connection(),
      mediaType: NDJSON_TYPE,
    };
  }
}
