/** The names and forms of everything in a shared store. */
import type { KeyStoreError } from '../record.js';

/**
 * The content of the shared store. All of it is written with plain commands:
 *
 *   acuity:keys              hash: key id → the record as JSON
 *   acuity:keys:token        random, written anew with each change of keys
 *   acuity:replicas          hash: replica → number of its last report, a space, the token of the keys that it has
 *   acuity:counts:DAY:KEY    hash: replica → predictions, a space, tokens: what it has counted on that UTC day
 *   acuity:usage:DAY         hash: key id → predictions of all replicas
 *
 * Each replica writes its own fields of `counts` and `replicas`, as absolute numbers: a report that is sent twice
 * counts once, and one that is lost is made good by the next.
 */
export const KEYS = {
  records: 'acuity:keys',
  token: 'acuity:keys:token',
  replicas: 'acuity:replicas',
} as const;

/** The channel on which changes of keys are announced. */
export const CHANNEL = 'acuity:changes';

export function countsKey(day: number, id: string): string {
  return `acuity:counts:${day}:${id}`;
}

export function usageKey(day: number): string {
  return `acuity:usage:${day}`;
}

type Fields = ReadonlyMap<string, string>;

export type Commands = readonly (readonly string[])[];

/** A way to the store. All calls reject with `KeyStoreError`. */
export interface StoreTransport {
  /** How many connections there were so far: what `WATCH` watches ends with its connection. */
  readonly connections: number;
  /** Why the server takes no writes; undefined where it does. */
  readonly refusal: KeyStoreError | undefined;
  /**
   * Sends commands in one piece; resolves to all replies. With `connection`, rejects unless the connection is still the
   * one of that number. Rejects with `ReadOnlyStoreError` where the server takes no writes.
   */
  sendAll(commands: Commands, connection?: number): Promise<readonly unknown[]>;
  /** The same for commands that only read: a server that takes no writes answers them too. */
  readAll(commands: Commands): Promise<readonly unknown[]>;
  close(): void;
}

/** The fields of a hash, in pieces so that others are served between them; those written meanwhile may be missing. */
export async function* piecesAt(transport: StoreTransport, key: string): AsyncGenerator<Fields> {
  let cursor = '0';
  do {
    const [reply] = await transport.readAll([['HSCAN', key, cursor, 'COUNT', '1000']]);
    const [next, list] = reply as readonly [string, readonly string[]];
    yield fieldsOf(list);
    cursor = next;
  } while (cursor !== '0');
}

/** All of them. */
export async function fieldsAt(transport: StoreTransport, key: string): Promise<Fields> {
  const fields = new Map<string, string>();
  for await (const piece of piecesAt(transport, key))
    for (const [name, value] of piece) fields.set(name, value);
  return fields;
}

/** The fields of a hash as `HGETALL` answers them: an object, or under RESP2 a list of names and values. */
export function fieldsOf(reply: unknown): Fields {
  if (!Array.isArray(reply))
    return new Map(Object.entries((reply ?? {}) as Readonly<Record<string, string>>));
  const list = reply as readonly string[];
  const names = list.filter((_, at) => at % 2 === 0);
  return new Map(names.map((name, at) => [name, list[2 * at + 1] ?? '']));
}
