import type { LedgerParts } from './ledger.js';
import { shareOf } from './limitEntries.js';
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
  /** What was left to this replica of the day's quota. */
  readonly held: number;
}

type Tallied = Told & { readonly tally: Tally };

/** The answer of one key. */
interface Heard {
  /** `null`: this replica knows better. */
  readonly spent: number | null;
  readonly grant: number;
  readonly total: number;
}

/** Up to where the counts of a key were reported. */
interface Reported {
  readonly day: number;
  readonly used: number;
  readonly dayBefore: number;
  readonly usedBefore: number;
  readonly taken: number;
}

/** What the fleet had counted of a key when it was last heard of. */
interface Known {
  readonly day: number;
  readonly total: number;
  /** This replica's own part, as of then. */
  readonly used: number;
}

/** What the store says of a report as a whole. */
export interface Hearing {
  readonly replicas: number;
  /** After a loss: others have still to write back what they know. */
  readonly isMending: boolean;
  /** Whether it has lost something that this replica had told it. */
  readonly isLost: boolean;
  /** The last loss. */
  readonly lost: string;
}

const NOTHING: Reported = { day: 0, used: 0, dayBefore: 0, usedBefore: 0, taken: 0 };
/** A key of which only a late count is told. */
const UNCOUNTED = {
  known: 0,
  isBack: false,
  held: 0,
  tokens: 0,
  spent: 0,
  ratePerS: 0,
  dailyMax: 0,
} as const;
/** Most keys in one report: the store answers others meanwhile. */
const KEYS_MAX = 500;
/** What is lent of a quota shrinks as the others use theirs: it is asked for again, also where nobody used it. */
const LEASE_MS = 1000;
const LEASES_AT_ONCE = 200;
/** Numbers for each key in an answer. */
const ANSWERED = 3;

/** Makes reports of what was counted since the last one, and takes what comes back into the counts. */
export class ReportBuilder {
  readonly #waiting = new Set<number>();
  readonly #reported = new Map<number, Reported>();
  /** Keys of which something is lent to this replica: keyIndex → when it was lent. The longest ago first. */
  readonly #leases = new Map<number, number>();
  readonly #known = new Map<number, Known>();
  /** Keys whose counts were taken over at the start, and of which nothing was asked for yet. */
  readonly #restored = new Map<number, number>();
  /** Keys that have still to be written back. */
  readonly #back = new Set<number>();
  #lost = '0';
  #replicas = 1;
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

  /** The replicas that the store has heard of lately, this one among them. */
  get replicas(): number {
    return this.#replicas;
  }

  /** Sets what the fleet has counted of a key already. */
  restore(keyIndex: number, day: number, total: number): void {
    this.tallies.restore(keyIndex, day, 0);
    this.#known.set(keyIndex, { day, total, used: 0 });
    this.#restored.set(keyIndex, day);
    this.#limitAlone(keyIndex, day);
  }

  /** Ends what was lent: of each quota this replica may use its share, and no more than was left when it last heard. */
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
   * `answer`: the numbers for each key of the report, as `REPORT` gives them. `isLate`: so long after the report that
   * the buckets have refilled meanwhile, and this replica's own knows better.
   */
  heard({ told }: BuiltReport, hearing: Hearing, answer: readonly number[], isLate: boolean): void {
    const { replicas, isMending, isLost, lost } = hearing;
    const before = this.#replicas;
    // Where others are awaited, those that came first are not all.
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
    // What was taken back is free for others when the store knows that this replica knows.
    if (grant < held) this.#waiting.add(keyIndex);
    if (grant > 0 && tally.day === dayOf(clock.nowMs())) this.#leases.set(keyIndex, clock.monotonicMs());
  }

  /** The store has lost something: it is told of every key that was counted today. */
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
   * Divides a bucket by the replicas, as of when the store was last heard: what it held and what it owed then, and what
   * has flowed into it since. What this replica took since is its own.
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

/** What was counted on a day since it was last reported: of 32 bits, so that it may be less than zero. */
function difference(count: number, day: number, reported: Reported): number {
  if (day === reported.day) return (count - reported.used) | 0;
  return day === reported.dayBefore ? (count - reported.usedBefore) | 0 : count | 0;
}

function placeOf(day: number, days: number[]): number {
  const place = days.indexOf(day);
  return place === -1 ? days.push(day) - 1 : place;
}
