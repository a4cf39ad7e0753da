import type { LedgerParts } from './ledger.js';
import { shareOf } from './limitEntries.js';
import { BURST_S, dayOf } from './limits.js';
import type { Report, ReportedKey } from './redisScripts.js';
import type { Tallies, Tally } from './tallies.js';

/** A report, with the data needed to understand its answer. */
export interface BuiltReport {
  readonly report: Report;
  /** UTC days; the report refers to them by their index. */
  readonly days: readonly number[];
  /** The keys of the report, in its order; a key with counts of the day before only has no tally. */
  readonly told: readonly Told[];
}

interface Told {
  readonly keyIndex: number;
  readonly tally?: Tally;
  readonly dailyMax: number | null;
  readonly ratePerS: number | null;
  /** How much of the day's quota this replica still held. */
  readonly held: number;
}

type Tallied = Told & { readonly tally: Tally };

/** The store's answer for one key. */
interface Heard {
  /** `null`: this replica's own value is newer. */
  readonly spent: number | null;
  readonly grant: number;
  readonly total: number;
}

/** The counts of a key that were already reported. */
interface Reported {
  readonly day: number;
  readonly used: number;
  readonly dayBefore: number;
  readonly usedBefore: number;
  readonly taken: number;
}

/** What the fleet had counted for a key, as of the last answer. */
interface Known {
  readonly day: number;
  readonly total: number;
  /** This replica's own part at that time. */
  readonly used: number;
}

/** The part of an answer that concerns the whole report. */
export interface Hearing {
  readonly replicas: number;
  /** After a loss: other replicas have not yet written back what they know. */
  readonly isMending: boolean;
  /** Whether the store lost something that this replica had reported. */
  readonly isLost: boolean;
  /** Identifies the last loss. */
  readonly lost: string;
}

const NOTHING: Reported = { day: 0, used: 0, dayBefore: 0, usedBefore: 0, taken: 0 };
/** A key for which only a late count is reported. */
const UNCOUNTED = {
  known: 0,
  isBack: false,
  held: 0,
  tokens: 0,
  spent: 0,
  ratePerS: 0,
  dailyMax: 0,
} as const;
/** Most keys in one report, so that the store can serve others in between. */
const KEYS_MAX = 500;
/** The lent part of a quota shrinks as others use theirs, so it is asked for again even while unused. */
const LEASE_MS = 1000;
const LEASES_AT_ONCE = 200;
/** Numbers for each key in an answer. */
const ANSWERED = 3;

/** Builds reports of what was counted since the last one, and applies the answers to the counts. */
export class ReportBuilder {
  readonly #waiting = new Set<number>();
  readonly #reported = new Map<number, Reported>();
  /** Keys with a lent part of the quota: keyIndex → when it was lent. Oldest first. */
  readonly #leases = new Map<number, number>();
  readonly #known = new Map<number, Known>();
  /** Keys whose counts were restored at start-up, and for which nothing was asked for yet. */
  readonly #restored = new Map<number, number>();
  /** Keys still to be written back. */
  readonly #back = new Set<number>();
  #lost = '0';
  #replicas = 1;
  /** What the fleet's buckets lacked at the last answer, and what this replica had taken by then. */
  readonly #buckets = new Map<
    number,
    { readonly spent: number; readonly taken: number; readonly atMs: number }
  >();
  #number = 0;

  constructor(
    private readonly tallies: Tallies,
    private readonly parts: LedgerParts,
    private readonly replica: string,
  ) {}

  /** Call when the key was used. */
  add(keyIndex: number): void {
    this.#waiting.add(keyIndex);
  }

  get hasMore(): boolean {
    return this.#waiting.size > 0;
  }

  /** Whether there is something to report or to ask for. */
  isDue(nowMs: number): boolean {
    this.#addLeases(nowMs);
    return this.hasMore;
  }

  /** How many replicas the store heard from recently, this one included. */
  get replicas(): number {
    return this.#replicas;
  }

  /** Sets what the fleet has already counted for a key. */
  restore(keyIndex: number, day: number, total: number): void {
    this.tallies.restore(keyIndex, day, 0);
    this.#known.set(keyIndex, { day, total, used: 0 });
    this.#restored.set(keyIndex, day);
    this.#limitAlone(keyIndex, day);
  }

  /**
   * Gives up what was lent: of each quota this replica may use its share, at most what was left at the last answer.
   */
  endLeases(): void {
    const today = dayOf(this.parts.clock.nowMs());
    for (const [keyIndex, { day }] of this.#known) {
      if (day === today) this.#limitAlone(keyIndex, day);
    }
  }

  next(flags: Pick<Report, 'isReturn' | 'isLast'>): BuiltReport {
    const days: number[] = [];
    const told: Told[] = [];
    const keys: ReportedKey[] = [];
    for (const keyIndex of this.#waiting) {
      if (keys.length >= KEYS_MAX) break;
      this.#waiting.delete(keyIndex);
      this.#tell(keyIndex, days, told, keys);
    }
    this.#number++;
    const report = {
      replica: this.replica,
      number: this.#number,
      lost: this.#lost,
      isAgain: false,
      ...flags,
      keys,
    };
    return { report, days, told };
  }

