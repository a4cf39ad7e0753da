import { compile, type Script } from './lua.js';

type Hash = Map<string, string>;
/** Members by their score. */
type Sorted = Map<string, number>;

interface Hashes {
  readonly kind: 'hash';
  readonly fields: Hash;
}
interface SortedSet {
  readonly kind: 'sorted';
  readonly scores: Sorted;
}
interface Text {
  readonly kind: 'text';
  readonly text: string;
}
type Entry = (Hashes | SortedSet | Text) & { expiresMs?: number };

export interface StoreOptions {
  /** The store's clock: milliseconds since 1970. */
  nowMs(): number;
  /** Something was said on a channel. */
  onPublished(channel: string): void;
}

/** What a store holds at a moment, as a file or a replica of it has it. */
export type Snapshot = ReadonlyMap<string, Entry>;

const scripts = new Map<string, Script>();

function scriptOf(source: string): Script {
  const known = scripts.get(source);
  if (known !== undefined) return known;
  const made = compile(source);
  scripts.set(source, made);
  return made;
}

/** The commands of Redis that the service uses, in memory. What it does not know it refuses. */
export class MemoryStore {
  private entries = new Map<string, Entry>();

  constructor(private readonly options: StoreOptions) {}

  snapshot(): Snapshot {
    return copyOf(this.entries);
  }

  /** The store goes back to what it was. */
  restore(snapshot: Snapshot): void {
    this.entries = copyOf(snapshot);
  }

  run(source: string, keys: readonly string[], args: readonly string[]): unknown {
    return scriptOf(source)(keys, args, this.call);
  }

  send(words: readonly string[]): unknown {
    return this.call(words[0] ?? '', words.slice(1));
  }

  private readonly call = (name: string, words: readonly string[]): unknown => {
    const key = words[0] ?? '';
    const first = words[1] ?? '';
    const second = words[2] ?? '';
    switch (name) {
      case 'PING':
        return 'PONG';
      case 'TIME': {
        const us = Math.round(this.options.nowMs() * 1000);
        return [String(Math.floor(us / 1e6)), String(us % 1e6)];
      }
      case 'PUBLISH':
        this.options.onPublished(key);
        return 0;
      case 'GET': {
        const entry = this.entry(key);
        if (entry !== undefined && entry.kind !== 'text') throw wrongKind(key);
        return entry?.text ?? null;
      }
      case 'SET': {
        const made: Entry = { kind: 'text', text: first };
        if (second === 'EX') made.expiresMs = this.options.nowMs() + 1000 * Number(words[3]);
        this.entries.set(key, made);
        return 'OK';
      }
      case 'EXPIRE': {
        const entry = this.entry(key);
        if (entry === undefined) return 0;
        entry.expiresMs = this.options.nowMs() + 1000 * Number(first);
        return 1;
      }
      case 'HGET':
        return this.hash(key)?.get(first) ?? null;
      case 'HMGET':
        return words.slice(1).map((field) => this.hash(key)?.get(field) ?? null);
      case 'HEXISTS':
        return this.hash(key)?.has(first) === true ? 1 : 0;
      case 'HSET': {
        const fields = this.hash(key) ?? this.newHash(key);
        const isNew = !fields.has(first);
        fields.set(first, second);
        return isNew ? 1 : 0;
      }
      case 'HINCRBY': {
        const fields = this.hash(key) ?? this.newHash(key);
        const sum = Number(fields.get(first) ?? '0') + Number(second);
        fields.set(first, String(sum));
        return sum;
      }
      case 'ZADD': {
        const scores = this.sorted(key) ?? this.newSorted(key);
        const isNew = !scores.has(second);
        scores.set(second, Number(first));
        return isNew ? 1 : 0;
      }
      case 'ZREM':
        return this.sorted(key)?.delete(first) === true ? 1 : 0;
      case 'ZRANGE': {
        const all = this.ordered(key);
        const from = Number(first) < 0 ? Math.max(0, all.length + Number(first)) : Number(first);
        const to = Number(second) < 0 ? all.length + Number(second) : Number(second);
        const found = all.slice(from, to + 1);
        return words[3] === 'WITHSCORES'
          ? found.flatMap(([member, score]) => [member, score]) // scripts read it as a number
          : found.map(([member]) => member);
      }
      case 'ZRANGEBYSCORE': {
        const found = this.ordered(key).filter(([, score]) => isWithin(score, first, second));
        const most = words[3] === 'LIMIT' ? Number(words[5]) : Infinity;
        return found.slice(0, most).map(([member]) => member);
      }
      case 'ZREMRANGEBYSCORE': {
        const scores = this.sorted(key);
        let removed = 0;
        for (const [member, score] of scores ?? [])
          if (isWithin(score, first, second) && scores?.delete(member) === true) removed++;
        return removed;
      }
      case 'HSCAN':
        return ['0', [...(this.hash(key) ?? [])].flat()];
      default:
        throw new Error(`ERR unknown command '${name}'`);
    }
  };

  private entry(key: string): Entry | undefined {
    const entry = this.entries.get(key);
    if (entry?.expiresMs === undefined || entry.expiresMs > this.options.nowMs()) return entry;
    this.entries.delete(key);
    return undefined;
  }

  private hash(key: string): Hash | undefined {
    const entry = this.entry(key);
    if (entry !== undefined && entry.kind !== 'hash') throw wrongKind(key);
    return entry?.fields;
  }

  private newHash(key: string): Hash {
    const fields: Hash = new Map();
    this.entries.set(key, { kind: 'hash', fields });
    return fields;
  }

  private sorted(key: string): Sorted | undefined {
    const entry = this.entry(key);
    if (entry !== undefined && entry.kind !== 'sorted') throw wrongKind(key);
    return entry?.scores;
  }

  private newSorted(key: string): Sorted {
    const scores: Sorted = new Map();
    this.entries.set(key, { kind: 'sorted', scores });
    return scores;
  }

  private ordered(key: string): (readonly [string, number])[] {
    return [...(this.sorted(key) ?? [])].toSorted(([a, s], [b, t]) => s - t || (a < b ? -1 : 1));
  }
}

function wrongKind(key: string): Error {
  return new Error(`WRONGTYPE of ${key}`);
}

/** Bounds as `ZRANGEBYSCORE` takes them. */
function isWithin(score: number, from: string, to: string): boolean {
  const isAbove = from.startsWith('(') ? score > bound(from.slice(1)) : score >= bound(from);
  return isAbove && (to.startsWith('(') ? score < bound(to.slice(1)) : score <= bound(to));
}

function bound(text: string): number {
  return text === '-inf' ? -Infinity : text === '+inf' ? Infinity : Number(text);
}

function copyOf(entries: Snapshot): Map<string, Entry> {
  const copy = new Map<string, Entry>();
  for (const [key, entry] of entries) {
    if (entry.kind === 'hash') copy.set(key, { ...entry, fields: new Map(entry.fields) });
    else if (entry.kind === 'sorted') copy.set(key, { ...entry, scores: new Map(entry.scores) });
    else copy.set(key, entry.expiresMs === undefined ? entry : { ...entry });
  }
  return copy;
}
