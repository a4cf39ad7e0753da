import { existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { replaceByOwn } from '../base/files/atomicFile.js';
import { ifPresentSync } from '../base/files/fileError.js';
import type { Engine } from './input/engine.js';
import { isRemote } from './input/inputs.js';
import { patternOf, textOf } from './input/sql.js';

/** Files on the disk and in stores, by one interface. */

/** A file as its file system or its store tells it; of a pipe they tell nothing. */
export interface Mark {
  readonly size?: number;
  readonly modified?: string;
}

/** Files by their paths on the disk, or by their addresses in a store. */
export class Places {
  constructor(private readonly engine: () => Promise<Engine>) {}

  async markOf(path: string): Promise<Mark> {
    if (!isRemote(path)) {
      const stat = statSync(path);
      return stat.isFile() ? { size: stat.size, modified: stat.mtime.toISOString() } : {};
    }
    const [[size, ms] = []] = await this.found(path, 'size, epoch_ms(last_modified)', patternOf(path));
    const modified = typeof ms === 'string' ? { modified: new Date(Number(ms)).toISOString() } : {};
    return { size: Number(size), ...modified };
  }

  async isThere(path: string): Promise<boolean> {
    return isRemote(path) ? (await this.found(path, 'filename')).length > 0 : existsSync(path);
  }

  /** The text of a small file; undefined if there is none. */
  async read(path: string): Promise<string | undefined> {
    if (!isRemote(path)) return ifPresentSync(() => readFileSync(path, 'utf8'));
    const [[text] = []] = await this.found(path, 'decode(content)');
    return text ?? undefined;
  }

  /** Replaces a small file as a whole. */
  async write(path: string, text: string): Promise<void> {
    if (!isRemote(path)) return replaceByOwn(path, [text]);
    const file = join((await this.engine()).folder, basename(path));
    replaceByOwn(file, [text]);
    await this.put(file, path);
  }

  /** Moves a file of this machine to its place; without one, leaves nothing there. */
  async put(file: string | undefined, path: string): Promise<void> {
    if (isRemote(path)) {
      if (file !== undefined) await (await this.engine()).upload(file, path);
      else if (await this.isThere(path)) await this.write(path, '');
    } else if (file !== undefined) renameSync(file, path);
    else rmSync(path, { force: true });
  }

  /** Values of a file of a store, in one row if it is there: of a pattern, for a plain name is taken to be there. */
  private async found(
    path: string,
    values: string,
    pattern = `${patternOf(path.slice(0, -1))}[${path.slice(-1)}]`,
  ): Promise<(string | null)[][]> {
    return (await this.engine()).texts(`SELECT ${values} FROM read_blob(${textOf(pattern)})`, path);
  }
}
