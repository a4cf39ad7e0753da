/** A process that has been in contact with the store for so long has forgotten what happened before. */
export const SETTLED_MS = 4000;
/** After the store says for so long that a quota is used up, a process in contact refuses. */
const KNOWN_MS = 1500;

/** What one process admitted of one key's quota on one day. */
interface Use {
  /** Admitted, and not given back. */
  net: number;
  /** The most that it ever was. */
  peak: number;
  /** What it was when the store last answered. */
  told: number;
}

/** What a process admits, and what it knows of the others. */
export interface Member {
  readonly uses: Map<string, Use>;
  /** How many replicas it must have heard of when the store last answered it; at least itself. */
  replicas: number;
  /** It has ended, so what it counted may get lost. */
  hasEnded: boolean;
  /** And without telling what it had counted last. */
  isKilled: boolean;
}

/**
 * The bounds that docs/FLEET.md states for daily quotas: between two answers of the store a process admits no more than
 * its share, and none at all once the store says that the quota is used up.
 */
export class QuotaBound {
  private readonly members: Member[] = [];
  private readonly spentSince = new Map<string, number>();

  constructor(
    private readonly quotas: ReadonlyMap<string, number>,
    /** What the store has counted of a key's day. */
    private readonly counted: (id: string, day: number) => number,
  ) {}

  member(): Member {
    const member: Member = { uses: new Map(), replicas: 1, hasEnded: false, isKilled: false };
    this.members.push(member);
    return member;
  }

  /** Returns what is wrong; undefined where nothing is. `contactMs`: how long it has been in contact. */
  admitted(
    member: Member,
    { id, day }: { readonly id: string; readonly day: number },
    { nowMs, contactMs }: { readonly nowMs: number; readonly contactMs: number },
  ): string | undefined {
    const use = useOf(member, id, day);
    // What it had admitted and was given back it may admit again before the store hears of that.
    const isAgain = use.net < use.peak;
    use.net++;
    use.peak = Math.max(use.peak, use.net);
    const quota = this.quotas.get(id);
    if (quota === undefined) return undefined;
    const most = Math.ceil(quota / member.replicas);
    const alone = use.net - use.told;
    if (alone > most)
      return `without an answer of the store, a process admitted ${alone} of ${id} on ${day}, of ${most}`;
    const sinceMs = nowMs - this.spentSinceMs(id, day, quota, nowMs);
    if (!isAgain && contactMs > SETTLED_MS && sinceMs > KNOWN_MS)
      return `admitted of ${id} on ${day}, whose quota of ${quota} was used up ${Math.round(sinceMs)} ms ago`;
    return undefined;
  }

  refunded(member: Member, id: string, day: number, count: number): void {
    useOf(member, id, day).net -= count;
  }

  /** The store has answered a process, which must have heard of so many replicas by now. */
  answered(member: Member, replicas: number): void {
    member.replicas = replicas;
    for (const use of member.uses.values()) use.told = use.net;
  }

  /** Follows when the store's count of a quota reaches it; call it often. */
  look(ids: Iterable<string>, days: readonly number[], nowMs: number): void {
    for (const id of ids) {
      const quota = this.quotas.get(id);
      if (quota !== undefined) for (const day of days) this.spentSinceMs(id, day, quota, nowMs);
    }
  }

  /** What is wrong with what the store has counted at the end; undefined where nothing is. */
  faultIn(id: string, day: number, counted: number, hasLosses: boolean): string | undefined {
    let [least, most] = [0, 0];
    for (const { uses, hasEnded, isKilled } of this.members) {
      const { net = 0, peak = 0 } = uses.get(placeOf(id, day)) ?? {};
      const isUncertain = isKilled || (hasEnded && hasLosses);
      least += isUncertain ? 0 : net;
      most += isUncertain ? peak : net;
    }
    if (counted >= least && counted <= most) return undefined;
    return `${counted} counted of ${id} on ${day}, ${least} to ${most} answered`;
  }

  /** Answers that count. */
  netOf(id: string, day: number): number {
    const place = placeOf(id, day);
    return this.members.reduce((sum, { uses }) => sum + (uses.get(place)?.net ?? 0), 0);
  }

  private spentSinceMs(id: string, day: number, quota: number, nowMs: number): number {
    const place = placeOf(id, day);
    const peak = this.members.reduce((sum, { uses }) => sum + (uses.get(place)?.peak ?? 0), 0);
    if (peak < quota || this.counted(id, day) < quota) this.spentSince.delete(place);
    else if (!this.spentSince.has(place)) this.spentSince.set(place, nowMs);
    return this.spentSince.get(place) ?? nowMs;
  }
}

function placeOf(id: string, day: number): string {
  return `${id} on ${day}`;
}

function useOf({ uses }: Member, id: string, day: number): Use {
  const place = placeOf(id, day);
  const known = uses.get(place);
  if (known !== undefined) return known;
  const made: Use = { net: 0, peak: 0, told: 0 };
  uses.set(place, made);
  return made;
}
