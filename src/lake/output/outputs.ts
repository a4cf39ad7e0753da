import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { OperatorError } from '../../base/errors.js';
import { NEW_FILE, OWNER_ONLY, partialName } from '../../base/files/atomicFile.js';
import { systemReason } from '../../base/files/fileError.js';
import type { Places } from '../places.js';
import type { WriteBytes } from './scoreColumns.js';

/**
 * The files of a result, in the order in which they are written, on the disk and in a store, and the next run after a
 * kill there:
 *
 *                                                      killed after it
 *   1  scores, bad rows: temporary names, synced       they are removed, the input is scored
 *   2  the record, as one that is begun                the input is scored
 *   3  bad rows, then scores: their names              the input is scored
 *   4  the state, if any                               the record is made again without that mark
 *   5  the record without that mark                    finished
 *
 * In a store each file is whole or not there, and none can be removed: if there are no bad rows, an empty file takes the
 * place of former ones.
 */

/** A file being written under a temporary name, there from the first bytes on. Synchronous, which costs less. */
export class PartialOutput {
  private readonly path: string;
  private file: number | undefined;

  /** `folder` is for what is uploaded when complete. */
  constructor(
    private readonly target: string,
    folder: string | undefined,
  ) {
    this.path = partialName(folder === undefined ? target : join(folder, basename(target)));
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

  /** Gives it its name; without a byte written, removes what has it. */
  name(places: Places): Promise<void> {
    return places.put(existsSync(this.path) ? this.path : undefined, this.target);
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
