/** The daily counts of one server, in files beside its key file. */
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { dateOf, dayAt } from '../../base/days.js';
import { ifPresent } from '../../base/files/fileError.js';
import { directFiles, type Files } from '../../base/files/files.js';
import type { Presence } from '../../base/files/presence.js';
import { parsedJson } from '../../base/json.js';
import { KeyStoreError, storeError } from '../record.js';
import { takeCounts, type DailyUsage, type Ledger, type LedgerParts } from '../store.js';

const VERSION = 1;
const COUNT_MAX = 2 ** 32 - 1;
const SHARED =
  'another process serves from this key file: each counts for itself and overwrites the counts of the other, so quotas are exceeded and "acuity keys usage" says too little; end one of them, or share a store with ACUITY_KEYS=redis://… (docs/FLEET.md)';

const UsageFile = Compile(
  Type.Object({
    version: Type.Literal(VERSION),
    days: Type.Array(
      Type.Object({
        day: Type.Integer({ minimum: 0 }),
        used: Type.Record(Type.String(), Type.Integer({ minimum: 0, maximum: COUNT_MAX })),
      }),
    ),
  }),
);

/**
 * The daily counts, in a file beside the key store that one server writes: those of the last days. Each day before
 * has a file named after it: keys.usage.2030-01-31.json.
 */
export class UsageFiles {
  readonly #path: string;
  readonly #files: Files;

  constructor(path: string, files: Files = directFiles) {
    this.#path = path;
    this.#files = files;
  }

  /** The last days. */
  async read(): Promise<readonly DailyUsage[]> {
    await this.#doing('read', this.#path, () => this.#files.removeLeftovers(this.#path));
    return this.#readAt(this.#path);
  }

  /** Writes the last days, or, with `pastDay`, that day into the file named after it. */
  async write(days: readonly DailyUsage[], pastDay?: number): Promise<void> {
    const path = pastDay === undefined ? this.#path : this.#pathOf(pastDay);
    const text = `${JSON.stringify({ version: VERSION, days })}\n`;
    await this.#doing('write', path, () => this.#files.replaceFile(path, text));
  }

  async days(first: number, last: number): Promise<readonly DailyUsage[]> {
    const days: DailyUsage[] = [];
    const kept = await this.#readAt(this.#path);
    for (let day = first; day <= last; day++) {
      const known = kept.filter((usage) => usage.day === day);
      days.push(...(known.length > 0 ? known : await this.#readAt(this.#pathOf(day))));
    }
    return days;
  }

  #pathOf(day: number): string {
    return `${this.#path.replace(/\.json$/, '')}.${dateOf(day)}.json`;
  }

  async #readAt(path: string): Promise<readonly DailyUsage[]> {
    const text = await this.#doing('read', path, () => ifPresent(this.#files.readText(path)));
    if (text === undefined) return [];
    const file = parsedJson(text);
    if (UsageFile.Check(file)) return file.days;
    throw new KeyStoreError(
      `${path} is damaged, or of another version: delete it to count its predictions from zero`,
    );
  }

  async #doing<T>(what: 'read' | 'write', path: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw storeError(`${what} ${path}`, error);
    }
  }
}

/** Keeps the daily counts over a restart. Requests in flight at a crash count as used. */
export class FileCounts implements Ledger {
  readonly everyMs = 1000;
  readonly isLocal = false;
  readonly #parts: LedgerParts;
  readonly #files: Pick<UsageFiles, 'read' | 'write' | 'days'>;
  readonly #attend: (() => Promise<Presence>) | undefined;
  #presence: Presence | undefined;
  /** By day: predictions by key id. */
  readonly #days = new Map<number, Map<string, number>>();
  #isSaved = true;
  #saving: Promise<void> | undefined;

  /** `attend` tells whether another process counts in the same files. */
  constructor(
    parts: LedgerParts,
    files: Pick<UsageFiles, 'read' | 'write' | 'days'>,
    attend?: () => Promise<Presence>,
  ) {
    this.#parts = parts;
    this.#files = files;
    this.#attend = attend;
  }

  async restore(): Promise<string | undefined> {
    this.#presence = await this.#attend?.();
    await this.#restoreCounts();
    return this.#presence?.isShared === true ? SHARED : undefined;
  }

  /** Restores what an earlier server counted today, else last: the clock may be wrong only now. */
  async #restoreCounts(): Promise<void> {
    const { limits, keys, clock } = this.#parts;
    const today = dayAt(clock.nowMs());
    for (const { day, used } of [...(await this.#files.read()), ...(await this.#files.days(today, today))])
      this.#days.set(day, new Map(Object.entries(used)));
    const day = this.#days.has(today) ? today : Math.max(...this.#days.keys());
    const counts = this.#days.get(day);
    if (counts === undefined) return;
    for (const { id, keyIndex } of keys) limits.restore(keyIndex, day, counts.get(id) ?? 0);
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
    try {
      await this.save();
    } finally {
      await this.#presence?.leave();
    }
  }

  async #write(): Promise<void> {
    const today = dayAt(this.#parts.clock.nowMs());
    for (const { id, day, used } of takeCounts(this.#parts)) {
      const counts = this.#days.get(day) ?? new Map<string, number>();
      // A day long past has its own file, with counts that are no longer known here.
      if ((day < today - 1 && !this.#days.has(day)) || (counts.get(id) ?? 0) === used) continue;
      this.#days.set(day, counts.set(id, used));
      this.#isSaved = false;
    }
    if (this.#isSaved) return;
    // The newest of them may be the right one, if the clock is ahead now.
    const past = [...this.#days.keys()].filter((day) => day < today - 1).toSorted((a, b) => b - a);
    for (const day of past.slice(1)) {
      await this.#files.write([this.#usageOf(day)], day);
      this.#days.delete(day);
    }
    this.#isSaved = true;
    try {
      await this.#files.write([...this.#days.keys()].map((day) => this.#usageOf(day)));
    } catch (error) {
      this.#isSaved = false;
      throw error;
    }
  }

  #usageOf(day: number): DailyUsage {
    return { day, used: Object.fromEntries(this.#days.get(day) ?? []) };
  }
}
