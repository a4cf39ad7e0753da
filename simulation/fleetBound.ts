import type { Report } from '#acuity/auth/redisScripts.js';

/** From here on both the store and a silent replica drop what was lent. */
const SILENT_MS = 5000;
/** After a loss the store waits for so long, from the first replica that it hears, until it lends again. */
const MENDING_MS = 1000;

/** What one process admitted of one key's quota on one day. */
interface Use {
  readonly place: string;
  /** Admitted, and not given back. */
  net: number;
  /** Of that, what the store has executed. */
  told: number;
  /** Of that, what it has lost. */
  lost: number;
  /** What it was lent, or held, when it was last heard; undefined before. */
  lent: number | undefined;
}

/** What a process tells and hears. */
export interface Member {
  readonly uses: Map<string, Use>;
  /** When the store executed its last report. */
  heardMs: number;
  /** When it sent the last report of which it has the answer. */
  toldMs: number;
  replicas: number;
  /** The store has lost something since it was heard. */
  hasLoss: boolean;
  /** And could not be reached by it then, or had not answered its last report. */
  isDoubted: boolean;
  hasEnded: boolean;
}

/** A report, as the store has executed it. */
export interface Executed {
  readonly report: Report;
  readonly isNew: boolean;
  readonly days: readonly number[];
  readonly isLost: boolean;
  /** It was sent again after a loss that it does not know of: the store can't tell if others know its counts. */
  readonly isDoubtful: boolean;
  readonly grants: readonly number[];
}

/** What the store has of each use. */
export type Stored = ReadonlyMap<Use, number>;

/**
 * The bound that docs/FLEET.md states for daily quotas, counted from what crosses the lines: all processes admit no
 * more than the quota, and beyond it at most what the store could not know of. As `test/fixtures/fleet/bound.ts`, for
 * messages that take their time and for requests that are given back.
 */
export class FleetBound {
  /** The largest part of a quota that was admitted. */
  worst = 0;
  private readonly members: Member[] = [];
  private readonly net = new Map<string, number>();
  private readonly refunds = new Map<string, number>();
  private readonly unknown = new Map<string, number>();
  private readonly excess = new Map<string, number>();
  private isNoticed = true;
  private hasLosses = false;
  private mendingMs: number | undefined = -Infinity;

  constructor(private readonly quotas: ReadonlyMap<string, number>) {}

  member(nowMs: number): Member {
    const member: Member = {
      uses: new Map(),
      heardMs: nowMs,
      toldMs: nowMs,
      replicas: 1,
      hasLoss: false,
      isDoubted: false,
      hasEnded: false,
    };
    this.members.push(member);
    return member;
  }

  /** @returns what is wrong; undefined where nothing is */
  admitted(member: Member, id: string, day: number, nowMs: number): string | undefined {
    const place = placeOf(id, day);
    const use = useOf(member, place);
    use.net++;
    add(this.net, place, 1);
    const quota = this.quotas.get(id);
    if (quota === undefined) return undefined;
    if (use.lent === undefined) add(this.excess, place, 1);
    const most = Math.max(1, Math.floor(quota / member.replicas), use.lent ?? 0);
    const unheard = use.net - use.told;
    if (unheard > most) return `unheard, a process admitted ${unheard} of ${place}, of ${most}`;
    return this.overstepped(place, quota, nowMs);
  }

  refunded(member: Member, id: string, day: number, count: number): void {
    const place = placeOf(id, day);
    useOf(member, place).net -= count;
    add(this.net, place, -count);
    add(this.refunds, place, count);
  }

  /** The store has executed a report. */
  executed(
    member: Member,
    nowMs: number,
    { report, isNew, days, isLost, isDoubtful, grants }: Executed,
  ): void {
    this.isNoticed ||= isLost;
    member.isDoubted ||= !this.isNoticed;
    this.mendingMs ??= nowMs;
    if (this.isUncovered(member, nowMs)) this.give(member);
    for (const [at, { id, day, count, dailyMax, held }] of report.keys.entries()) {
      const use = useOf(member, placeOf(id, days[day] ?? NaN));
      if (isNew) use.told += count;
      if (isDoubtful) add(this.unknown, use.place, Math.max(0, count));
      if (dailyMax > 0) use.lent = Math.max(held, grants[at] ?? 0);
    }
    member.heardMs = nowMs;
    member.hasLoss = member.isDoubted = false;
    for (const use of member.uses.values()) use.lost = 0;
  }

