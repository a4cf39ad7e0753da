/** A connection that times single requests. */
import { connect, type Socket } from 'node:net';

/** Where a bench sends its requests, and with which key. */
export interface Target {
  /** Without a `socket`. */
  readonly port: number;
  /** The path of a Unix socket. */
  readonly socket?: string | undefined;
  readonly key: string;
}

export interface Reply {
  readonly status: number;
  /** Status line and headers. */
  readonly head: string;
  readonly body: string;
}

const HEAD_END = '\r\n\r\n';
const STATUS_AT = 'HTTP/1.1 '.length;

/** The bytes of a request, with an id if it is given one: built once, sent often. */
export function requestBytes({ port, key }: Target, body: string, id?: string): Buffer {
  const head = [
    'POST /predict HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    `X-API-Key: ${key}`,
    ...(id === undefined ? [] : [`X-Request-Id: ${id}`]),
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}${HEAD_END}${body}`);
}

/** One keep-alive connection with one request at a time; light enough to time a single request. */
export class Connection {
  isBusy = false;
  private received = '';
  private settle: { resolve(reply: Reply): void; reject(error: Error): void } | undefined;

  private constructor(private readonly socket: Socket) {
    socket.setNoDelay(true).setEncoding('latin1');
    socket.on('data', (text: string) => this.receive(text));
    socket.on('error', (error) => this.fail(error));
    socket.on('close', () => this.fail(new Error('the server closed the connection')));
  }

  /** To a port, or a Unix socket by its path. */
  static async open(at: number | string): Promise<Connection> {
    const socket = typeof at === 'string' ? connect(at) : connect(at, '127.0.0.1');
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve).once('error', reject);
    });
    return new Connection(socket);
  }

  /** Whether the server may still answer. */
  get isOpen(): boolean {
    return !this.socket.destroyed && !this.socket.readableEnded;
  }

  send(request: Buffer): Promise<Reply> {
    if (this.isBusy) throw new Error('one request at a time');
    if (!this.isOpen) return Promise.reject(new Error('the server closed the connection'));
    this.isBusy = true;
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
      this.socket.write(request);
    });
  }

  close(): void {
    this.socket.destroy();
  }

  private receive(text: string): void {
    this.received += text;
    const headEnd = this.received.indexOf(HEAD_END);
    if (headEnd === -1) return;
    const head = this.received.slice(0, headEnd);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) return this.fail(new Error('an answer without Content-Length'));
    const bodyStart = headEnd + HEAD_END.length;
    const end = bodyStart + Number(length);
    if (this.received.length < end) return;
    const reply = {
      status: Number(head.slice(STATUS_AT, STATUS_AT + 3)),
      head,
      body: this.received.slice(bodyStart, end),
    };
    this.received = this.received.slice(end);
    const { settle } = this;
    this.settle = undefined;
    this.isBusy = false;
    settle?.resolve(reply);
  }

  private fail(error: Error): void {
    const { settle } = this;
    this.settle = undefined;
    settle?.reject(error);
  }
}
