import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { ifPresent } from '../files/fileError.js';
import { directFiles, type Files } from '../files/files.js';
import { dateOf, dayOf } from './limits.js';
import { KeyStoreError, storeError } from './record.js';
import { takeCounts, type DailyUsage, type Ledger, type LedgerParts } from './store.js';

const VERSION = 1;
const COUNT_MAX = 2 ** 32 - 1;
/** Days that a clock may go back to. */
const DAYS_KEPT = 4;

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
export class UsageFiles {
  readonly #path: string;
  readonly #files: Files;

  constructor(path: string, files: Files = directFiles) {
    this.#path = path;
    this.#files = files;
  }

  /** The counts written last, and then, where these are of a later day, those of `day`. */
  async read(day: number): Promise<readonly DailyUsage[]> {
    await this.#doing('read', this.#path, () => this.#files.removeLeftovers(this.#path));
    const last = await this.#readAt(this.#path);
    if (last === undefined) return [];
    // The clock was ahead when it was written.
    const usage = last.day > day ? await this.#readAt(this.#pathOf(day)) : undefined;
    return usage === undefined ? [last] : [last, usage];
  }

  /** Writes the counts of a day; `isOver`: into the file named after it. */
  async write({ day, used }: DailyUsage, isOver = false): Promise<void> {
    const path = isOver ? this.#pathOf(day) : this.#path;
    const text = `${JSON.stringify({ version: VERSION, day, used })}\n`;
    await this.#doing('write', path, () => this.#files.replaceFile(path, text));
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

  async #readAt(path: string): Promise<DailyUsage | undefined> {
    const text = await this.#doing('read', path, () => ifPresent(this.#files.readText(path)));
    return text === undefined ? undefined : parsed(path, text);
  }

  async #doing<T>(what: 'read' | 'write', path: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw storeError(`${what} ${path}`, error);
    }
  }
}

function parsed(path: string, text: string): DailyUsage {
  try {
    const usage: unknown = JSON.parse(text);
    if (UsageFile.Check(usage)) return usage;
  } catch {
    // Damaged, as one of another form is.
  }
  throw new KeyStoreError(`${path} is damaged: delete it to count that day's predictions from zero`);
}

/** Keeps the daily counts over a restart. Requests in flight at a crash count as used. */
export class FileCounts implements Ledger {
  readonly everyMs = 1000;
  readonly isLocal = false;
  readonly #parts: LedgerParts;
  readonly #files: Pick<UsageFiles, 'read' | 'write'>;
  /** By day: predictions by key id, of the days met since the start. */
  readonly #days = new Map<number, Map<string, number>>();
  /** Days whose counts have changed since they were written. */
  readonly #unsaved = new Set<number>();
  /** The day counted now: the one in the file without a date. */
  #day: number;
  #saving: Promise<void> | undefined;

  constructor(parts: LedgerParts, files: Pick<UsageFiles, 'read' | 'write'>) {
    this.#parts = parts;
    this.#files = files;
    this.#day = dayOf(parts.clock.nowMs());
  }

  /** Restores what an earlier server counted today, else last: the clock may be wrong only now. */
  async restore(): Promise<void> {
    const { limits, keys } = this.#parts;
    for (const { day, used } of await this.#files.read(this.#day)) {
      // The one before goes to its own file.
      for (const other of this.#days.keys()) this.#unsaved.add(other);
      this.#days.set((this.#day = day), new Map(Object.entries(used)));
      for (const { id, keyIndex } of keys) limits.restore(keyIndex, day, used[id] ?? 0);
    }
  }

  /** Writes the counts if they changed since the last save. Joins a write under way. */
  save(): Promise<void> {
    this.#saving ??= this.#write().finally(() => {
      this.#saving = undefined;
    });
    return this.#saving;
  }

  async close(): Promise<void> {
    // After a save that began before the last answer.
    await this.#saving?.catch(() => undefined);
    await this.save();
  }

  async #write(): Promise<void> {
    for (const { id, day, used, isNow } of takeCounts(this.#parts)) this.#count(id, day, used, isNow);
    // Days that are over first: the file without a date has the counts of one of them until today's are written.
    for (const day of [...this.#unsaved].toSorted((day) => (day === this.#day ? 1 : -1))) {
      this.#unsaved.delete(day);
      try {
        await this.#files.write(
          { day, used: Object.fromEntries(this.#days.get(day) ?? []) },
          day !== this.#day,
        );
      } catch (error) {
        this.#unsaved.add(day);
        throw error;
      }
    }
    for (const day of this.#days.keys())
      if (this.#days.size > DAYS_KEPT && day !== this.#day) this.#days.delete(day);
  }

  #count(id: string, day: number, used: number, isNow: boolean): void {
    // A day long past whose other counts are no longer known here is in its file.
    if (!isNow && !this.#days.has(day) && Math.abs(day - this.#day) >= DAYS_KEPT - 1) return;
    const counts = this.#days.get(day) ?? new Map<string, number>();
    this.#days.set(day, counts);
    if ((counts.get(id) ?? 0) === used) return;
    counts.set(id, used);
    this.#unsaved.add(day);
    if (!isNow || day === this.#day) return;
    this.#unsaved.add(this.#day); // into its own file
    this.#day = day;
  }
}
