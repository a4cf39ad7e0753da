import type { HttpResponse } from 'uWebSockets.js';
import { NDJSON_TYPE } from '../contract/mediaTypes.js';
import { OK, writeAnswer, writePiece, type ConnectionEnd } from './reply.js';

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
      status: OK,
      requestId,
      headers,
      body,
      isHead: false,
      connection: connection(),
      mediaType: NDJSON_TYPE,
    };
  }
}
