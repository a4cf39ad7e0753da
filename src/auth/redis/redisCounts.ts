/** The counts of a fleet, by way of a shared store. */
import { DAY_MS, dayAt, msToNextDay } from '../../base/days.js';
import { within } from '../../base/within.js';
import { randomBase62 } from '../key.js';
import { shareOf } from '../limits/dayQuotas.js';
import type { Tally } from '../limits/limits.js';
import { countsKey, fieldsAt, fieldsOf, KEYS, usageKey, type StoreTransport } from './redisNames.js';
import { BURST_S } from '../limits/tokenBuckets.js';
import { takeCounts, type Ledger, type LedgerParts } from '../store.js';

const EVERY_MS = 100;
/** A report is sent after this time even if nothing was counted: it says that this replica lives. */
const SIGN_OF_LIFE_MS = 500;
/** Without a reply for this long, report a problem. */
const LOCAL_MS = 1000;
/** A key is read for this long after it was used: the last of all replicas to read it writes the sum of all. */
const QUIET_MS = 1000;
/** The sums of all keys are read as often, for keys that only others use. */
const SUMS_MS = 1000;
/** After midnight, the sums of the day before are written once more when all replicas have reported it. */
const SETTLED_MS = 10_000;
/** A replica that was not heard of for this long has no share of a quota. */
const SILENT_MS = 5000;
/** And after this long it is forgotten. */
const FORGOTTEN_MS = 60_000;
/** Most that a bucket owes for what others took, in seconds of its rate: apart, each may take the rate for hours. */
const OWED_S = 10;
const KEYS_AT_ONCE = 500;
const COUNTS_KEPT_S = 2 * 86_400;
const USAGE_KEPT_S = 400 * 86_400;
const CLOSE_MS = 700;
const NAME_LENGTH = 12;

/** This replica's count of one key on one UTC day. */
interface Counted {
  readonly keyIndex: number;
  readonly id: string;
  readonly day: number;
  used: number;
  taken: number;
  /** Predictions of the other replicas, once read. */
  others: number | undefined;
  /** It is reported until then. */
  untilMs: number;
}

/** A key's bucket when it was last read, and what each of the others had taken by then on that day. */
interface Bucket {
  readonly spent: number;
  readonly taken: number;
  readonly atMs: number;
  readonly day: number;
  readonly others: Map<string, number>;
}

/**
 * Makes limits and counts hold for the whole fleet. Each replica writes what it has counted, as one absolute number for
 * each key and day, and reads those of all replicas in the same round trip: the fleet's count is their sum. Nothing has
 * to be sent exactly once, and what the store forgot comes back with the next report.
 *
 *   two replicas, a quota of 1,000, one key: what A learns with each report, and what it may answer until the next
 *
 *   report   A wrote   A read of B   left    A's limit on that day
 *   first    0         0             1,000   0 + 1,000 / 2 = 500
 *   100 ms   300       100           600     300 + 600 / 2 = 600
 *   200 ms   600       150           250     600 + 250 / 2 = 725
 *   lost     -         -             -       725: at 725 it refuses for a second, not until tomorrow
 *   then     725       200           75      725 + 75 / 2, rounded up = 763
 *
 * Tokens go the same way: those that B took since A's last report are spent in A's bucket too.
 */
export class RedisCounts implements Ledger {
  readonly everyMs = EVERY_MS;
  readonly #parts: LedgerParts;
  readonly #transport: StoreTransport;
  readonly #keysToken: () => string;
  readonly #name = randomBase62(NAME_LENGTH);
  /** The last field of each other replica, and when that was new. */
  readonly #replicas = new Map<string, { readonly field: string; readonly atMs: number }>();
  /** Reports sent, and which of them was answered last. */
  readonly #reports = { sent: 0, answered: 0 };
  /** By day and keyIndex: those of today and of the days beside it. */
  readonly #counts = new Map<string, Counted>();
  /** Those to report. */
  readonly #due = new Set<Counted>();
  /** By keyIndex. */
  readonly #buckets = new Map<number, Bucket>();
  /** By keyIndex: all tokens taken, as last counted. */
  readonly #taken = new Map<number, number>();
  #heardMs = -Infinity;
  #readSumsMs = -Infinity;
  #settledDay: number;
  #sending: Promise<void> | undefined;

  /** `keysToken`: of the keys that this replica has. */
  constructor(parts: LedgerParts, transport: StoreTransport, keysToken: () => string) {
    this.#parts = parts;
    this.#transport = transport;
    this.#keysToken = keysToken;
    this.#settledDay = dayAt(parts.clock.nowMs()) - 1;
  }

  get isLocal(): boolean {
    return this.#parts.clock.monotonicMs() - this.#heardMs > LOCAL_MS;
  }

  /** Says that this replica is there, and reads what the others have counted. */
  async restore(): Promise<undefined> {
    try {
      await this.#tell([]);
    } finally {
      await this.#readSums(); // also where the store takes no writes
    }
  }

