type Hash = Map<string, string>;

interface Entry {
  readonly value: string | Hash;
  expiresMs?: number;
}

/** What a store holds at a moment, as a file or a replica of it has it. */
export type Snapshot = ReadonlyMap<string, Entry>;

/** The commands of Redis that the service uses, in memory. What it does not know it refuses. */
export class MemoryStore {
  private entries = new Map<string, Entry>();
  /** By key: changes with each write, for `WATCH`. */
  private readonly writes = new Map<string, number>();
  private written = 0;
  /** When it last went back: no watch outlives that. */
  private base = 0;

  constructor(
    /** The store's clock: milliseconds since 1970. */
    private readonly nowMs: () => number,
    /** Something was said on a channel. */
    private readonly onPublished: () => void,
  ) {}

  snapshot(): Snapshot {
    return structuredClone(this.entries);
  }

  /** The store goes back to what it was; no connection outlives that. */
  restore(snapshot: Snapshot): void {
    this.entries = structuredClone(snapshot) as Map<string, Entry>;
    this.writes.clear();
    this.base = ++this.written;
  }

  session(): StoreSession {
    return new StoreSession(this);
  }

  writesOf(key: string): number {
    return this.writes.get(key) ?? this.base;
  }

  send([name = '', ...words]: readonly string[]): unknown {
    const [key = '', first = '', second = ''] = words;
    switch (name) {
      case 'PING':
        return 'PONG';
      case 'PUBLISH':
        this.onPublished();
        return 0;
      case 'GET': {
        const value = this.entry(key)?.value;
        if (value !== undefined && typeof value !== 'string') throw wrongKind(key);
        return value ?? null;
      }
      case 'SET':
        this.entries.set(key, { value: first });
        this.wrote(key);
        return 'OK';
      case 'EXPIRE': {
        const entry = this.entry(key);
        if (entry === undefined) return 0;
        entry.expiresMs = this.nowMs() + 1000 * Number(first);
        return 1;
      }
      case 'HGET':
        return this.hash(key)?.get(first) ?? null;
      case 'HSET':
        return this.setFields(key, words.slice(1));
      case 'HDEL':
        this.wrote(key);
        return words.slice(1).filter((field) => this.hash(key)?.delete(field)).length;
      case 'HGETALL':
        return [...(this.hash(key) ?? [])].flat();
      case 'HSCAN':
        if (first !== '0' || (second !== '' && second !== 'COUNT')) break;
        return ['0', [...(this.hash(key) ?? [])].flat()];
    }
    throw new Error(`ERR unknown command '${name}'`);
  }

  private setFields(key: string, words: readonly string[]): number {
    const fields: Hash = this.hash(key) ?? new Map<string, string>();
    if (this.entry(key) === undefined) this.entries.set(key, { value: fields });
    const before = fields.size;
    for (let at = 0; at < words.length; at += 2) fields.set(words[at] ?? '', words[at + 1] ?? '');
    this.wrote(key);
    return fields.size - before;
  }

  private wrote(key: string): void {
    this.writes.set(key, ++this.written);
  }

  private entry(key: string): Entry | undefined {
    const entry = this.entries.get(key);
    if (entry?.expiresMs === undefined || entry.expiresMs > this.nowMs()) return entry;
    this.entries.delete(key);
    return undefined;
  }

  private hash(key: string): Hash | undefined {
    const value = this.entry(key)?.value;
    if (typeof value === 'string') throw wrongKind(key);
    return value;
  }
}

/** One connection: what it watches, and what it has queued. */
export class StoreSession {
  private readonly watched = new Map<string, number>();
  private queued: (readonly string[])[] | undefined;

  constructor(private readonly store: MemoryStore) {}

  send(words: readonly string[]): unknown {
    const [name, ...keys] = words;
    if (name === 'EXEC') return this.execute();
    if (name === 'MULTI') this.queued = [];
    else if (name === 'WATCH') for (const key of keys) this.watched.set(key, this.store.writesOf(key));
    else if (name === 'UNWATCH') this.watched.clear();
    else if (this.queued === undefined) return this.store.send(words);
    else {
      this.queued.push(words);
      return 'QUEUED';
    }
    return 'OK';
  }

  private execute(): readonly unknown[] | null {
    const { queued = [], store } = this;
    const isChanged = [...this.watched].some(([key, writes]) => store.writesOf(key) !== writes);
    this.queued = undefined;
    this.watched.clear();
    return isChanged ? null : queued.map((words) => store.send(words));
  }
}

function wrongKind(key: string): Error {
  return new Error(`WRONGTYPE of ${key}`);
}
