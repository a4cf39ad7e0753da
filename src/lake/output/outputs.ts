import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { OperatorError } from '../../base/errors.js';
import { NEW_FILE, OWNER_ONLY, partialName } from '../../base/files/atomicFile.js';
import { systemReason } from '../../base/files/fileError.js';
import { isRemote, type Input } from '../input/inputs.js';
import type { Places } from '../places.js';
import type { WriteBytes } from './scoreColumns.js';

/**
 * The files of a result, in the order in which they are written, and the next run after a kill there:
 *
 *   on the disk                                        killed after it
 *   1  scores, bad rows: temporary names, synced       they are removed, the input is scored
 *   2  the former record, scores and bad rows go       the input is scored
 *   3  scores, bad rows: aside, NAME.partial           the input is scored
 *   4  the record                                      aside gets its names; with --state the input is scored
 *   5  the state, if any                               aside gets its names
 *   6  bad rows, then scores: their names              finished
 *
 * In a store nothing is removed or renamed, but each file is whole or not there: an empty record first, then bad rows (if
 * there are none, an empty file in the place of former ones), scores, the record; killed before the last, the input is
 * scored, or is an error if a state lacks it.
 */

/** Where a complete file waits for its name. */
function aside(path: string): string {
  return `${path}.partial`;
}

/** A file being written under a temporary name, there from the first bytes on. Synchronous, which costs less. */
export class PartialOutput {
  readonly path: string;
  private file: number | undefined;

  /** `folder` is for what is uploaded when complete. */
  constructor(path: string, folder: string | undefined) {
    this.path = partialName(folder === undefined ? path : join(folder, basename(path)));
  }

  get isThere(): boolean {
    return existsSync(this.path);
  }

  readonly write: WriteBytes = async (bytes) => {
    this.file ??= openSync(this.path, NEW_FILE, OWNER_ONLY);
    writeFileSync(this.file, bytes);
  };

  /** Flushes it to the disk. */
  finish(): void {
    if (this.file !== undefined) fsyncSync(this.file);
    this.close();
  }

  remove(): void {
    this.close();
    rmSync(this.path, { force: true });
  }

  private close(): void {
    if (this.file !== undefined) closeSync(this.file);
    this.file = undefined;
  }
}

/** Takes away the former result, and sets complete files aside; in a store they get their names. */
export async function setAside(
  input: Input,
  { scores, bad }: Readonly<Record<'scores' | 'bad', PartialOutput>>,
  places: Places,
): Promise<void> {
  if (isRemote(input.output)) {
    await places.write(input.record, '');
    if (bad.isThere) await places.upload(bad.path, input.bad);
    else if (await places.isThere(input.bad)) await places.write(input.bad, '');
    return places.upload(scores.path, input.output);
  }
  for (const former of [input.record, input.output, input.bad, aside(input.bad)])
    rmSync(former, { force: true });
  if (bad.isThere) renameSync(bad.path, aside(input.bad));
  renameSync(scores.path, aside(input.output));
}

/** Names what lies aside, as far as it is still there; the scores last. @returns whether the scores were there */
export function nameAside({ output, bad }: Input): boolean {
  if (isRemote(output) || !existsSync(aside(output))) return false;
  for (const path of [bad, output]) if (existsSync(aside(path))) renameSync(aside(path), path);
  return true;
}

/** Makes the folder of results. @throws OperatorError if nothing can be written there */
export function prepareFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new OperatorError(
      `${folder} can't be written to (${systemReason(error)}): --out-dir names another folder`,
    );
  }
}
