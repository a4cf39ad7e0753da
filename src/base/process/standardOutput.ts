/** The service's standard output: lines, written without waiting. */
import { constants, openSync, write } from 'node:fs';
import { isatty } from 'node:tty';
import { isMainThread } from 'node:worker_threads';
import { within } from '../within.js';

const STDOUT = 1;
/** Memory limit for a slow reader; further lines are dropped and counted. */
const BUFFERED_BYTES_MAX = 1 << 20;
/** A pipe accepts this much atomically (PIPE_BUF on Linux), so lines of several threads don't mix. */
const PIECE_BYTES_MAX = 4096;
/** Retry interval for a slow reader, a full disk or a closed terminal. */
const RETRY_MS = 25;

/**
 * Writes lines to standard output without ever waiting. pino's own destination (sonic-boom) does the same until the
 * process ends: its last flush then retries for ever if the disk is full, or the reader has gone or stopped reading,
 * and can't be told not to. This one can be waited for, with a limit.
 */
export class StandardOutput {
  private readonly file = nonBlocking();
  private lines: string[] = [];
  /** The size of the waiting lines and the piece being written. */
  private bytes = 0;
  private isWriting = false;
  private dropped = 0;
  /** Called when nothing is left to write. */
  private onEmpty: (() => void)[] = [];

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

  /** Resolves when every line is written, or after `limitMs`. */
  async flushed(limitMs: number): Promise<void> {
    if (this.isWriting) await within(limitMs, new Promise<void>((resolve) => this.onEmpty.push(resolve)));
  }

  private writeNext(): void {
    this.tellDropped();
    this.isWriting = this.lines.length > 0;
    if (this.isWriting) this.put(this.nextPiece());
    else for (const tell of this.onEmpty.splice(0)) tell();
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

  /** Writes how many lines were dropped, once there is room again. */
  private tellDropped(): void {
    if (this.dropped === 0 || this.lines.length > 0) return;
    const time = new Date().toISOString();
    const line = { level: 'warn', time, msg: 'log lines dropped', lines: this.dropped };
    this.dropped = 0;
    this.write(`${JSON.stringify(line)}\n`);
  }
}

/**
 * A blocking write would hold a thread of libuv's pool, which the process waits for at exit. Pipes and sockets become
 * non-blocking when the main thread reads `process.stdout`; terminals, which Node leaves blocking (Ctrl-S), when
 * opened again. Files stay as they are.
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
