import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { ifPresent } from '../files/fileError.js';
import { directFiles, type Files } from '../files/files.js';
import { dateOf } from './limits.js';
import { KeyStoreError, storeError, type DailyUsage, type UsageHistory, type UsageStore } from './store.js';

const VERSION = 1;
const COUNT_MAX = 2 ** 32 - 1;

const UsageFile = Compile(
  Type.Object({
    version: Type.Literal(VERSION),
    day: Type.Integer({ minimum: 0 }),
    used: Type.Record(Type.String(), Type.Integer({ minimum: 0, maximum: COUNT_MAX })),
  }),
);

/**
 * The daily counts, in a file beside the key store that one server writes. With the first count of another UTC day its
 * counts move to a file named after it: keys.usage.2030-01-31.json.
 */
export class FileUsageStore implements UsageStore, UsageHistory {
  readonly #path: string;
  readonly #files: Files;
  /** The content of the file, as far as known. */
  #last: DailyUsage | undefined;

  constructor(path: string, files: Files = directFiles) {
    this.#path = path;
    this.#files = files;
  }

  async read(day: number): Promise<DailyUsage | undefined> {
    await this.#removeLeftovers();
    this.#last = await this.#readAt(this.#path);
    if (this.#last === undefined || this.#last.day <= day) return this.#last;
    // The clock was ahead when it was written.
    return (await this.#readAt(this.#pathOf(day))) ?? this.#last;
  }

  async write(usage: DailyUsage): Promise<void> {
    if (this.#last !== undefined && this.#last.day !== usage.day)
      await this.#writeAt(this.#pathOf(this.#last.day), this.#last);
    await this.#writeAt(this.#path, usage);
    this.#last = usage;
  }

  async days(first: number, last: number): Promise<readonly DailyUsage[]> {
    const days: DailyUsage[] = [];
    const current = await this.#readAt(this.#path);
    for (let day = first; day <= last; day++) {
      const usage = day === current?.day ? current : await this.#readAt(this.#pathOf(day));
      if (usage !== undefined) days.push(usage);
    }
    return days;
  }

  #pathOf(day: number): string {
    return `${this.#path.replace(/\.json$/, '')}.${dateOf(day)}.json`;
  }

  async #removeLeftovers(): Promise<void> {
    try {
      await this.#files.removeLeftovers(this.#path);
    } catch (error) {
      throw storeError(`read ${this.#path}`, error);
    }
  }

  async #readAt(path: string): Promise<DailyUsage | undefined> {
    try {
      const text = await ifPresent(this.#files.readText(path));
      return text === undefined ? undefined : parsed(path, text);
    } catch (error) {
      throw storeError(`read ${path}`, error);
    }
  }

  async #writeAt(path: string, { day, used }: DailyUsage): Promise<void> {
    try {
      await this.#files.replaceFile(path, `${JSON.stringify({ version: VERSION, day, used })}\n`);
    } catch (error) {
      throw storeError(`write ${path}`, error);
    }
  }
}

function parsed(path: string, text: string): DailyUsage {
  const usage = jsonOrUndefined(text);
  if (UsageFile.Check(usage)) return usage;
  throw new KeyStoreError(`${path} is damaged: delete it to count that day's predictions from zero`);
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // damaged: the schema check reports it
  }
}