  /**
   * `answer`: the numbers for each key of the report, in the order of `REPORT`. `isLate`: the answer took so long
   * that the buckets have refilled meanwhile, so this replica's own values are better.
   */
  heard({ told }: BuiltReport, hearing: Hearing, answer: readonly number[], isLate: boolean): void {
    const { replicas, isMending, isLost, lost } = hearing;
    const before = this.#replicas;
    // While other replicas are still awaited, the number may be too low.
    this.#replicas = Math.max(1, replicas, isMending ? this.#replicas : 1);
    this.tallies.shareBy(this.#replicas);
    if (this.#replicas !== before)
      for (const [keyIndex, day] of this.#restored) this.#limitAlone(keyIndex, day);
    this.#lost = lost;
    if (isLost) this.#writeBack();
    told.forEach((key, place) => {
      if (key.tally === undefined) return;
      const [spent = 0, grant = 0, total = 0] = answer.slice(ANSWERED * place, ANSWERED * (place + 1));
      this.#heardOf({ ...key, tally: key.tally }, { spent: isLate ? null : spent, grant, total });
    });
  }

  #heardOf({ keyIndex, tally, ratePerS, dailyMax, held }: Tallied, { spent, grant, total }: Heard): void {
    const { clock } = this.parts;
    if (ratePerS !== null && spent !== null) {
      this.tallies.correct(keyIndex, tally, spent, clock.nowMs());
      this.#buckets.set(keyIndex, { spent, taken: tally.taken, atMs: clock.monotonicMs() });
    }
    this.#known.set(keyIndex, { day: tally.day, total, used: tally.used });
    this.#restored.delete(keyIndex);
    this.#back.delete(keyIndex);
    this.#leases.delete(keyIndex);
    if (dailyMax === null) return;
    this.tallies.limit(keyIndex, tally.day, tally.used + grant);
    // The store may give to others what it took back only after this replica has confirmed it.
    if (grant < held) this.#waiting.add(keyIndex);
    if (grant > 0 && tally.day === dayOf(clock.nowMs())) this.#leases.set(keyIndex, clock.monotonicMs());
  }

  /** The store lost something: report every key that was counted today. */
  #writeBack(): void {
    const today = dayOf(this.parts.clock.nowMs());
    for (const [keyIndex, { day, total }] of this.#known) {
      if (day !== today || total === 0) continue;
      this.#waiting.add(keyIndex);
      this.#back.add(keyIndex);
    }
  }

  #limitAlone(keyIndex: number, day: number): void {
    const dailyMax = this.parts.keys.at(keyIndex)?.dailyMax ?? null;
    const known = this.#known.get(keyIndex);
    if (dailyMax === null || known === undefined) return;
    const left = Math.max(0, dailyMax - known.total);
    this.tallies.limit(keyIndex, day, Math.min(shareOf(dailyMax, this.#replicas), known.used + left));
  }

  /**
   * Divides a bucket by the number of replicas, as of the last answer: what it held and owed then, and what has
   * flowed in since. What this replica took since is its own.
   */
  divide(keyIndex: number, ratePerS: number, heardMs: number): void {
    const { clock } = this.parts;
    const tally = this.tallies.tally(keyIndex, { ratePerS, dailyMax: null }, clock.nowMs());
    const told = this.#buckets.get(keyIndex) ?? { spent: 0, taken: 0, atMs: heardMs };
    const full = BURST_S * ratePerS;
    const spent = Math.max(0, told.spent - (ratePerS * Math.max(0, heardMs - told.atMs)) / 1000);
    const refilled = (ratePerS * (clock.monotonicMs() - heardMs)) / 1000;
    const own = full - (full - spent + refilled) / this.#replicas + tally.taken - told.taken;
    this.tallies.correct(keyIndex, tally, Math.max(0, own), clock.nowMs());
  }

  #addLeases(nowMs: number): void {
    let count = 0;
    for (const [keyIndex, lentMs] of this.#leases) {
      if (nowMs - lentMs < LEASE_MS || count++ >= LEASES_AT_ONCE) return;
      this.#waiting.add(keyIndex);
    }
  }

  #tell(keyIndex: number, days: number[], told: Told[], keys: ReportedKey[]): void {
    const key = this.parts.keys.at(keyIndex);
    if (key === undefined) return;
    const { id, ratePerS, dailyMax } = key;
    const tally = this.tallies.tally(keyIndex, key, this.parts.clock.nowMs());
    const before = this.#reported.get(keyIndex) ?? NOTHING;
    const lateCount = tally.dayBefore === 0 ? 0 : difference(tally.usedBefore, tally.dayBefore, before);
    if (lateCount !== 0) {
      keys.push({ ...UNCOUNTED, id, day: placeOf(tally.dayBefore, days), count: lateCount });
      told.push({ keyIndex, ratePerS: null, dailyMax: null, held: 0 });
    }
    const known = this.#known.get(keyIndex);
    const held = tally.most === null ? 0 : Math.max(0, tally.most - tally.used);
    keys.push({
      id,
      day: placeOf(tally.day, days),
      count: difference(tally.used, tally.day, before),
      known: known?.day === tally.day ? known.total : 0,
      isBack: this.#back.delete(keyIndex),
      held,
      tokens: tally.taken - before.taken,
      spent: tally.spent,
      ratePerS: ratePerS ?? 0,
      dailyMax: dailyMax ?? 0,
    });
    told.push({ keyIndex, tally, ratePerS, dailyMax, held });
    this.#reported.set(keyIndex, tally);
  }
}

/** The count of a day since the last report, as 32 bits: it may be negative. */
function difference(count: number, day: number, reported: Reported): number {
  if (day === reported.day) return (count - reported.used) | 0;
  return day === reported.dayBefore ? (count - reported.usedBefore) | 0 : count | 0;
}

function placeOf(day: number, days: number[]): number {
  const place = days.indexOf(day);
  return place === -1 ? days.push(day) - 1 : place;
}
