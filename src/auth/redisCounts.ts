import { within } from '../base/within.js';
import { randomBase62 } from './key.js';
import type { Ledger, LedgerParts } from './ledger.js';
import { dayOf, msToNextDay } from './limits.js';
import { countsKey, fieldsOf, KEYS, usageKey } from './redisNames.js';
import { ReplicaWatch } from './replicaWatch.js';
import { shareOf, spentWith } from './shares.js';
import type { StoreTransport } from './storeTransport.js';
import { Tallies, type Tally } from './tallies.js';

export interface RedisCountsOptions extends LedgerParts {
  readonly connection: StoreTransport;
  /** The token of the keys that this replica has. */
  keysToken(): string;
}

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
const KEYS_AT_ONCE = 500;
const DAY_MS = 86_400_000;
const COUNTS_KEPT_S = 2 * 86_400;
const USAGE_KEPT_S = 400 * 86_400;
const CLOSE_MS = 700;
const NAME_LENGTH = 12;

/** What this replica has counted of one key on one UTC day. */
interface Count {
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
 */
export class RedisCounts implements Ledger {
  readonly everyMs = EVERY_MS;
  readonly #options: RedisCountsOptions;
  readonly #tallies: Tallies;
  readonly #name = randomBase62(NAME_LENGTH);
  readonly #replicas = new ReplicaWatch(this.#name);
  /** By day and keyIndex: those of today and of the days beside it. */
  readonly #counts = new Map<string, Count>();
  /** Those to report. */
  readonly #due = new Set<Count>();
  /** By keyIndex. */
  readonly #buckets = new Map<number, Bucket>();
  /** By keyIndex: all tokens taken, as last counted. */
  readonly #taken = new Map<number, number>();
  #heardMs: number;
  #readSumsMs = -Infinity;
  #settledDay: number;
  #sending: Promise<void> | undefined;
  #problem: Error | undefined;

  constructor(options: RedisCountsOptions) {
    this.#options = options;
    this.#tallies = new Tallies(options.memory);
    this.#heardMs = options.clock.monotonicMs();
    this.#settledDay = dayOf(options.clock.nowMs()) - 1;
  }

  get isLocal(): boolean {
    return this.#options.clock.monotonicMs() - this.#heardMs > LOCAL_MS;
  }

  /** Says that this replica is there, and reads what the others have counted. */
  async restore(): Promise<void> {
    await this.#tell([]);
    await this.#readSums();
  }

  /** Resolves at the latest when the next report is due; the report itself may take longer. */
  async save(): Promise<void> {
    this.#collect();
    this.#send();
    await within(EVERY_MS, this.#sending ?? Promise.resolve());
    if (this.#problem !== undefined) throw this.#problem;
  }

  async close(): Promise<void> {
    const endsMs = performance.now() + CLOSE_MS;
    const all = async (): Promise<void> => {
      await this.#sending;
      this.#collect();
      await this.#tellAll();
      await this.#tellAll(); // the sums, of what was read with the last counts
      await this.#options.connection.send(['HDEL', KEYS.replicas, this.#name]);
    };
    if (!(await within(Math.max(0, endsMs - performance.now()), all())))
      throw new Error('the last counts did not reach the key store in time');
  }

  /** Takes over what was counted here since the last call. */
  #collect(): void {
    const { clock, keys } = this.#options;
    for (const keyIndex of this.#tallies.takeChanged()) {
      const key = keys.at(keyIndex);
      if (key === undefined) continue;
      const tally = this.#tallies.tally(keyIndex, key, clock.nowMs());
      if (tally.dayBefore !== 0) this.#count(keyIndex, key.id, tally.dayBefore, tally.usedBefore >>> 0, 0);
      const taken = tally.taken - (this.#taken.get(keyIndex) ?? 0);
      this.#taken.set(keyIndex, tally.taken);
      this.#count(keyIndex, key.id, tally.day, tally.used >>> 0, taken);
    }
    this.#settle();
  }

  #count(keyIndex: number, id: string, day: number, used: number, taken: number): void {
    const name = `${day} ${keyIndex}`;
    const fresh = { keyIndex, id, day, used: 0, taken: 0, others: undefined, untilMs: 0 };
    const count: Count = this.#counts.get(name) ?? fresh;
    if (count.used === used && taken === 0) return;
    this.#counts.set(name, count);
    count.used = used;
    count.taken += taken;
    this.#report(count);
  }

  #report(count: Count): void {
    count.untilMs = this.#options.clock.monotonicMs() + QUIET_MS;
    this.#due.add(count);
  }

  /** Some time after midnight, reports the day before once more, and forgets the days before that. */
  #settle(): void {
    const nowMs = this.#options.clock.nowMs();
    const before = dayOf(nowMs) - 1;
    if (before === this.#settledDay || DAY_MS - msToNextDay(nowMs) < SETTLED_MS) return;
    this.#settledDay = before;
    for (const [name, count] of this.#counts) {
      if (count.day === before) this.#report(count);
      else if (Math.abs(count.day - before) > 2) this.#counts.delete(name);
    }
  }