  save(): Promise<void> {
    this.#collect();
    return (this.#sending = this.#sendDue());
  }

  async close(): Promise<void> {
    const all = async (): Promise<void> => {
      await this.#sending?.catch(() => undefined);
      this.#collect();
      await this.#tellAll();
      await this.#tellAll(); // the sums, of what was read with the last counts
      await this.#transport.sendAll([['HDEL', KEYS.replicas, this.#name]]);
    };
    if (!(await within(CLOSE_MS, all())))
      throw new Error('the last counts did not reach the key store in time');
  }

  /** Takes over what was counted here since the last call. */
  #collect(): void {
    const today = dayAt(this.#parts.clock.nowMs());
    for (const { keyIndex, id, day, used, isNow, taken } of takeCounts(this.#parts)) {
      const name = `${day} ${keyIndex}`;
      // Of a day long past the store has forgotten what the others counted: its sum stands.
      if (!isNow && !this.#counts.has(name) && Math.abs(day - today) > 1) continue;
      const fresh = { keyIndex, id, day, used: 0, taken: 0, others: undefined, untilMs: 0 };
      const count: Counted = this.#counts.get(name) ?? fresh;
      const more = isNow ? taken - (this.#taken.get(keyIndex) ?? 0) : 0;
      if (isNow) this.#taken.set(keyIndex, taken);
      if (count.used === used && more === 0) continue;
      this.#counts.set(name, count);
      count.used = used;
      count.taken += more;
      this.#report(count);
    }
    this.#settle();
  }

  #report(count: Counted): void {
    // After a quiet time the others' counts are old: a sum with them would take the place of a newer one.
    if (!this.#due.has(count)) count.others = undefined;
    count.untilMs = this.#parts.clock.monotonicMs() + QUIET_MS;
    this.#due.add(count);
  }

  /** Some time after midnight, reports the day before once more, and forgets the days before that. */
  #settle(): void {
    const nowMs = this.#parts.clock.nowMs();
    const before = dayAt(nowMs) - 1;
    if (before === this.#settledDay || DAY_MS - msToNextDay(nowMs) < SETTLED_MS) return;
    this.#settledDay = before;
    for (const [name, count] of this.#counts) {
      if (count.day === before) this.#report(count);
      else if (Math.abs(count.day - before) > 2) this.#counts.delete(name);
    }
  }

  async #sendDue(): Promise<void> {
    const nowMs = this.#parts.clock.monotonicMs();
    if (this.#due.size > 0 || nowMs - this.#heardMs >= SIGN_OF_LIFE_MS) await this.#tellAll();
    if (nowMs - this.#readSumsMs >= SUMS_MS) await this.#readSums();
  }

  async #tellAll(): Promise<void> {
    const due = [...this.#due];
    for (let at = 0; at === 0 || at < due.length; at += KEYS_AT_ONCE)
      await this.#tell(due.slice(at, at + KEYS_AT_ONCE));
  }

  /** Writes the counts of this replica, and reads those of all. */
  async #tell(counts: readonly Counted[]): Promise<void> {
    const { limits, clock, keys } = this.#parts;
    const today = dayAt(clock.nowMs());
    const told = counts.map((count) => {
      const { keyIndex, used, taken, others } = count;
      const key = keys[keyIndex];
      return { count, used, taken, others, tally: key && limits.tally(keyIndex, key, clock.nowMs()) };
    });
    const head = this.#headOf();
    const words = told.map(({ count }) => this.#commandsOf(count));
    const replies = await this.#transport.sendAll([...head, ...words.flat()]);
    const nowMs = (this.#heardMs = clock.monotonicMs());
    if (!this.#heard(fieldsOf(replies[0]), nowMs))
      for (const count of this.#counts.values()) this.#report(count);
    limits.replicas = this.#replicaCount();
    let at = head.length;
    for (const [of, { count, used, taken, others, tally }] of told.entries()) {
      const fields = new Map(fieldsOf(replies[at]));
      at += words[of]?.length ?? 0;
      fields.delete(this.#name);
      count.others = [...fields.values()].reduce((sum, field) => sum + countIn(field).used, 0);
      // Its sum is only written once the others' counts are known, and stands once they no longer change.
      const isTold = count.used === used && count.taken === taken && count.others === others;
      if (isTold && nowMs >= count.untilMs) this.#due.delete(count);
      // A day that is over must not take the place of what is known of today.
      if (tally?.day === count.day && count.day === today) this.#adopt(count, tally, fields);
    }
  }

  /** The head of a report: `heard` takes the reply to the first of its commands. */
  #headOf(): string[][] {
    const isForgotten = ({ atMs }: { readonly atMs: number }): boolean => this.#heardMs - atMs > FORGOTTEN_MS;
    const gone = [...this.#replicas].filter(([, heard]) => isForgotten(heard)).map(([name]) => name);
    return [
      ['HGETALL', KEYS.replicas],
      ['HSET', KEYS.replicas, this.#name, `${++this.#reports.sent} ${this.#keysToken()}`],
      ['EXPIRE', KEYS.replicas, `${FORGOTTEN_MS / 1000}`],
      ...(gone.length > 0 ? [['HDEL', KEYS.replicas, ...gone]] : []),
    ];
  }

  /** The first of them reads what the replicas have counted. */
  #commandsOf({ day, id, used, taken, others }: Counted): string[][] {
    const key = countsKey(day, id);
    return [
      ['HGETALL', key],
      ['HSET', key, this.#name, `${used} ${taken}`],
      ['EXPIRE', key, `${COUNTS_KEPT_S}`],
      ...(others === undefined
        ? []
        : [
            ['HSET', usageKey(day), id, `${used + others}`],
            ['EXPIRE', usageKey(day), `${USAGE_KEPT_S}`],
          ]),
    ];
  }

  /**
   * Returns whether the store has the last answered report of this replica, and none since. If not, it has forgotten
   * something, or may have before a report of which the answer was lost.
   */
  #heard(fields: ReadonlyMap<string, string>, nowMs: number): boolean {
    for (const [name, field] of fields)
      if (name !== this.#name && this.#replicas.get(name)?.field !== field)
        this.#replicas.set(name, { field, atMs: nowMs });
    for (const [name, { atMs }] of this.#replicas)
      if (!fields.has(name) && nowMs - atMs > SILENT_MS) this.#replicas.delete(name);
    const isKept = Number.parseInt(fields.get(this.#name) ?? '0', 10) === this.#reports.answered;
    this.#reports.answered = this.#reports.sent;
    return isKept;
  }

  /** How many replicas there are, this one included. */
  #replicaCount(): number {
    return 1 + [...this.#replicas.values()].filter(({ atMs }) => this.#heardMs - atMs < SILENT_MS).length;
  }

  /** Sets what this replica may answer of a key until its next report. */
  #adopt({ keyIndex, day, others = 0 }: Counted, tally: Tally, fields: ReadonlyMap<string, string>): void {
    const { clock, keys, limits } = this.#parts;
    const { dailyMax = null, ratePerS = null } = keys[keyIndex] ?? {};
    if (dailyMax !== null) this.#share(keyIndex, day, tally.used, dailyMax - tally.used - others);
    if (ratePerS === null) return;
    const before = this.#buckets.get(keyIndex);
    const seen = before?.day === day ? before.others : new Map<string, number>();
    let taken = 0;
    for (const [replica, field] of fields) {
      const known = seen.get(replica) ?? 0;
      const now = Math.max(known, countIn(field).taken);
      taken += now - known;
      seen.set(replica, now);
    }
    const atMs = clock.monotonicMs();
    let { spent } = tally;
    if (before !== undefined && taken > 0) {
      // The others' tokens came since `before`, so what flowed in since then is theirs too: after a long pause no
      // bucket is in debt for what was paid long ago.
      const refilled = (ratePerS * Math.max(0, atMs - before.atMs)) / 1000;
      const all = before.spent + (tally.taken - before.taken) + taken - refilled;
      spent = Math.max(spent, Math.min(all, ratePerS * Math.max(OWED_S, BURST_S * this.#replicaCount())));
    }
    if (spent > tally.spent) limits.spend(keyIndex, ratePerS, spent - tally.spent, clock.nowMs(), false);
    this.#buckets.set(keyIndex, { spent, taken: tally.taken, atMs, day, others: seen });
  }

  #share(keyIndex: number, day: number, used: number, left: number): void {
    this.#parts.limits.limit(keyIndex, day, used + shareOf(left, this.#replicaCount()), left <= 0);
  }

  /** Reads the fleet's counts of today, for keys that this replica does not report at the moment. */
  async #readSums(): Promise<void> {
    const { clock, keys, limits } = this.#parts;
    this.#readSumsMs = clock.monotonicMs();
    const day = dayAt(clock.nowMs());
    const sums = await fieldsAt(this.#transport, usageKey(day));
    if (sums.size === 0) return;
    for (const key of keys) {
      const { id, keyIndex, dailyMax } = key;
      const sum = sums.get(id);
      const count = this.#counts.get(`${day} ${keyIndex}`);
      if (sum === undefined || dailyMax === null || (count && this.#due.has(count))) continue;
      const tally = limits.tally(keyIndex, key, clock.nowMs());
      const used = tally.day === day ? tally.used : 0;
      this.#share(keyIndex, day, used, dailyMax - Math.max(used, numberIn(sum)));
    }
  }
}

function countIn(field: string): { readonly used: number; readonly taken: number } {
  const [used = '', taken = ''] = field.split(' ');
  return { used: numberIn(used), taken: numberIn(taken) };
}

/** A count that can't be read counts nothing. */
function numberIn(text: string): number {
  const number = Number(text);
  return Number.isSafeInteger(number) && number >= 0 ? number : 0;
}
