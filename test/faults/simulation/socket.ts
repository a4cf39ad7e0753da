/** The head of a request. */
export interface Head {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** An answer as its caller reads it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What the HTTP library promises of a request: it ends when its handler returns. */
export class SimulatedRequest {
  private isOver = false;

  constructor(private readonly head: Head) {}

  getHeader(name: string | Uint8Array): string {
    if (this.isOver) throw new Error('a request is read after its handler returned');
    return this.head.headers[typeof name === 'string' ? name : Buffer.from(name).toString()] ?? '';
  }

  getMethod(): string {
    return this.head.method.toLowerCase();
  }

  end(): void {
    this.isOver = true;
  }
}

/**
 * What the HTTP library does with a response, and what it ends the process for: to touch it once it was answered or
 * aborted, to answer twice.
 */
export class SimulatedResponse {
  isAnswered = false;
  isAborted = false;
  isClosed = false;
  private status = '200 OK';
  private head = '';
  private body = '';
  private onChunk: ((chunk: ArrayBuffer, isLast: boolean) => void) | undefined;
  private onAbort: (() => void) | undefined;
  private onRead: (() => boolean) | undefined;
  private isUnread = false;

  /** `reads`: whether the caller reads a piece at once; if not, `read` is called when it has. */
  constructor(
    private readonly onAnswer: (answer: Answer) => void,
    private readonly reads: () => boolean,
  ) {}

  cork(work: () => void): this {
    this.touch();
    work();
    return this;
  }

  writeStatus(status: string): this {
    this.touch();
    this.status = status;
    return this;
  }

  writeHeader(name: string | Uint8Array, value: string): this {
    this.touch();
    this.head += `${Buffer.from(name).toString()}: ${value}\r\n`;
    return this;
  }

  write(body: string): boolean {
    this.touch();
    this.add(body);
    this.isUnread = !this.reads();
    return !this.isUnread;
  }

  end(body = '', _closes = false): this {
    this.touch();
    if (body !== '') this.add(body);
    this.isAnswered = true;
    this.onAnswer({
      status: Number(this.status.slice(0, 3)),
      headers: headersIn(this.head),
      body: this.body,
    });
    return this;
  }

  endWithoutBody(): this {
    return this.end();
  }

  close(): this {
    if (!this.isClosed) {
      this.isClosed = true;
      this.abort();
    }
    return this;
  }

  onData(listener: (chunk: ArrayBuffer, isLast: boolean) => void): this {
    this.touch();
    this.onChunk = listener;
    return this;
  }

  onAborted(listener: () => void): this {
    this.touch();
    this.onAbort = listener;
    return this;
  }

  onWritable(listener: () => boolean): this {
    this.touch();
    this.onRead = listener;
    return this;
  }

  /** The caller has read what was written. */
  read(): void {
    this.isUnread = false;
    if (!this.isAborted && !this.isAnswered) this.onRead?.();
  }

  /** Bytes of the body arrive; they hold until the listener returns. */
  receive(bytes: Uint8Array, isLast: boolean): void {
    if (this.isAborted || this.isAnswered) return;
    const chunk = new Uint8Array(bytes);
    this.onChunk?.(chunk.buffer, isLast);
    chunk.fill(0x7e);
  }

  /** The connection is lost. */
  abort(): void {
    if (this.isAborted || this.isAnswered) return;
    this.isAborted = true;
    if (this.onAbort === undefined) throw new Error('a connection was lost, and without a handler for that');
    this.onAbort();
  }

  private add(piece: string): void {
    if (this.isUnread) throw new Error('more is written to a caller that has not read');
    this.body += piece;
  }

  private touch(): void {
    if (this.isAborted) throw new Error('a response is touched after its connection was lost');
    if (this.isAnswered) throw new Error('a response is touched after its answer');
  }
}

function headersIn(head: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(': ');
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 2);
  }
  return headers;
}