  #send(): void {
    this.#sending ??= this.#sendDue()
      .then(
        () => (this.#problem = undefined),
        (error: Error) => (this.#problem = error),
      )
      .then(() => {
        this.#sending = undefined;
      });
  }

  async #sendDue(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#due.size > 0 || nowMs - this.#heardMs >= SIGN_OF_LIFE_MS) await this.#tellAll();
    if (nowMs - this.#readSumsMs >= SUMS_MS) await this.#readSums();
  }

  async #tellAll(): Promise<void> {
    const due = [...this.#due];
    for (let at = 0; at === 0 || at < due.length; at += KEYS_AT_ONCE)
      await this.#tell(due.slice(at, at + KEYS_AT_ONCE));
  }

  /** Writes the counts of this replica, and reads those of all. */
  async #tell(counts: readonly Count[]): Promise<void> {
    const { connection, clock, keysToken, keys } = this.#options;
    const today = dayOf(clock.nowMs());
    const head = this.#replicas.commands(keysToken());
    const told = counts.map((count) => {
      const { keyIndex, used, taken, others } = count;
      const key = keys.at(keyIndex);
      return { count, used, taken, others, tally: key && this.#tallies.tally(keyIndex, key, clock.nowMs()) };
    });
    const commands = told.flatMap(({ count, used, taken }) => this.#commandsOf(count, `${used} ${taken}`));
    const replies = await connection.sendAll([...head, ...commands.map(({ words }) => words)]);
    const nowMs = (this.#heardMs = clock.monotonicMs());
    if (!this.#replicas.heard(replies[0], nowMs))
      for (const count of this.#counts.values()) this.#report(count);
    this.#tallies.shareBy(this.#replicas.count);
    const fields = replies.slice(head.length).filter((_, at) => commands[at]?.isRead === true);
    for (const [at, { count, used, taken, others, tally }] of told.entries()) {
      const all = fieldsOf(fields[at]);
      this.#hear(count, all);
      // Its sum is only written once the others' counts are known, and stands once they no longer change.
      const isTold = count.used === used && count.taken === taken && count.others === others;
      if (isTold && nowMs >= count.untilMs) this.#due.delete(count);
      // A day that is over must not take the place of what is known of today.
      if (tally?.day === count.day && count.day === today) this.#adopt(count, tally, all);
    }
  }

  #commandsOf({ day, id, used, others }: Count, field: string): { words: string[]; isRead?: true }[] {
    const key = countsKey(day, id);
    const sum = others === undefined ? [] : [['HSET', usageKey(day), id, `${used + others}`]];
    return [
      { words: ['HSET', key, this.#name, field] },
      { words: ['EXPIRE', key, `${COUNTS_KEPT_S}`] },
      { words: ['HGETALL', key], isRead: true },
      ...sum.map((words) => ({ words })),
      ...sum.map(() => ({ words: ['EXPIRE', usageKey(day), `${USAGE_KEPT_S}`] })),
    ];
  }

  /** Takes over what the others have counted. */
  #hear(count: Count, fields: ReadonlyMap<string, string>): void {
    let others = 0;
    for (const [replica, field] of fields) if (replica !== this.#name) others += countIn(field).used;
    count.others = others;
  }

  /** Sets what this replica may answer of a key until its next report. */
  #adopt({ keyIndex, day, others = 0 }: Count, tally: Tally, fields: ReadonlyMap<string, string>): void {
    const { clock, keys } = this.#options;
    const key = keys.at(keyIndex);
    if (key === undefined) return;
    const used = tally.used >>> 0;
    if (key.dailyMax !== null) this.#share(keyIndex, day, { used, left: key.dailyMax - used - others });
    if (key.ratePerS === null) return;
    const before = this.#buckets.get(keyIndex);
    const seen = before?.day === day ? before.others : new Map<string, number>();
    let taken = 0;
    for (const [replica, field] of fields) {
      if (replica === this.#name) continue;
      const known = seen.get(replica) ?? 0;
      const now = countIn(field).taken;
      taken += Math.max(0, now - known);
      seen.set(replica, Math.max(now, known));
    }
    const now = { spent: tally.spent, taken: tally.taken, atMs: clock.monotonicMs() };
    const spent = before && taken > 0 ? spentWith(taken, { now, before, ratePerS: key.ratePerS }) : now.spent;
    if (spent > now.spent) this.#tallies.correct(keyIndex, tally, spent, clock.nowMs());
    this.#buckets.set(keyIndex, { ...now, spent, day, others: seen });
  }

  #share(
    keyIndex: number,
    day: number,
    { used, left }: { readonly used: number; readonly left: number },
  ): void {
    this.#tallies.limit(keyIndex, day, used + shareOf(left, this.#replicas.count), left <= 0);
  }

  /** Reads the fleet's counts of today, for keys that this replica does not report at the moment. */
  async #readSums(): Promise<void> {
    const { connection, clock, keys } = this.#options;
    this.#readSumsMs = clock.monotonicMs();
    const day = dayOf(clock.nowMs());
    const sums = new Map<string, number>();
    for await (const [id, sum] of connection.hash(usageKey(day))) sums.set(id, Number(sum));
    if (sums.size === 0) return;
    for (const { id, keyIndex, dailyMax } of keys.all()) {
      const sum = sums.get(id);
      const count = this.#counts.get(`${day} ${keyIndex}`);
      if (sum === undefined || dailyMax === null || (count && this.#due.has(count))) continue;
      const used = this.#tallies.usedOn(keyIndex, day);
      this.#share(keyIndex, day, { used, left: dailyMax - Math.max(used, sum) });
    }
  }
}

/** A field of a count; what can't be read counts nothing. */
function countIn(field: string): { readonly used: number; readonly taken: number } {
  const [used = NaN, taken = NaN] = field.split(' ').map(Number);
  return { used: used >= 0 ? used : 0, taken: taken >= 0 ? taken : 0 };
}
