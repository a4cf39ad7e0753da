import { constants, openSync, write } from 'node:fs';
import { isatty } from 'node:tty';
import { isMainThread } from 'node:worker_threads';

const STDOUT = 1;
/** A slow reader costs at most this much memory; the lines beyond it are dropped and counted. */
const BUFFERED_BYTES_MAX = 1 << 20;
/** A pipe takes so much whole or not at all (PIPE_BUF of Linux): lines of several threads don't mix. */
const PIECE_BYTES_MAX = 4096;
/** A reader that is behind, a full disk or a closed terminal is tried again so often. */
const RETRY_MS = 25;

interface Waiter {
  /** Called when nothing is left to write. */
  readonly onEmpty: () => void;
}

/**
 * Writes lines to standard output without ever waiting for it. pino's own destination (sonic-boom) does so too until
 * the process is to end: its last flush then repeats for ever where the disk is full, the reader has gone or has
 * stopped reading, and it can't be told not to. This one can be waited for, with a limit.
 */
export class StandardOutput {
  private readonly file = nonBlocking();
  private lines: string[] = [];
  /** Of the lines that wait and of the piece that is being written. */
  private bytes = 0;
  private isWriting = false;
  private dropped = 0;
  private readonly waiters = new Set<Waiter>();

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.bytes + bytes > BUFFERED_BYTES_MAX) {
      this.dropped++;
      return;
    }
    this.lines.push(line);
    this.bytes += bytes;
    if (!this.isWriting) this.writeNext();
  }

  /** Resolves when every line is out, or else when the time is up. */
  flushed(limitMs: number): Promise<void> {
    if (!this.isWriting) return Promise.resolve();
    return new Promise((resolve) => {
      const waiter = { onEmpty: done };
      const timer = setTimeout(done, limitMs);
      const { waiters } = this;
      function done(): void {
        clearTimeout(timer);
        waiters.delete(waiter);
        resolve();
      }
      waiters.add(waiter);
    });
  }

  private writeNext(): void {
    this.tellDropped();
    this.isWriting = this.lines.length > 0;
    if (this.isWriting) this.put(this.nextPiece());
    else for (const { onEmpty } of this.waiters) onEmpty();
  }

  /** Whole lines of at most `PIECE_BYTES_MAX` together, or one longer line. */
  private nextPiece(): Buffer {
    let count = 0;
    let bytes = 0;
    for (const line of this.lines) {
      bytes += Buffer.byteLength(line);
      if (count > 0 && bytes > PIECE_BYTES_MAX) break;
      count++;
    }
    return Buffer.from(this.lines.splice(0, count).join(''));
  }

  private put(piece: Buffer): void {
    write(this.file, piece, (error, written) => {
      if (error !== null) {
        setTimeout(() => this.put(piece), RETRY_MS).unref();
        return;
      }
      this.bytes -= written;
      if (written < piece.length) this.put(piece.subarray(written));
      else this.writeNext();
    });
  }

  /** Where there is room again. */
  private tellDropped(): void {
    if (this.dropped === 0 || this.lines.length > 0) return;
    const time = new Date().toISOString();
    const line = { level: 'warn', time, msg: 'log lines dropped', lines: this.dropped };
    this.dropped = 0;
    this.write(`${JSON.stringify(line)}\n`);
  }
}

/**
 * A write that blocks would hold a thread of libuv's pool, which the process waits for when it leaves. Pipes and
 * sockets stop blocking when the main thread looks at `process.stdout`; terminals, which Node leaves blocking (Ctrl-S), when
 * they are opened anew. Files stay as they are.
 */
function nonBlocking(): number {
  if (!isatty(STDOUT)) return isMainThread ? process.stdout.fd : STDOUT;
  try {
    return openSync(
      `/proc/self/fd/${STDOUT}`,
      constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY,
    );
  } catch {
    return STDOUT; // not Linux, or not our terminal
  }
}
