/** Standard output of commands: complete, or the command fails. (That of the service is its log, `StandardOutput`.) */
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { EXIT } from './exitCodes.js';

const STDOUT = 1;

/** Standard output can't be written. */
export class OutputError extends Error {
  /** The exit code of the command. */
  readonly code: number;
  /** A pipe that is no longer read, as after `| head`: not worth a message. */
  readonly isUnread: boolean;

  constructor(cause: Error) {
    super(`standard output failed: ${cause.message}`, { cause });
    this.isUnread = 'code' in cause && cause.code === 'EPIPE';
    this.code = this.isUnread ? EXIT.noReader : EXIT.io;
  }
}

/** Writes all of it to standard output; resolves once there is room for more. @throws OutputError */
export async function print(bytes: string | Uint8Array): Promise<void> {
  const { stdout } = process;
  if (!(stdout instanceof Socket)) return writeAll(bytes);
  await new Promise<void>((resolve, reject) => {
    if (!stdout.listeners('error').includes(ignore)) stdout.on('error', ignore); // the write says so, before
    stdout.write(bytes, (error) => {
      if (error) reject(new OutputError(error));
      else resolve();
    });
  });
}

/** As `print`, for a process that ends without waiting. @throws OutputError of a file; a pipe's sets the exit code */
export function printAtOnce(text: string): void {
  const { stdout } = process;
  if (!(stdout instanceof Socket)) writeAll(text);
  else stdout.once('error', (error) => (process.exitCode = new OutputError(error).code)).write(text);
}

/** Node's stream of a file takes a short write, as to a disk that gets full, for a whole one. */
function writeAll(bytes: string | Uint8Array): void {
  const all = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  try {
    for (let written = 0; written < all.length;) written += writeSync(STDOUT, all, written);
  } catch (error) {
    throw new OutputError(error as Error);
  }
}

function ignore(): void {}