  /** A process has the answer to a report that it sent at `sentMs`. */
  answered(member: Member, sentMs: number, replicas: number, isMending: boolean): void {
    member.toldMs = Math.max(member.toldMs, sentMs);
    member.replicas = Math.max(1, replicas, isMending ? member.replicas : 1);
  }

  /** A report was not answered: after a loss it may be part of what others know, or not. */
  unanswered(member: Member): void {
    member.isDoubted ||= member.hasLoss;
  }

  /** Its process has ended: the store will not hear of what it admitted last. */
  ended(member: Member): void {
    this.give(member);
    for (const use of member.uses.values()) {
      add(this.unknown, use.place, Math.max(0, use.lost + use.net - use.told));
      use.net = use.told;
    }
    member.heardMs = -Infinity;
    member.hasEnded = true;
  }

  snapshot(): Stored {
    const stored = new Map<Use, number>();
    for (const { uses } of this.members)
      for (const use of uses.values()) stored.set(use, use.told - use.lost);
    return stored;
  }

  /** The store has gone back to what it was; `isReached`: whether a process is in contact, with nothing under way. */
  lost(stored: Stored, isReached: (member: Member) => boolean): void {
    this.hasLosses = true;
    this.mendingMs = undefined;
    this.isNoticed = false;
    for (const member of this.members) {
      member.hasLoss = true;
      member.isDoubted ||= !isReached(member);
      for (const use of member.uses.values()) use.lost = Math.max(0, use.told - (stored.get(use) ?? 0));
    }
  }

  /** What is wrong with what the store has counted at the end; undefined where nothing is. */
  faultIn(id: string, day: number, counted: number): string | undefined {
    const place = placeOf(id, day);
    const net = this.net.get(place) ?? 0;
    const pending = this.members.reduce((sum, { uses }) => sum + (uses.get(place)?.lost ?? 0), 0);
    const unknown = pending + (this.unknown.get(place) ?? 0);
    const isUncertain = this.hasLosses || unknown > 0 || this.members.some(({ hasEnded }) => hasEnded);
    const over = isUncertain ? (this.refunds.get(place) ?? 0) : 0;
    if (counted <= net + over && counted >= net - unknown) return undefined;
    return `${counted} counted of ${place}: ${net} answered, of which ${unknown} may be unknown to the store`;
  }

  /** Answers that count. */
  netOf(id: string, day: number): number {
    return this.net.get(placeOf(id, day)) ?? 0;
  }

  private overstepped(place: string, quota: number, nowMs: number): string | undefined {
    const net = this.net.get(place) ?? 0;
    this.worst = Math.max(this.worst, net / quota);
    if (net <= quota) return undefined;
    const pending = this.members
      .filter((member) => this.isUncovered(member, nowMs))
      .reduce((sum, { uses }) => sum + uncovered(uses.get(place)), 0);
    const most = quota + pending + (this.excess.get(place) ?? 0);
    return net > most ? `${net} admitted of ${place}: the bound is ${most}, the quota ${quota}` : undefined;
  }

  /** Whether the store lends to others what this process may have admitted. */
  private isUncovered({ heardMs, toldMs, hasLoss, isDoubted }: Member, nowMs: number): boolean {
    if (isDoubted || nowMs - Math.min(heardMs, toldMs) >= SILENT_MS) return true;
    return hasLoss && this.mendingMs !== undefined && nowMs - this.mendingMs >= MENDING_MS;
  }

  private give(member: Member): void {
    for (const use of member.uses.values()) {
      add(this.excess, use.place, uncovered(use));
      if (use.lost > 0) add(this.unknown, use.place, use.lost);
      use.lost = 0;
    }
  }
}

function uncovered(use: Use | undefined): number {
  if (use === undefined) return 0;
  // What was admitted of a key that the store was not asked about is counted already.
  return use.lost + (use.lent === undefined ? 0 : Math.max(0, use.net - use.told));
}

function placeOf(id: string, day: number): string {
  return `${id} on ${day}`;
}

function useOf({ uses }: Member, place: string): Use {
  const known = uses.get(place);
  if (known !== undefined) return known;
  const made: Use = { place, net: 0, told: 0, lost: 0, lent: undefined };
  uses.set(place, made);
  return made;
}

function add(counts: Map<string, number>, place: string, count: number): void {
  counts.set(place, (counts.get(place) ?? 0) + count);
}
