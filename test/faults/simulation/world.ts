import { pick } from '#acuity/base/random.js';
import type { Config } from '#acuity/config/options.js';
import { Callers } from './callers.js';
import { Checks } from './checks.js';
import { Faults, LOST } from './faults.js';
import { QuotaBound, SETTLED_MS } from './quotaBound.js';
import { FleetStore } from './fleetStore.js';
import type { LineState } from './line.js';
import { Operator } from './operator.js';
import type { WorkerTroubles } from './pool.js';
import { Replica, settingsOf } from './replica.js';
import { Scheduler, type Actor } from './scheduler.js';
import { Seat, Traffic } from './traffic.js';

/** What must hold and does not. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

const QUOTAS = [2, 20, 61, 400, 5000];
const RATES = [1, 5, 40];
const OFFSET_MS = 3000;
const HOUR_MS = 3_600_000;
/** Any midnight, UTC. */
const MIDNIGHT_MS = 20_001 * 24 * HOUR_MS;
const LOOK_MS = 1000;
/** Longest that the sum of all that is allowed to be late may be, beside the deadline. */
const LATE_MS = 700;
/** Longer than any timer of a call that was under way; and than the buffers of long bodies are kept. */
const LAST_TIMERS_MS = 2000;
const BUFFERS_MS = 20_000;
/** Share of requests with any key that there ever was, revoked ones too. */
const ANY_KEY = 0.15;

/** A fleet of processes, its store and its callers, in virtual time. */
export class World {
  readonly scheduler: Scheduler;
  readonly seats: Seat[] = [];
  readonly troubles: WorkerTroubles;
  readonly settings: Config;
  readonly store: FleetStore;
  readonly operator: Operator;
  readonly traffic: Traffic;
  /** How often each thing happened: requests, their answers, faults. */
  readonly figures = new Map<string, number>();
  private model = 1;
  private readonly actor: Actor;
  private readonly bound: QuotaBound;
  private readonly faults: Faults;
  private readonly checks: Checks;
  private isEnding = false;

  constructor(
    seed: number,
    private readonly hours: number,
  ) {
    this.scheduler = new Scheduler(seed);
    const { scheduler, seats } = this;
    const { random } = scheduler;
    this.actor = scheduler.actor;
    // A midnight falls into each run, sooner or later.
    scheduler.startMs = MIDNIGHT_MS - hours * HOUR_MS * random();
    this.settings = settingsOf(random);
    this.faults = new Faults(this, pick(random, [1, 2, 2, 3, 4]));
    const { odds, replicas } = this.faults;
    const { count } = this;
    const fail = (what: string): never => this.fail(what);
    const quotas = new Map<string, number>();
    this.store = new FleetStore({
      scheduler,
      seats,
      offsetMs: this.offsetMs(),
      onFault: count,
      onShaken: () => this.checks.shake(),
      fail,
    });
    this.bound = new QuotaBound(quotas, (id, day) => this.store.counted(id, day));
    this.operator = new Operator(scheduler, this.store, quotas, count);
    const { settings, bound, store } = this;
    const { keys } = this.operator;
    this.checks = new Checks({ scheduler, settings, replicas, seats, keys, store, bound, fail });
    const poison = new Set<number>();
    const unlucky = new Set<number>();
    this.troubles = { dies: 0, hangs: 0, isSlow: 0, poison, unlucky, onTrouble: count };
    const { deadlineMs, hangMs, bodyMaxBytes, queueMax } = settings;
    const callers = new Callers({ random, bodyMaxBytes, queueMax, odds, poison, unlucky });
    const sweepMs = Math.max(5, Math.min(deadlineMs, hangMs) / 20);
    this.traffic = new Traffic({
      scheduler,
      deadlineMs,
      answerMaxMs: deadlineMs + 2 * sweepMs + LATE_MS,
      hangUps: odds.hangUps,
      targets: () => seats.filter(({ replica, actor }) => replica.isOpen && actor.isAlive),
      key: () => this.someKey(),
      ask: (key) => callers.ask(key),
      settled: (...account) => this.checks.settled(...account),
      count,
      fault: fail,
    });
  }

