import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { OperatorError } from '../base/errors.js';
import { PartialFile } from '../base/files/atomicFile.js';
import { systemReason } from '../base/files/fileError.js';
import type { Engine } from './input/engine.js';
import { TableError, TryAgainError } from './errors.js';
import { isRemote, type Input } from './input/inputs.js';
import { patternOf, textOf } from './input/sql.js';

/** Files on the disk and in stores, by one interface. */

/** A file at a moment. */
export interface Mark {
  readonly path: string;
  readonly size?: number;
  readonly modified?: string;
}

/** Files by their paths on the disk, or by their addresses in a store. */
export class Places {
  constructor(private readonly engine: () => Promise<Engine>) {}

  /**
   * The files of an input as their file system or store tells them now; of a pipe it tells nothing. None of a SELECT,
   * whose tables are not known.
   */
  async marksOf({ path, query }: Pick<Input, 'path' | 'query'>): Promise<Mark[]> {
    const paths = query === undefined ? [path] : (query.files ?? []).map((file) => file.path);
    const marks: Mark[] = [];
    for (const one of paths) marks.push({ path: one, ...(await this.markOf(one)) });
    return marks;
  }

  /**
   * Reads an input that stays the same meanwhile.
   * @throws TryAgainError if it changes: what can't be read of a file that is being written is no damage of it
   */
  async steadily<T>(input: Input, read: (marks: readonly Mark[]) => Promise<T>): Promise<T> {
    const marks = await this.marksOf(input);
    const checkSame = async (): Promise<void> => {
      const now = await this.marksOf(input).catch(() => undefined); // it may be gone
      if (!isDeepStrictEqual(marks, now))
        throw new TryAgainError('it changed while it was read, and is not finished: run the command again');
    };
    try {
      const made = await read(marks);
      await checkSame();
      return made;
    } catch (error) {
      if (error instanceof TableError) await checkSame();
      throw error;
    }
  }

  private async markOf(path: string): Promise<Omit<Mark, 'path'>> {
    if (isRemote(path)) return (await this.engine()).markOf(path);
    const stat = statSync(path);
    return stat.isFile() ? { size: stat.size, modified: stat.mtime.toISOString() } : {};
  }

  async isThere(path: string): Promise<boolean> {
    return isRemote(path) ? (await this.found(path, 'filename')).length > 0 : existsSync(path);
  }

  /** The text of a small file; undefined if there is none. */
  async read(path: string): Promise<string | undefined> {
    if (!isRemote(path)) return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
    const [[text] = []] = await this.found(path, 'decode(content)');
    return text ?? undefined;
  }

  /** Replaces a small file as a whole. */
  async write(path: string, text: string): Promise<void> {
    const file = await this.partial(path);
    try {
      file.write(text);
      file.finish();
      await this.put(file, path);
    } finally {
      file.remove();
    }
  }

  /** A file to be written for `path`; that of a store is written here. */
  async partial(path: string): Promise<PartialFile> {
    return new PartialFile(isRemote(path) ? join((await this.engine()).folder, basename(path)) : path);
  }

  /** Moves a finished file to its place; one that was never written leaves nothing there. */
  async put(file: PartialFile, path: string): Promise<void> {
    if (!isRemote(path)) {
      if (file.isThere) renameSync(file.path, path);
      else rmSync(path, { force: true });
    } else if (file.isThere) await (await this.engine()).upload(file.path, path);
    else if (await this.isThere(path)) await this.write(path, '');
  }

  /** Values of a file of a store, in one row if it is there: of a pattern, for a plain name is taken to be there. */
  private async found(path: string, values: string): Promise<(string | null)[][]> {
    const pattern = `${patternOf(path.slice(0, -1))}[${path.slice(-1)}]`;
    return (await this.engine()).texts(`SELECT ${values} FROM read_blob(${textOf(pattern)})`, path);
  }
}

/** Makes a folder to write to. @throws OperatorError with the remedy if nothing can be written there */
export function prepareFolder(folder: string, remedy: string): void {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new OperatorError(`${folder} can't be written to (${systemReason(error)}): ${remedy}`);
  }
}

/** Not by Node's own recursion, which never ends where a file system makes no folders, as /proc. */
function makeFolder(folder: string): void {
  const isThere = (): boolean => statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isThere()) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    if (!isThere()) throw error;
  }
}
