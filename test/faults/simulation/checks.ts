import { BURST_S } from '#acuity/auth/limits/tokenBuckets.js';
import { dayAt } from '#acuity/base/days.js';
import type { Admission } from '#acuity/auth/limits/rateLimiter.js';
import type { Config } from '#acuity/config/options.js';
import type { Faults } from './faults.js';
import type { QuotaBound } from './quotaBound.js';
import type { FleetStore } from './fleetStore.js';
import type { Key } from './operator.js';
import { KEYS_MAX, type Replica } from './replica.js';
import type { Scheduler } from './scheduler.js';
import type { Seat } from './traffic.js';

export interface ChecksOptions {
  readonly scheduler: Scheduler;
  readonly settings: Config;
  readonly replicas: number;
  readonly seats: readonly Seat[];
  readonly keys: readonly Key[];
  readonly store: FleetStore;
  readonly bound: QuotaBound;
  fail(what: string): never;
}

/** What happened in a run, as far as it excuses something. */
type Excuses = Pick<Faults, 'hasLosses' | 'hasKills'>;

interface Bucket {
  excess: number;
  atMs: number;
}

/** A process that is in contact with the store refuses a revoked key after this time; after the latter if the push was lost. */
const REVOKED_MS = 1000;
const UNPUSHED_MS = 2000;
const EVERY_MS = 250;
/** What a bucket may owe for others, less what it holds, and what was taken here while that was read. */
const OWED_MAX_S = 10.1;
/** The fleet's counts of a day are read for the first time within this time of its beginning. */
const NEW_DAY_MS = 1500;
/** So long the effect of something that happened to the fleet on its rates is allowed for. */
const RATES_SETTLE_MS = 20_000;

/** What must hold while a fleet runs, and once it is at rest. */
export class Checks {
  private readonly buckets = new Map<string, Bucket>();
  /** Key id → predictions that its callers got. */
  private readonly predictions = new Map<string, number>();
  private shakenMs = -Infinity;
  private shakes = 0;

  constructor(private readonly options: ChecksOptions) {}

  /** Looks again and again, for as long as the run takes. */
  watch(): void {
    const { scheduler, seats } = this.options;
    const { actor } = scheduler;
    const look = (): void => {
      const today = dayAt(scheduler.wallMs);
      this.options.bound.look(
        this.options.keys.map(({ id }) => id),
        [today - 1, today, today + 1],
        scheduler.nowMs,
      );
      for (const seat of seats) {
        if (!seat.isReached || this.options.store.isPaused) seat.troubledMs = scheduler.nowMs;
        this.checkKept(seat);
      }
      this.checkRevoked();
      for (const { replica } of seats) this.checkBounds(replica);
      scheduler.after(actor, EVERY_MS, look);
    };
    look();
  }

  /** Something happened to the fleet that lets its rates be exceeded for a while. */
  shake(): void {
    for (const seat of this.options.seats) this.checkKept(seat);
    this.shakenMs = this.options.scheduler.nowMs;
    this.shakes += this.options.replicas;
  }

  /** For how long a process has been in contact with a store that forgot nothing; 0 while it is not. */
  contactMs(seat: Seat): number {
    const { scheduler, store } = this.options;
    if (!seat.actor.isAlive || !seat.replica.isOpen || !seat.isReached || store.isPaused) return 0;
    return scheduler.nowMs - Math.max(seat.troubledMs, store.shakenMs);
  }

  admitted(seat: Seat, { key, day }: Admission, count: number, tokens: number): void {
    const { scheduler, bound, fail } = this.options;
    const { member, replica } = seat;
    // A replica whose clock is late begins a day without knowing what the others have answered of it.
    const isNewDay = dayAt(replica.clock.nowMs() - NEW_DAY_MS) < day;
    const times = { nowMs: scheduler.nowMs, contactMs: isNewDay ? 0 : this.contactMs(seat) };
    const today = dayAt(replica.clock.nowMs());
    if (day !== today) fail(`a prediction of day ${today} counts for day ${day}`);
    if (key.ratePerS !== null) this.take(key.id, key.ratePerS, tokens);
    for (let prediction = 0; prediction < count; prediction++) {
      const fault = bound.admitted(member, { id: key.id, day }, times);
      if (fault !== undefined) fail(fault);
    }
  }

  /** A request has ended. */
  settled(clear: string, predictions: number): void {
    const { id = '' } = this.options.keys.find(({ key }) => key === clear) ?? {};
    this.predictions.set(id, (this.predictions.get(id) ?? 0) + predictions);
  }

  /** Nothing is under way, and nothing is left. */
  atRest({ replica, actor }: Seat): void {
    const { fail } = this.options;
    if (!replica.isOpen) fail(`${actor.name} is not open again`);
    if (replica.openPools !== replica.loops.length) fail(`a model is left in ${actor.name}`);
    for (const batcher of replica.batchers) {
      if (batcher.pending > 0) fail(`${batcher.pending} requests are pending in ${actor.name}`);
      for (let holder = 0; holder < KEYS_MAX; holder++)
        if (batcher.pendingOf(holder) > 0) fail(`a place of the queue is left in ${actor.name}`);
    }
    this.bodiesAtRest(replica, actor.name);
  }