  /** Rejects with a `Violation` where something does not hold. */
  async run() {
    const { scheduler, figures } = this;
    const uninstall = scheduler.install();
    try {
      await this.begin();
      const endMs = this.hours * HOUR_MS;
      this.faults.begin(endMs);
      this.checks.watch();
      this.watchWaits();
      await scheduler.run(endMs);
      await this.end();
      const trace = scheduler.trace.toString(16).padStart(8, '0');
      return { hours: scheduler.nowMs / HOUR_MS, trace, figures };
    } finally {
      uninstall();
    }
  }

  /** Something happened, once or so many times. */
  readonly count = (what: string, times = 1): void => {
    this.figures.set(what, (this.figures.get(what) ?? 0) + times);
  };

  /** Ends the run. */
  fail(what: string): never {
    const violation = new Violation(what);
    this.scheduler.fail(violation);
    throw violation;
  }

  // What may happen to it.

  start(at: number): void {
    const { scheduler, checks, store } = this;
    const actor = scheduler.createActor(`replica ${at}`);
    const replicaOf = (seat: Seat): Replica =>
      new Replica({
        scheduler,
        actor,
        offsetMs: this.offsetMs(),
        settings: this.settings,
        troubles: this.troubles,
        model: this.model,
        onClosed: () => this.traffic.lose(seat.replica, true),
        lines: {
          keys: store.line(actor, seat.lines),
          counts: store.line(actor, seat.lines, () => this.answered(seat)),
          listen: (onMessage) => store.listen(actor, seat.lines, onMessage),
          close: () => {
            for (const line of seat.lines) line.close();
          },
        },
        events: {
          admitted: (...charge) => checks.admitted(seat, ...charge),
          refunded: ({ key, day }, count) => this.bound.refunded(seat.member, key.id, day, count),
          failedToOpen: () => this.leave(at, 1000),
          hung: () => this.leave(at, 1200),
          fault: (error) => this.fail(`a request failed unexpectedly: ${error.stack}`),
        },
      });
    const seat = new Seat(actor, this.bound.member(), scheduler.nowMs, replicaOf);
    this.seats[at] = seat;
    scheduler.after(actor, 0, () => void seat.replica.open());
  }

  /** It has heard of itself, and of all who were in contact for long enough to be heard of. */
  private answered(seat: Seat): void {
    const others = this.seats.filter((other) => other !== seat && this.checks.contactMs(other) > SETTLED_MS);
    this.bound.answered(seat.member, 1 + others.length);
  }

  /** It ends by itself, and its supervisor starts another. */
  private leave(at: number, afterMs: number): void {
    const seat = this.seats[at];
    this.scheduler.after(this.actor, afterMs, () => {
      if (this.seats[at] === seat) this.kill(at);
    });
  }

  /** At once, and another one takes its place. */
  kill(at: number): void {
    const seat = this.seats[at];
    if (seat === undefined || !seat.actor.isAlive) return;
    this.count(LOST);
    this.forget(seat);
    this.traffic.lose(seat.replica, false);
    seat.member.hasEnded = seat.member.isKilled = true;
    this.checks.shake();
    this.scheduler.after(this.actor, 300, () => this.start(at));
  }

  /** As its supervisor stops it; another one takes its place. */
  stop(at: number): void {
    const seat = this.seats[at];
    if (seat?.replica.isOpen !== true || seat.isStopping || seat.actor.isPaused) return;
    seat.isStopping = true;
    this.scheduler.after(seat.actor, 0, () => void this.stopInOrder(seat, at));
  }

  private async stopInOrder(seat: Seat, at: number): Promise<void> {
    await seat.replica.close();
    if (!seat.actor.isAlive) return;
    this.checks.bodiesAtRest(seat.replica, seat.actor.name);
    // What was begun may end by itself; what goes on for ever would not.
    await new Promise((resolve) => setTimeout(resolve, LAST_TIMERS_MS));
    // A process that stands still meanwhile keeps them for longer.
    for (let wait = 0; seat.actor.timers > 0 && wait < 2; wait++)
      await new Promise((resolve) => setTimeout(resolve, BUFFERS_MS));
    if (!seat.actor.isAlive) return;
    if (seat.actor.timers > 0) this.fail(`${seat.actor.timers} timers are left in ${seat.actor.name}`);
    this.forget(seat);
    seat.member.hasEnded = !this.isEnding;
    // Its last counts reach the store only if the store is in reach.
    seat.member.isKilled = !this.isEnding && this.checks.contactMs(seat) < SETTLED_MS;
    this.checks.shake();
    if (!this.isEnding) this.scheduler.after(this.actor, 300, () => this.start(at));
  }

