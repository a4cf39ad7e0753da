import type { LedgerParts } from './ledger.js';
import { BURST_S, dayOf } from './limits.js';
import type { Report, ReportedKey } from './redisScripts.js';
import type { Tallies, Tally } from './tallies.js';

/** A report, and what is needed to understand its answer. */
export interface BuiltReport {
  readonly report: Report;
  /** UTC days, in the order of the places that the report names. */
  readonly days: readonly number[];
  /** The keys of the report, in its order; those that only tell of the day before have no tally. */
  readonly told: readonly Told[];
}

interface Told {
  readonly keyIndex: number;
  readonly tally?: Tally;
  readonly dailyMax: number | null;
  readonly ratePerS: number | null;
}

/** Up to where the counts of a key were reported. */
interface Reported {
  readonly day: number;
  readonly used: number;
  readonly dayBefore: number;
  readonly usedBefore: number;
  readonly taken: number;
}

const NOTHING: Reported = { day: 0, used: 0, dayBefore: 0, usedBefore: 0, taken: 0 };
/** Most keys in one report: the store answers others meanwhile. */
const KEYS_MAX = 500;
/** What is lent of a quota shrinks as the others use theirs: it is asked for again, also where nobody used it. */
const LEASE_MS = 1000;
const LEASES_AT_ONCE = 200;

/** Makes reports of what was counted since the last one, and takes what comes back into the counts. */
export class ReportBuilder {
  readonly #waiting = new Set<number>();
  readonly #reported = new Map<number, Reported>();
  /** Keys of which something is lent to this replica: keyIndex → when it was lent. The longest ago first. */
  readonly #leases = new Map<number, number>();
  /** What the fleet's buckets lacked when they were last heard of, and what this replica had taken by then. */
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

  /** The key was used. */
  add(keyIndex: number): void {
    this.#waiting.add(keyIndex);
  }

  get hasMore(): boolean {
    return this.#waiting.size > 0;
  }

  /** Whether there is something to tell, or to ask for. */
  isDue(nowMs: number): boolean {
    this.#addLeases(nowMs);
    return this.hasMore;
  }

  /** Sets what is used of a quota already, by whomever. */
  restore(keyIndex: number, day: number, used: number): void {
    this.tallies.restore(keyIndex, day, used);
    this.#reported.set(keyIndex, { ...NOTHING, day, used });
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
    return { report: { replica: this.replica, number: this.#number, ...flags, keys }, days, told };
  }

  /**
   * `answer`: two numbers for each key of the report, as `REPORT` gives them. `isLate`: so long after the report that
   * the buckets have refilled meanwhile, and this replica's own knows better.
   */
  heard({ told }: BuiltReport, answer: readonly number[], isLate: boolean): void {
    const { clock } = this.parts;
    const today = dayOf(clock.nowMs());
    told.forEach(({ keyIndex, tally, dailyMax, ratePerS }, place) => {
      if (tally === undefined) return;
      const [spent = 0, grant = 0] = answer.slice(2 * place, 2 * place + 2);
      const truth = {
        spent: ratePerS === null || isLate ? null : spent,
        used: dailyMax === null ? null : dailyMax - grant,
      };
      const moved = this.tallies.correct(keyIndex, tally, truth, clock.nowMs());
      if (truth.spent !== null)
        this.#buckets.set(keyIndex, { spent, taken: tally.taken, atMs: clock.monotonicMs() });
      const reported = this.#reported.get(keyIndex);
      if (moved !== 0 && reported?.day === tally.day)
        this.#reported.set(keyIndex, { ...reported, used: reported.used + moved });
      this.#leases.delete(keyIndex);
      if (dailyMax !== null && grant > 0 && tally.day === today)
        this.#leases.set(keyIndex, clock.monotonicMs());
    });
  }

  /**
   * Divides a bucket by the replicas, as of when the store was last heard: what it held and what it owed then, and what
   * has flowed into it since. What this replica took since is its own.
   */
  divide(keyIndex: number, ratePerS: number, replicas: number, heardMs: number): void {
    const { clock } = this.parts;
    const tally = this.tallies.tally(keyIndex, ratePerS, clock.nowMs());
    const told = this.#buckets.get(keyIndex) ?? { spent: 0, taken: 0, atMs: heardMs };
    const full = BURST_S * ratePerS;
    const spent = Math.max(0, told.spent - (ratePerS * Math.max(0, heardMs - told.atMs)) / 1000);
    const refilled = (ratePerS * (clock.monotonicMs() - heardMs)) / 1000;
    const own = full - (full - spent + refilled) / replicas + tally.taken - told.taken;
    this.tallies.correct(keyIndex, tally, { spent: Math.max(0, own), used: null }, clock.nowMs());
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
    const tally = this.tallies.tally(keyIndex, ratePerS, this.parts.clock.nowMs());
    const before = this.#reported.get(keyIndex) ?? NOTHING;
    const lateCount = tally.dayBefore === 0 ? 0 : difference(tally.usedBefore, tally.dayBefore, before);
    if (lateCount !== 0) {
      const day = placeOf(tally.dayBefore, days);
      keys.push({ id, day, count: lateCount, tokens: 0, spent: 0, ratePerS: 0, dailyMax: 0 });
      told.push({ keyIndex, ratePerS: null, dailyMax: null });
    }
    keys.push({
      id,
      day: placeOf(tally.day, days),
      count: difference(tally.used, tally.day, before),
      tokens: tally.taken - before.taken,
      spent: tally.spent,
      ratePerS: ratePerS ?? 0,
      dailyMax: dailyMax ?? 0,
    });
    told.push({ keyIndex, tally, ratePerS, dailyMax });
    this.#reported.set(keyIndex, tally);
  }
}

/** What was counted on a day since it was last reported: of 32 bits, so that it may be less than zero. */
function difference(count: number, day: number, reported: Reported): number {
  if (day === reported.day) return (count - reported.used) | 0;
  return day === reported.dayBefore ? (count - reported.usedBefore) | 0 : count | 0;
}

function placeOf(day: number, days: number[]): number {
  const place = days.indexOf(day);
  return place === -1 ? days.push(day) - 1 : place;
}