  bodiesAtRest({ heldBytes, bodyUnits }: Replica, name: string): void {
    const { fail } = this.options;
    if (heldBytes !== 0) fail(`${heldBytes} bytes of bodies are held in ${name}`);
    const left = bodyUnits.findIndex((units) => units !== 0);
    if (left >= 0) fail(`${bodyUnits[left]} KiB of bodies are counted in ${name}, in place ${left}`);
  }

  /** What the store has counted is what was answered. */
  counts({ hasLosses, hasKills }: Excuses): void {
    const { scheduler, keys, store, bound, fail } = this.options;
    const first = dayAt(scheduler.startMs) - 1;
    const today = dayAt(scheduler.wallMs);
    for (const { id } of keys) {
      let net = 0;
      for (let day = first; day <= today + 1; day++) {
        net += bound.netOf(id, day);
        // Of a day before, those who live write back what they counted until a day later.
        if (hasLosses && day < today - 1) continue;
        const fault = bound.faultIn(id, day, store.counted(id, day), hasLosses);
        if (fault !== undefined) fail(fault);
      }
      const predictions = this.predictions.get(id) ?? 0;
      if (!hasKills && net !== predictions) fail(`${net} counted of ${id}, ${predictions} answered with 200`);
    }
  }

  /** `acuity keys usage` shows what the replicas have counted, unless one was killed before it wrote the sum. */
  sums({ hasLosses, hasKills }: Excuses): void {
    if (hasLosses || hasKills) return;
    const { scheduler, keys, store, fail } = this.options;
    const today = dayAt(scheduler.wallMs);
    for (const { id } of keys) {
      const [sum, counted] = [store.usage(id, today), store.counted(id, today)];
      if (sum !== counted) fail(`keys usage shows ${sum} of ${id}, ${counted} were counted`);
    }
  }

  /** A store that has lost all keys locks out no key. */
  private checkKept({ actor, replica, honoured }: Seat): void {
    const { keys, store, fail } = this.options;
    if (!actor.isAlive || !replica.isOpen) return;
    if (store.held.size > 0) honoured.clear();
    for (const { id, key } of keys) {
      if (store.held.size > 0) {
        if (store.held.has(id) && replica.honours(key)) honoured.add(id);
      } else if (honoured.has(id) && !replica.seenRevoked.has(id) && !replica.honours(key))
        fail(`${actor.name} refuses ${id} since the store is empty`);
    }
  }

  private checkBounds(replica: Replica): void {
    const { batchers, bodyUnits, heldBytes } = replica;
    const { settings, keys, fail } = this.options;
    for (const { id, key } of keys) {
      const owedS = replica.owedS(key);
      if (owedS > OWED_MAX_S) fail(`${id} is refused for ${Math.round(owedS)} s by a bucket in debt`);
    }
    const queueMax = Math.ceil(settings.queueMax / settings.httpThreads);
    for (const batcher of batchers)
      // Single requests, and as many lines of lists.
      if (batcher.pending < 0 || batcher.pending > 2 * queueMax)
        fail(`${batcher.pending} requests are pending`);
    const units = bodyUnits[0] ?? 0;
    if (units < 0 || units * 1024 > settings.bodiesMaxBytes) fail(`bodies hold ${units} KiB`);
    if (units * 1024 !== heldBytes) fail(`${units} KiB of bodies are counted, ${heldBytes} bytes held`);
  }

  /** No process honours a key that it has seen as revoked, or must have seen so by now. */
  private checkRevoked(): void {
    const { scheduler, seats, keys, store, fail } = this.options;
    for (const seat of seats) {
      const { actor, replica, mustRefuse, visibleSinceMs } = seat;
      if (!actor.isAlive || !replica.isOpen) continue;
      const isInContact = seat.isReached && !store.isPaused;
      for (const { id, key } of keys) {
        if (!store.revoked.has(id) || !isInContact) visibleSinceMs.delete(id);
        else if (!visibleSinceMs.has(id)) visibleSinceMs.set(id, scheduler.nowMs);
        const sinceMs = visibleSinceMs.get(id) ?? Infinity;
        const limitMs = sinceMs - seat.troubledMs > UNPUSHED_MS ? REVOKED_MS : UNPUSHED_MS;
        if (scheduler.nowMs - sinceMs > limitMs + EVERY_MS) mustRefuse.add(id);
        if ((mustRefuse.has(id) || replica.seenRevoked.has(id)) && replica.honours(key))
          fail(`${actor.name} honours ${id}, which is revoked`);
      }
    }
  }

  /**
   * Rates, over any time: the processes together take no more than the rate gives, and beyond it what their buckets
   * hold; a bucket for each of them, since between two reports none knows of the others, and one more for each after
   * something has happened to the fleet.
   */
  private take(id: string, ratePerS: number, tokens: number): void {
    const { scheduler, replicas, fail } = this.options;
    const { nowMs } = scheduler;
    const bucket = this.buckets.get(id) ?? { excess: 0, atMs: nowMs };
    this.buckets.set(id, bucket);
    bucket.excess = tokens + Math.max(0, bucket.excess - (ratePerS * (nowMs - bucket.atMs)) / 1000);
    bucket.atMs = nowMs;
    if (nowMs - this.shakenMs > RATES_SETTLE_MS) this.shakes = 0;
    const most = BURST_S * ratePerS * (replicas + this.shakes) + replicas;
    if (bucket.excess > most)
      fail(
        `${Math.round(bucket.excess)} tokens of ${id} beyond its rate of ${ratePerS}/s: the bound is ${most}`,
      );
  }
}
