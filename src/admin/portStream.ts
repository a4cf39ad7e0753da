import { Duplex } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';

/** A piece was read, so the next may come. */
const READ = 'read';
/** That side has ended. */
const END = 'end';
type Message = Uint8Array | typeof READ | typeof END;

/**
 * A connection between two threads that `node:http` takes for a socket. One piece is on its way at a time.
 */
export class PortStream extends Duplex {
  private written: (() => void) | undefined;
  private isRead = true;

  constructor(private readonly port: MessagePort) {
    super();
    port.on('message', (message: Message) => this.receive(message));
    port.once('close', () => this.destroy());
  }

  /** Part of a socket's interface: `node:http` ends connections with it. */
  destroySoon(): void {
    this.end(() => this.destroy());
  }

  /**
   * `node:http` calls it on both sides, but each side has its own time limits for reading from a real socket.
   */
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
