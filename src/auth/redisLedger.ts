import { within } from '../base/within.js';
import type { Ledger, LedgerParts } from './ledger.js';
import { dayOf } from './limits.js';
import { randomBase62 } from './key.js';
import {
  KEYS,
  leasesKey,
  REPLICA_SILENT_MS,
  REPORT,
  replicaKey,
  usageKey,
  type Report,
} from './redisScripts.js';
import { ReportBuilder, type BuiltReport } from './redisReport.js';
import type { StoreTransport } from './storeTransport.js';
import { Tallies } from './tallies.js';

export interface RedisLedgerOptions extends LedgerParts {
  readonly connection: StoreTransport;
}

const EVERY_MS = 100;
/** A report is sent after this time even if nothing was counted: it says that this replica lives. */
const SIGN_OF_LIFE_MS = 200;
/** Without a reply for this long, assume that the other replicas use their full share. */
const LATE_MS = 300;
/** Without a reply for this long, report a problem. */
const LOCAL_MS = 1000;
/** After a silence as long as a bucket takes to fill, the bucket itself says more than the tokens taken meanwhile. */
const RETURN_MS = 2000;
/** A bucket whose key was idle for this long is nearly full. */
const RECENT_MS = 5000;
const CLOSE_MS = 700;
const NAME_LENGTH = 12;

/**
 * Makes limits and counts hold for the whole fleet. It sends local counts in the background and receives those of the
 * others: buckets are copies of the fleet's, at most one report old, and this replica may use the part of a day's
 * quota that it was lent. While the store is out of reach it assumes that the others use their share, and keeps to
 * its own.
 */
export class RedisLedger implements Ledger {
  readonly everyMs = EVERY_MS;
  readonly #options: RedisLedgerOptions;
  readonly #tallies: Tallies;
  readonly #reports: ReportBuilder;
  readonly #name = randomBase62(NAME_LENGTH);
  /** Keys with a rate that were used recently: keyIndex → when, in monotonic ms. */
  readonly #recent = new Map<number, number>();
  /** Those of them whose bucket was divided since the store last replied. */
  readonly #ownShares = new Set<number>();
  #heardMs: number;
  /** When the last answered report was sent: the store received it no earlier. */
  #toldMs: number;
  #hasLeases = false;
  #drainedMs: number;
  /** The last report while unanswered; it is sent again unchanged. */
  #unheard: BuiltReport | undefined;
  #sending: Promise<void> | undefined;
  #problem: Error | undefined;

  constructor(options: RedisLedgerOptions) {
    this.#options = options;
    this.#tallies = new Tallies(options.memory);
    this.#reports = new ReportBuilder(this.#tallies, options, this.#name);
    this.#heardMs = this.#toldMs = this.#drainedMs = options.clock.monotonicMs();
  }

  get isLocal(): boolean {
    return this.#options.clock.monotonicMs() - this.#heardMs > LOCAL_MS;
  }

  async restore(): Promise<void> {
    const { connection, keys, clock } = this.#options;
    // The first reply says how many replicas there are; needed before any quota is divided.
    await this.#tell({ isReturn: false, isLast: false });
    const day = dayOf(clock.nowMs());
    const used = new Map<string, number>();
    for await (const [id, count] of connection.hash(usageKey(day))) used.set(id, Number(count));
    for (const { id, keyIndex } of keys.all()) {
      const count = used.get(id) ?? 0;
      if (count > 0) this.#reports.restore(keyIndex, day, count);
    }
  }

