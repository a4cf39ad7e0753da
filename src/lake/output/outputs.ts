import { accessSync, constants, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
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

/** Where complete results wait for their names. */
function asideOf({ output, bad }: Input): { readonly scores: string; readonly bad: string } {
  return { scores: `${output}.partial`, bad: `${bad}.partial` };
}

/** The files of an input being scored, under temporary names; the one for bad rows is there once there is one. */
export class OutputFiles {
  readonly scores: PartialOutput;
  readonly bad: PartialOutput;

  /** `folder` is for what is uploaded when complete. */
  constructor({ output, bad }: Input, folder: string | undefined) {
    const named = (path: string): string =>
      partialName(folder === undefined ? path : join(folder, basename(path)));
    this.scores = new PartialOutput(named(output));
    this.bad = new PartialOutput(named(bad));
  }

  /** Flushes them to the disk. */
  async finish(): Promise<void> {
    await this.scores.write(''); // creates the file even without rows
    await this.scores.finish();
    await this.bad.finish();
  }

  async remove(): Promise<void> {
    await this.scores.remove();
    await this.bad.remove();
  }
}

/** Gives complete results their names, with the text of their record; `save` saves the state, if there is one. */
export async function deliver(
  input: Input,
  { scores, bad }: OutputFiles,
  { record, save, places }: { readonly record: string; readonly save: () => void; readonly places: Places },
): Promise<void> {
  if (isRemote(input.output)) {
    await places.write(input.record, '');
    if (bad.isThere) await places.upload(bad.path, input.bad);
    else if (await places.isThere(input.bad)) await places.write(input.bad, '');
    await places.upload(scores.path, input.output);
    await places.write(input.record, record);
    return save();
  }
  const aside = asideOf(input);
  for (const former of [input.record, input.output, input.bad, aside.bad]) rmSync(former, { force: true });
  if (bad.isThere) renameSync(bad.path, aside.bad);
  renameSync(scores.path, aside.scores);
  await places.write(input.record, record);
  save();
  nameAside(input);
}

/** Names what lies aside, as far as it is still there; the scores last. @returns whether the scores were there */
export function nameAside(input: Input): boolean {
  const { scores, bad } = asideOf(input);
  if (isRemote(input.output) || !existsSync(scores)) return false;
  if (existsSync(bad)) renameSync(bad, input.bad);
  renameSync(scores, input.output);
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

const PIECE_BYTES = 1 << 20;

/** A file being written under a temporary name; it exists from the first bytes on. */
class PartialOutput {
  private file: FileHandle | undefined;
  /** Not yet written: small pieces one by one would cost more. */
  private pieces: Uint8Array[] = [];
  private length = 0;

  constructor(readonly path: string) {}

  get isThere(): boolean {
    return this.file !== undefined;
  }

  readonly write: WriteBytes = async (bytes) => {
    this.file ??= await open(this.path, NEW_FILE, OWNER_ONLY);
    this.pieces.push(Buffer.from(bytes));
    this.length += bytes.length;
    if (this.length >= PIECE_BYTES) await this.flush();
  };

  private async flush(): Promise<void> {
    const bytes = Buffer.concat(this.pieces);
    [this.pieces, this.length] = [[], 0];
    await this.file?.writeFile(bytes);
  }

  async finish(): Promise<void> {
    await this.flush();
    await this.file?.sync();
    await this.file?.close();
  }

  async remove(): Promise<void> {
    await this.file?.close();
    rmSync(this.path, { force: true });
  }
}
