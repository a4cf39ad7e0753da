import { compile, type Script } from './lua.js';

type Hash = Map<string, string>;
/** Members and their scores, in their order. */
type Sorted = (readonly [member: string, score: number])[];

interface Hashes {
  readonly kind: 'hash';
  readonly fields: Hash;
}
interface SortedSet {
  readonly kind: 'sorted';
  readonly members: Sorted;
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
        const members = this.sorted(key) ?? this.newSorted(key);
        const wasThere = remove(members, second);
        const score = Number(first);
        let at = members.length;
        while (at > 0 && isAfter(members[at - 1], second, score)) at--;
        members.splice(at, 0, [second, score]);
        return wasThere ? 0 : 1;
      }
      case 'ZREM':
        return remove(this.sorted(key) ?? [], first) ? 1 : 0;
      case 'ZRANGE': {
        const all = this.sorted(key) ?? [];
        const from = Number(first) < 0 ? Math.max(0, all.length + Number(first)) : Number(first);
        const to = Number(second) < 0 ? all.length + Number(second) : Number(second);
        const found = all.slice(from, to + 1);
        return words[3] === 'WITHSCORES'
          ? found.flat() // scripts read the score as a number
          : found.map(([member]) => member);
      }
      case 'ZRANGEBYSCORE': {
        const found = (this.sorted(key) ?? []).filter(within(first, second));
        const most = words[3] === 'LIMIT' ? Number(words[5]) : Infinity;
        return found.slice(0, most).map(([member]) => member);
      }
      case 'ZREMRANGEBYSCORE': {
        const members = this.sorted(key) ?? [];
        const isWithin = within(first, second);
        let kept = 0;
        for (const member of members) if (!isWithin(member)) members[kept++] = member;
        const removed = members.length - kept;
        members.length = kept;
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
    return entry?.members;
  }

  private newSorted(key: string): Sorted {
    const members: Sorted = [];
    this.entries.set(key, { kind: 'sorted', members });
    return members;
  }
}

function wrongKind(key: string): Error {
  return new Error(`WRONGTYPE of ${key}`);
}

/** Members of one score are in the order of their names. */
function isAfter(other: Sorted[number] | undefined, member: string, score: number): boolean {
  return other !== undefined && (other[1] > score || (other[1] === score && other[0] > member));
}

function remove(members: Sorted, member: string): boolean {
  const at = members.findIndex(([name]) => name === member);
  if (at >= 0) members.splice(at, 1);
  return at >= 0;
}

/** Bounds as `ZRANGEBYSCORE` takes them. */
function within(from: string, to: string): (member: Sorted[number]) => boolean {
  const [least, most] = [bound(from), bound(to)];
  const [isAbove, isBelow] = [from.startsWith('('), to.startsWith('(')];
  return ([, score]) =>
    (isAbove ? score > least : score >= least) && (isBelow ? score < most : score <= most);
}

function bound(text: string): number {
  if (text === '-inf') return -Infinity;
  return text === '+inf' ? Infinity : Number(text.replace('(', ''));
}

function copyOf(entries: Snapshot): Map<string, Entry> {
  const copy = new Map<string, Entry>();
  for (const [key, entry] of entries) {
    if (entry.kind === 'hash') copy.set(key, { ...entry, fields: new Map(entry.fields) });
    else if (entry.kind === 'sorted') copy.set(key, { ...entry, members: [...entry.members] });
    else copy.set(key, entry.expiresMs === undefined ? entry : { ...entry });
  }
  return copy;
}