  /** Resolves at the latest when the next report is due; the report itself may take longer. */
  async save(): Promise<void> {
    this.#collect();
    this.#endLeases();
    this.#drain();
    this.#send(false);
    await within(EVERY_MS, this.#sending ?? Promise.resolve());
    if (this.#problem !== undefined) throw this.#problem;
  }

  async close(): Promise<void> {
    const endsMs = performance.now() + CLOSE_MS;
    if (this.#sending !== undefined) await within(CLOSE_MS, this.#sending);
    this.#collect();
    this.#send(true);
    if (!(await within(Math.max(0, endsMs - performance.now()), this.#sending ?? Promise.resolve())))
      throw new Error('the last counts did not reach the key store in time');
    if (this.#problem !== undefined) throw this.#problem;
  }

  #collect(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const keyIndex of this.#tallies.takeChanged()) {
      this.#reports.add(keyIndex);
      if (this.#options.keys.at(keyIndex)?.ratePerS !== null) this.#recent.set(keyIndex, nowMs);
    }
  }

  #send(isLast: boolean): void {
    this.#sending ??= this.#sendAll(isLast)
      .then(
        () => (this.#problem = undefined),
        (error: Error) => (this.#problem = error),
      )
      .then(() => {
        this.#sending = undefined;
      });
  }

  async #sendAll(isLast: boolean): Promise<void> {
    const { clock } = this.#options;
    const silentMs = clock.monotonicMs() - this.#heardMs;
    if (this.#unheard !== undefined) await this.#deliver(again(this.#unheard), silentMs > RETURN_MS);
    const flags = { isReturn: silentMs > RETURN_MS, isLast };
    if (!this.#reports.isDue(clock.monotonicMs()) && !isLast && silentMs < SIGN_OF_LIFE_MS) return;
    do {
      await this.#tell(flags);
    } while (this.#reports.hasMore);
  }

  async #tell(flags: Pick<Report, 'isReturn' | 'isLast'>): Promise<void> {
    this.#unheard = this.#reports.next(flags);
    await this.#deliver(this.#unheard, false);
  }

  async #deliver(built: BuiltReport, isLate: boolean): Promise<void> {
    const { connection, clock } = this.#options;
    const days = built.days.flatMap((day) => [usageKey(day), leasesKey(day)]);
    const keys = [replicaKey(this.#name), KEYS.replicas, KEYS.buckets, KEYS.mending, KEYS.lost, ...days];
    const sentMs = clock.monotonicMs();
    const answer = (await connection.run(REPORT, keys, [JSON.stringify(built.report)])) as readonly unknown[];
    this.#unheard = undefined;
    this.#heardMs = clock.monotonicMs();
    this.#toldMs = sentMs;
    this.#hasLeases = true;
    this.#ownShares.clear();
    const [replicas, mending, isLost, lost, ...numbers] = answer;
    const hearing = {
      replicas: Number(replicas),
      isMending: mending === 1,
      isLost: isLost === 1,
      lost: String(lost),
    };
    this.#reports.heard(built, hearing, numbers.map(Number), isLate);
  }

  /** A store that hears nothing for this long takes back what it lent, and lends it to others. */
  #endLeases(): void {
    if (!this.#hasLeases || this.#options.clock.monotonicMs() - this.#toldMs < REPLICA_SILENT_MS) return;
    this.#hasLeases = false;
    this.#reports.endLeases();
  }

  /** Spends what the other replicas are assumed to use while nothing is heard of them. */
  #drain(): void {
    const { clock, keys } = this.#options;
    const { replicas } = this.#reports;
    const nowMs = clock.monotonicMs();
    for (const [keyIndex, usedMs] of this.#recent) {
      if (nowMs - usedMs > RECENT_MS) this.#recent.delete(keyIndex);
    }
    const sinceMs = nowMs - this.#drainedMs;
    this.#drainedMs = nowMs;
    if (nowMs - this.#heardMs < LATE_MS || replicas === 1) return;
    const othersShare = (replicas - 1) / replicas;
    for (const keyIndex of this.#recent.keys()) {
      const ratePerS = keys.at(keyIndex)?.ratePerS ?? 0;
      if (ratePerS === 0) continue;
      if (this.#ownShares.has(keyIndex))
        this.#tallies.drain(keyIndex, ratePerS, (othersShare * ratePerS * sinceMs) / 1000, clock.nowMs());
      else this.#reports.divide(keyIndex, ratePerS, this.#heardMs);
      this.#ownShares.add(keyIndex);
    }
  }
}

function again(built: BuiltReport): BuiltReport {
  return { ...built, report: { ...built.report, isAgain: true } };
}
