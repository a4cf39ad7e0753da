import { createWriteStream, fstatSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { errorCode, systemReason } from '../files/fileError.js';
import { OWNER_ONLY } from '../files/partialFile.js';
import type { Engine } from './engine.js';
import { FormatError } from './errors.js';
import type { Format } from './formatNames.js';

const STDIN = 0;

/**
 * The path of standard input, if it is read as a file: CSV from a pipe is copied first. Undefined for a stream.
 * @throws FormatError
 */
export async function fileOfStdin(
  format: Format,
  engine: () => Promise<Engine>,
): Promise<string | undefined> {
  if (format === 'ndjson') return undefined;
  if (fstatSync(STDIN).isFile()) return `/proc/self/fd/${STDIN}`;
  if (format === 'arrow') return undefined;
  if (format === 'parquet')
    throw new FormatError(
      'Parquet is read from its end, which a pipe does not have: name the file, or pipe Arrow',
    );
  const { folder } = await engine();
  const path = join(folder, 'standard-input.csv');
  try {
    await pipeline(process.stdin, createWriteStream(path, { mode: OWNER_ONLY }));
  } catch (error) {
    if (errorCode(error) !== 'ENOSPC' && errorCode(error) !== 'EDQUOT') throw error;
    throw new FormatError(
      `the copy of standard input does not fit into ${folder}: ${systemReason(error)}; TMPDIR names another folder`,
    );
  }
  return path;
}
