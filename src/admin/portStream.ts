import { Duplex } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';

/** A piece that was read, so that the next may come. */
const READ = 'read';
/** Nothing more comes from that side. */
const END = 'end';
type Message = Uint8Array | typeof READ | typeof END;

/** A connection between two threads: what `node:http` takes for a socket. One piece is on its way at a time. */
export class PortStream extends Duplex {
  private written: (() => void) | undefined;
  private isRead = true;

  constructor(private readonly port: MessagePort) {
    super();
    port.on('message', (message: Message) => this.receive(message));
    port.once('close', () => this.destroy());
  }

  /** As of a socket: `node:http` ends connections by it. */
  destroySoon(): void {
    this.end(() => this.destroy());
  }

  /** `node:http` asks for it on both sides; each has times of its own for what it reads from a real socket. */
  setTimeout(): this {
    return this;
  }

  override _write(piece: Buffer, _encoding: string, done: () => void): void {
    this.written = done;
    this.port.postMessage(Uint8Array.from(piece));
  }

  override _read(): void {
    if (this.isRead) return;
    this.isRead = true;
    this.port.postMessage(READ);
  }

  override _final(done: () => void): void {
    this.port.postMessage(END);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.port.close();
    done(error);
  }

  private receive(message: Message): void {
    if (message === READ) {
      const { written } = this;
      this.written = undefined;
      written?.();
    } else if (message === END) this.push(null);
    else {
      this.isRead = false;
      this.push(message);
    }
  }
}
