import type { KeyKind } from './store.js';

/** 32-bit words in a SHA-256. */
const WORDS = 8;
/** The row for unknown digests. It holds no key and is never usable. */
const NO_KEY = 0;
const KINDS: readonly KeyKind[] = ['demo', 'live'];

/** What the authenticator needs of a key. Plain data, so it can cross threads. */
export interface IndexedRecord {
  readonly id: string;
  readonly kind: KeyKind;
  /** SHA-256 of the key, base64url. */
  readonly digest: string;
  /** First epoch ms at which the key is refused; `Infinity`: never expires, `-Infinity`: revoked. */
  readonly usableUntilMs: number;
  /** The key's index among all keys that this process has known: its place in `Limits` and in every count by key. */
  readonly keyIndex: number;
  readonly ratePerS: number | null;
  readonly dailyMax: number | null;
}

/** A record without its digest. */
export type KeyEntry = Omit<IndexedRecord, 'digest'>;

/**
 * Finds keys by their digest. The columns are typed arrays, so the garbage collector has no million objects
 * to trace.
 *
 *   buckets   open addressing, linear probing, at most half full; 0 = empty
 *      │ row
 *      ▼
 *   digests (8 words a row) │ usableUntilMs │ keyIndexes │ rates │ dailyMaxima │ kinds │ ids
 *
 * The first word of a digest serves as its hash: SHA-256 spreads evenly, and callers can't choose the stored
 * keys.
 */
export class KeyTable {
  readonly size: number;
  readonly #mask: number;
  readonly #buckets: Uint32Array;
  readonly #digests: Uint32Array;
  readonly #usableUntilMs: Float64Array;
  readonly #keyIndexes: Int32Array;
  /** `Infinity`: unlimited. */
  readonly #rates: Float64Array;
  /** `Infinity`: unlimited. */
  readonly #dailyMaxima: Float64Array;
  readonly #kinds: Uint8Array;
  readonly #ids: string[];

  constructor(records: readonly IndexedRecord[]) {
    const rows = records.length + 1;
    const bucketCount = 2 ** Math.ceil(Math.log2(2 * rows));
    this.size = records.length;
    this.#mask = bucketCount - 1;
    this.#buckets = new Uint32Array(bucketCount);
    this.#digests = new Uint32Array(rows * WORDS);
    this.#usableUntilMs = new Float64Array(rows);
    this.#keyIndexes = new Int32Array(rows);
    this.#rates = new Float64Array(rows);
    this.#dailyMaxima = new Float64Array(rows);
    this.#kinds = new Uint8Array(rows);
    this.#ids = [''];
    this.#usableUntilMs[NO_KEY] = -Infinity;
    records.forEach((record, index) => this.#insert(record, index + 1));
  }

  /** The row of a 32-byte digest. Always returns a row; `isUsable` says whether its key may be used. */
  find(digest: Buffer): number {
    const first = digest.readUInt32LE(0);
    for (let bucket = first & this.#mask; ; bucket = (bucket + 1) & this.#mask) {
      // In range: the index is masked. The loop ends, because at least half of the buckets are empty.
      const row = this.#buckets[bucket]!;
      if (row === NO_KEY || this.#hasDigest(row, digest)) return row;
    }
  }

  /** False for unknown, expired and revoked keys. */
  isUsable(row: number, nowMs: number): boolean {
    return nowMs < this.#usableUntilMs[row]!; // In range: rows come from `find`.
  }

  entry(row: number): KeyEntry {
    // In range: rows come from `find`.
    const ratePerS = this.#rates[row]!;
    const dailyMax = this.#dailyMaxima[row]!;
    return {
      id: this.#ids[row]!,
      kind: KINDS[this.#kinds[row]!]!,
      usableUntilMs: this.#usableUntilMs[row]!,
      keyIndex: this.#keyIndexes[row]!,
      ratePerS: ratePerS === Infinity ? null : ratePerS,
      dailyMax: dailyMax === Infinity ? null : dailyMax,
    };
  }

  #insert(record: IndexedRecord, row: number): void {
    const digest = Buffer.from(record.digest, 'base64url');
    for (let word = 0; word < WORDS; word++) {
      this.#digests[row * WORDS + word] = digest.readUInt32LE(word * 4);
    }
    this.#usableUntilMs[row] = record.usableUntilMs;
    this.#keyIndexes[row] = record.keyIndex;
    this.#rates[row] = record.ratePerS ?? Infinity;
    this.#dailyMaxima[row] = record.dailyMax ?? Infinity;
    this.#kinds[row] = KINDS.indexOf(record.kind);
    this.#ids.push(record.id);
    this.#buckets[this.#emptyBucket(digest.readUInt32LE(0))] = row;
  }

  #emptyBucket(hash: number): number {
    let bucket = hash & this.#mask;
    while (this.#buckets[bucket] !== NO_KEY) bucket = (bucket + 1) & this.#mask;
    return bucket;
  }

  #hasDigest(row: number, digest: Buffer): boolean {
    for (let word = 0; word < WORDS; word++) {
      if (this.#digests[row * WORDS + word] !== digest.readUInt32LE(word * 4)) return false;
    }
    return true;
  }
}
