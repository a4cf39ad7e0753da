import { closeSync, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCode, systemReason } from '../files/fileError.js';
import { OWNER_ONLY, partialName } from '../files/partialFile.js';
import { FormatError } from './formatError.js';
import type { Format } from './formats.js';

/** Standard input: a stream of bytes, or a file if the format is read from its end. */
export type StandardInput =
  { readonly bytes: AsyncIterable<Uint8Array> } | { readonly path: string; readonly close: () => void };

const STDIN = 0;
const NEW_TO_READ = 'wx+';
/** The first bytes of Arrow's file format; a stream starts differently. */
const ARROW_FILE = Buffer.from('ARROW1');

/** Calls `open` if a stream of bytes is needed. @throws FormatError if they don't fit on the disk */
export async function standardInput(
  format: Format,
  open: () => AsyncIterable<Uint8Array>,
): Promise<StandardInput> {
  if (format !== 'arrow' && format !== 'parquet') return { bytes: open() };
  if (fstatSync(STDIN).isFile()) {
    return format === 'parquet' || isArrowFile(firstBytes()) ? fileOf(STDIN) : { bytes: open() };
  }
  const chunks = open()[Symbol.asyncIterator]();
  const first = format === 'parquet' ? Buffer.alloc(0) : await beginning(chunks);
  const bytes = joined(first, chunks);
  return format === 'parquet' || isArrowFile(first) ? copied(bytes) : { bytes };
}

/** A copy without a name, which disappears with this process however it ends. */
async function copied(bytes: AsyncIterable<Uint8Array>): Promise<StandardInput> {
  const name = partialName(join(tmpdir(), 'acuity-input'));
  const file = openSync(name, NEW_TO_READ, OWNER_ONLY);
  rmSync(name);
  try {
    for await (const chunk of bytes) {
      for (let done = 0; done < chunk.length;) done += writeSync(file, chunk, done);
    }
  } catch (error) {
    closeSync(file);
    if (errorCode(error) !== 'ENOSPC' && errorCode(error) !== 'EDQUOT') throw error;
    throw new FormatError(
      `standard input is read from its end on, and its copy does not fit into ${tmpdir()}: ${systemReason(error)}; TMPDIR names another folder`,
    );
  }
  return fileOf(file);
}

/** A path by which every thread can open the open file. */
function fileOf(file: number): StandardInput {
  return { path: `/proc/self/fd/${file}`, close: () => void (file !== STDIN && closeSync(file)) };
}

function firstBytes(): Uint8Array {
  const bytes = Buffer.alloc(ARROW_FILE.length);
  return bytes.subarray(0, readSync(STDIN, bytes, 0, bytes.length, 0));
}

/** The first chunks, enough to recognise the format. */
async function beginning(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  const taken: Uint8Array[] = [];
  let length = 0;
  while (length < ARROW_FILE.length) {
    const next = await chunks.next();
    if (next.done === true) break;
    taken.push(next.value);
    length += next.value.length;
  }
  return Buffer.concat(taken);
}

async function* joined(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first.length > 0) yield first;
  yield* { [Symbol.asyncIterator]: () => rest };
}

function isArrowFile(bytes: Uint8Array): boolean {
  return ARROW_FILE.equals(bytes.subarray(0, ARROW_FILE.length));
}
