import { existsSync, readFileSync, statSync } from 'node:fs';
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
    const sql = `SELECT size, epoch_ms(last_modified) FROM read_blob(${textOf(patternOf(path))})`;
    const [[size, ms] = []] = await (await this.engine()).texts(sql, path);
    const modified = typeof ms === 'string' ? { modified: new Date(Number(ms)).toISOString() } : {};
    return { size: Number(size), ...modified };
  }

  async isThere(path: string): Promise<boolean> {
    if (!isRemote(path)) return existsSync(path);
    // Only a pattern is looked for: a plain name is taken to be there.
    const pattern = textOf(`${patternOf(path.slice(0, -1))}[${path.slice(-1)}]`);
    return (await (await this.engine()).texts(`SELECT file FROM glob(${pattern})`, path)).length > 0;
  }

  /** The text of a small file; undefined if there is none. */
  async read(path: string): Promise<string | undefined> {
    if (!isRemote(path)) return ifPresentSync(() => readFileSync(path, 'utf8'));
    if (!(await this.isThere(path))) return undefined;
    const engine = await this.engine();
    const [[text] = []] = await engine.texts(
      `SELECT content FROM read_text(${textOf(patternOf(path))})`,
      path,
    );
    return text ?? undefined;
  }

  /** Replaces a small file as a whole. */
  async write(path: string, text: string): Promise<void> {
    if (!isRemote(path)) return replaceByOwn(path, [text]);
    const file = join((await this.engine()).folder, basename(path));
    replaceByOwn(file, [text]);
    await this.upload(file, path);
  }

  async upload(file: string, address: string): Promise<void> {
    await (await this.engine()).upload(file, address);
  }
}