  /** It has ended, however that came: nothing happens to it any more. */
  private forget({ actor }: Seat): void {
    this.scheduler.kill(actor);
    this.store.forget(actor);
  }

  pause(at: number, ms: number): void {
    const seat = this.seats[at];
    if (seat === undefined || seat.actor.isPaused) return;
    this.scheduler.pause(seat.actor);
    if (ms > 300) this.checks.shake();
    this.scheduler.after(this.actor, ms, () => this.resume(seat));
  }

  private resume(seat: Seat): void {
    if (!seat.actor.isPaused) return;
    seat.visibleSinceMs.clear();
    seat.troubledMs = this.scheduler.nowMs;
    this.scheduler.resume(seat.actor);
  }

  setLine(at: number, state: LineState): void {
    const seat = this.seats[at];
    if (seat === undefined) return;
    if (state !== 'sound') this.checks.shake();
    for (const line of seat.lines) line.state = state;
    seat.troubledMs = this.scheduler.nowMs;
  }

  switchModel(): void {
    this.model++;
    const { model } = this;
    for (const seat of this.seats) {
      if (!seat.replica.isOpen) continue;
      this.scheduler.after(seat.actor, 50 * this.scheduler.random(), () => {
        if (seat.replica.isOpen) void seat.replica.switchModel(model);
      });
    }
  }

  private async begin(): Promise<void> {
    const { operator } = this;
    for (const dailyMax of QUOTAS) operator.issue(dailyMax, null);
    for (const ratePerS of RATES) operator.issue(null, ratePerS);
    operator.issue(1000, 10);
    operator.issue(null, null);
    await this.scheduler.run(200);
    if (operator.keys.length < QUOTAS.length + RATES.length) this.fail('the keys could not be issued');
    this.store.save();
    for (let at = 0; at < this.faults.replicas; at++) this.start(at);
    await this.scheduler.run(1000);
  }

  /** All is well again, and comes to rest: what is left then should not be. */
  private async end(): Promise<void> {
    const { scheduler, checks } = this;
    this.faults.end();
    for (const [at, seat] of this.seats.entries()) {
      this.setLine(at, 'sound');
      this.resume(seat);
    }
    this.store.resume();
    // Long enough for a process that stops in order, and for the one that takes its place.
    await scheduler.run(scheduler.nowMs + LAST_TIMERS_MS + 2 * BUFFERS_MS + 3000);
    for (const seat of this.seats) checks.atRest(seat);
    checks.sums(this.faults);
    if (this.traffic.waiting > 0) this.fail(`${this.traffic.waiting} requests are not answered`);
    this.isEnding = true;
    for (const at of this.seats.keys()) this.stop(at);
    await scheduler.run(scheduler.nowMs + 6000 + BUFFERS_MS);
    for (const { actor } of this.seats) if (actor.isAlive) this.fail(`${actor.name} does not end`);
    checks.counts(this.faults);
  }

  private watchWaits(): void {
    this.traffic.check();
    this.scheduler.after(this.actor, LOOK_MS, () => this.watchWaits());
  }

  private offsetMs(): number {
    return OFFSET_MS * (2 * this.scheduler.random() - 1);
  }

  /** As a rule one that is valid, and half of these with a quota that callers use up. */
  private someKey(): string {
    const { random } = this.scheduler;
    const { keys } = this.operator;
    const valid = random() < ANY_KEY ? keys : keys.filter(({ id }) => !this.store.revoked.has(id));
    const limited = random() < 0.5 ? valid.filter(({ dailyMax }) => dailyMax !== null) : valid;
    return pick(random, limited.length > 0 ? limited : keys).key;
  }
}
