import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { ifPresent } from '../files/fileError.js';
import { directFiles, type Files } from '../files/files.js';
import { KeyStoreError, storeError, type DailyUsage, type UsageStore } from './store.js';

const VERSION = 1;
const COUNT_MAX = 2 ** 31 - 1;

const UsageFile = Compile(
  Type.Object({
    version: Type.Literal(VERSION),
    day: Type.Integer({ minimum: 0 }),
    used: Type.Record(Type.String(), Type.Integer({ minimum: 0, maximum: COUNT_MAX })),
  }),
);

/** The daily counts in a file beside the key store. One server writes it. */
export class FileUsageStore implements UsageStore {
  readonly #path: string;
  readonly #files: Files;

  constructor(path: string, files: Files = directFiles) {
    this.#path = path;
    this.#files = files;
  }

  async read(): Promise<DailyUsage | undefined> {
    try {
      await this.#files.removeLeftovers(this.#path);
      const text = await ifPresent(this.#files.readText(this.#path));
      return text === undefined ? undefined : this.#parsed(text);
    } catch (error) {
      throw storeError(`read ${this.#path}`, error);
    }
  }

  async write({ day, used }: DailyUsage): Promise<void> {
    try {
      await this.#files.replaceFile(this.#path, `${JSON.stringify({ version: VERSION, day, used })}\n`);
    } catch (error) {
      throw storeError(`write ${this.#path}`, error);
    }
  }

  #parsed(text: string): DailyUsage {
    const usage = jsonOrUndefined(text);
    if (UsageFile.Check(usage)) return usage;
    throw new KeyStoreError(`${this.#path} is damaged: delete it to count today's predictions from zero`);
  }
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Damaged, as the schema will say.
  }
}
