import { issue, revoked, successorOf } from '#acuity/auth/lifecycle.js';
import type { KeyRecord } from '#acuity/auth/store.js';
import { BURST_S, dayOf } from '#acuity/auth/limits.js';
import { KEYS, REPORT, usageKey, WRITE, type Report } from '#acuity/auth/redisScripts.js';
import { RedisKeyStore } from '#acuity/auth/redisStore.js';
import type { StoreTransport } from '#acuity/auth/storeTransport.js';
import { Faults, type FaultFigures } from './faults.js';
import { FleetBound, type Member, type Stored } from './fleetBound.js';
import { Line, type Command, type LineState } from './line.js';
import { Replica, type Settings } from './replica.js';
import { Scheduler, START_MS, type Actor } from './scheduler.js';
import { MemoryStore, type Snapshot } from './store.js';
import { Traffic, type Target, type TrafficFigures } from './traffic.js';
import type { WorkerTroubles } from './pool.js';

/** What must hold and does not. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** A process in the place of a replica. */
export interface Seat extends Target {
  readonly replica: Replica;
  readonly actor: Actor;
  readonly member: Member;
  readonly lines: Line[];
  /** Since when it is paused. */
  pausedSinceMs: number | undefined;
  pausedMs: number;
  /** Reports that were sent, and not answered. */
  openReports: number;
  /** Key id → since when the process could know that it is revoked. */
  readonly visibleSinceMs: Map<string, number>;
  /** Keys that this process was seen to honour, and keys that it has to refuse from now on. */
  readonly honoured: Set<string>;
  readonly refused: Set<string>;
}

export interface Key {
  readonly id: string;
  readonly key: string;
  readonly ratePerS: number | null;
}

interface Bucket {
  excess: number;
  atMs: number;
}

export interface RunFigures {
  readonly hours: number;
  readonly events: number;
  readonly trace: string;
  readonly traffic: TrafficFigures;
  readonly faults: FaultFigures;
  /** Largest part of a daily quota that was admitted. */
  readonly worst: number;
}

/** A process that is in contact with the store refuses a revoked key after this time. */
const REVOKED_MS = 1000;
const QUOTAS = [2, 20, 61, 400, 5000];
const RATES = [1, 5, 40];
const OFFSET_MS = 3000;
const HOUR_MS = 3_600_000;
const CHECK_MS = 250;
/** Longest that the sum of all that is allowed to be late may be, beside the deadline. */
const LATE_MS = 700;
/** Longer than any timer of a call that was under way. */
const LAST_TIMERS_MS = 2000;
const REPORT_KEYS_BEFORE = 5;
const ANSWERED_BEFORE = 4;
const ANSWERED_OF_KEY = 3;
/** So long the effect of something that happened to the fleet on its rates is allowed for. */
const RATES_SETTLE_MS = 20_000;

/** A fleet of processes, its store and its callers, in virtual time. */
export class World {
  readonly scheduler: Scheduler;
  readonly seats: Seat[] = [];
  readonly keys: Key[] = [];
  readonly troubles: WorkerTroubles;
  readonly settings: Settings;
  readonly storeActor: Actor;
  readonly traffic: Traffic;
  model = 1;
  private readonly actor: Actor;
  private readonly operator: Actor;
  private readonly store: MemoryStore;
  private readonly quotas = new Map<string, number>();
  private readonly bound = new FleetBound(this.quotas);
  private readonly faults: Faults;
  private readonly buckets = new Map<string, Bucket>();
  private readonly listeners = new Set<{ line: Line; actor: Actor; onMessage: () => void }>();
  private readonly served = new Map<string, number>();
  private readonly revoked = new Set<string>();
  private backup: KeyRecord[] = [];
  private saved: { readonly snapshot: Snapshot; readonly stored: Stored };
  private shakenMs = -Infinity;
  private shakes = 0;
  private readonly storeOffsetMs: number;
  private isEnding = false;

  constructor(
    seed: number,
    private readonly hours: number,
  ) {
    this.scheduler = new Scheduler(seed);
    const { scheduler } = this;
    const { random } = scheduler;
    const among = <T>(...choices: readonly [T, ...T[]]): T =>
      choices[Math.floor(random() * choices.length)] ?? choices[0];
    this.actor = scheduler.actor;
    this.operator = scheduler.createActor('operator');
    this.storeActor = scheduler.createActor('store');
    this.storeOffsetMs = OFFSET_MS * (2 * random() - 1);
    this.settings = {
      loops: among(1, 1, 2),
      workers: among(1, 2),
      batchMax: among(1, 2, 4, 8),
      queueMax: among(4, 16, 64),
      deadlineMs: among(300, 1000, 1000, 3000),
      hangMs: among(1500, 5000),
      bodyMaxBytes: among(131_072, 262_144),
      bodiesMaxBytes: among(262_144, 1_048_576),
    };
    this.store = new MemoryStore({
      nowMs: () => START_MS + scheduler.nowMs + this.storeOffsetMs,
      onPublished: () => this.publish(),
    });
    this.saved = { snapshot: this.store.snapshot(), stored: this.bound.snapshot() };
    this.faults = new Faults(this, among(1, 2, 3, 3, 4));
    const { onTrouble } = this.faults;
    this.troubles = {
      dies: 0,
      hangs: 0,
      isSlow: 0,
      unsound: 0,
      poison: new Set(),
      unlucky: new Set(),
      onTrouble,
    };
    const { deadlineMs, hangMs } = this.settings;
    const sweepMs = Math.max(5, Math.min(deadlineMs, hangMs) / 20);
    this.traffic = new Traffic({
      scheduler,
      world: this.actor,
      bodyMaxBytes: this.settings.bodyMaxBytes,
      deadlineMs,
      answerMaxMs: deadlineMs + 2 * sweepMs + LATE_MS,
      odds: this.faults.odds,
      poison: this.troubles.poison,
      unlucky: this.troubles.unlucky,
      keys: () => this.keys.map(({ key }) => key),
      targets: () => this.seats.filter(({ replica, actor }) => replica.isOpen && actor.isAlive),
      served: (key) => void this.served.set(key, (this.served.get(key) ?? 0) + 1),
      fault: (what) => this.fail(what),
    });
  }

  /** Rejects with a `Violation` where something does not hold. */
  async run(): Promise<RunFigures> {
    const { scheduler } = this;
    scheduler.install();
    try {
      await this.begin();
      const endMs = this.hours * HOUR_MS;
      this.faults.begin(endMs);
      this.watch();
      await scheduler.run(endMs);
      await this.end();
      return {
        hours: scheduler.nowMs / HOUR_MS,
        events: scheduler.events,
        trace: scheduler.trace.toString(16).padStart(8, '0'),
        traffic: this.traffic.figures,
        faults: this.faults.figures,
        worst: this.bound.worst,
      };
    } finally {
      scheduler.uninstall();
    }
  }

  /** Ends the run. */
  fail(what: string): never {
    const violation = new Violation(what);
    this.scheduler.fail(violation);
    throw violation;
  }

  isRevoked(id: string): boolean {
    return this.revoked.has(id);
  }

  // What may happen to it.

  start(at: number): void {
    const { scheduler } = this;
    const actor = scheduler.createActor(`replica ${at}`);
    const lines: Line[] = [];
    const seat: Seat = {
      actor,
      lines,
      member: this.bound.member(scheduler.nowMs),
      replica: new Replica({
        scheduler,
        actor,
        offsetMs: OFFSET_MS * (2 * scheduler.random() - 1),
        settings: this.settings,
        troubles: this.troubles,
        model: this.model,
        lines: {
          keys: this.line(actor, lines),
          counts: this.countsLine(() => seat, actor, lines),
          listen: (onMessage) => this.listen(actor, lines, onMessage),
          close: () => {
            for (const line of lines) line.close();
          },
        },
        events: {
          admitted: ({ key, day }) => {
            this.tokenTaken(key.id, key.ratePerS);
            const fault = this.bound.admitted(seat.member, key.id, day, scheduler.nowMs);
            if (fault !== undefined) this.fail(fault);
          },
          refunded: ({ key, day }) => this.bound.refunded(seat.member, key.id, day),
          failedToOpen: () => this.leave(at, 1000),
          hung: () => this.leave(at, 1200),
          fault: (error) => this.fail(`a request failed unexpectedly: ${error.stack}`),
        },
      }),
      pausedSinceMs: undefined,
      pausedMs: 0,
      awakeMs: () =>
        scheduler.nowMs -
        seat.pausedMs -
        (seat.pausedSinceMs === undefined ? 0 : scheduler.nowMs - seat.pausedSinceMs),
      openReports: 0,
      visibleSinceMs: new Map(),
      honoured: new Set(),
      refused: new Set(),
    };
    this.seats[at] = seat;
    scheduler.after(actor, 0, () => void seat.replica.open());
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
    this.scheduler.kill(seat.actor);
    for (const listener of this.listeners) if (listener.actor === seat.actor) this.listeners.delete(listener);
    this.traffic.lose(seat.replica, false);
    this.bound.ended(seat.member);
    this.shake();
    this.scheduler.after(this.actor, 300, () => this.start(at));
  }

  /** As its supervisor stops it; another one takes its place. */
  stop(at: number): void {
    const seat = this.seats[at];
    if (seat === undefined || !seat.replica.isOpen || seat.pausedSinceMs !== undefined) return;
    this.scheduler.after(seat.actor, 0, () => void this.stopInOrder(seat, at));
  }

  private async stopInOrder(seat: Seat, at: number): Promise<void> {
    await seat.replica.close(() => this.traffic.lose(seat.replica, true));
    if (!seat.actor.isAlive) return;
    this.checkBodies(seat.replica, seat.actor);
    // What was begun may end by itself; what goes on for ever would not.
    await new Promise((resolve) => setTimeout(resolve, LAST_TIMERS_MS));
    if (!seat.actor.isAlive) return;
    if (seat.actor.timers > 0) this.fail(`${seat.actor.timers} timers are left in ${seat.actor.name}`);
    this.scheduler.kill(seat.actor);
    this.bound.ended(seat.member);
    this.shake();
    if (!this.isEnding) this.scheduler.after(this.actor, 300, () => this.start(at));
  }

  pause(at: number, ms: number): void {
    const seat = this.seats[at];
    if (seat === undefined || seat.pausedSinceMs !== undefined) return;
    this.scheduler.pause(seat.actor);
    seat.pausedSinceMs = this.scheduler.nowMs;
    if (ms > 300) this.shake();
    this.scheduler.after(this.actor, ms, () => this.resume(seat));
  }

  private resume(seat: Seat): void {
    if (seat.pausedSinceMs === undefined) return;
    seat.pausedMs += this.scheduler.nowMs - seat.pausedSinceMs;
    seat.pausedSinceMs = undefined;
    seat.visibleSinceMs.clear();
    this.scheduler.resume(seat.actor);
  }

  setLine(at: number, state: LineState): void {
    const seat = this.seats[at];
    if (seat === undefined) return;
    if (state !== 'sound') this.shake();
    for (const line of seat.lines) line.state = state;
  }

  pauseStore(ms: number): void {
    const { scheduler, storeActor } = this;
    if (storeActor.isPaused) return;
    this.shake();
    scheduler.pause(storeActor);
    scheduler.after(this.actor, ms, () => scheduler.resume(storeActor));
  }

  saveStore(): void {
    this.saved = { snapshot: this.store.snapshot(), stored: this.bound.snapshot() };
  }

  /** The store goes back to what was saved, as after a failover. */
  loseStore(): void {
    this.store.restore(this.saved.snapshot);
    this.lost(this.saved.stored);
  }

  /** The store loses all it has; the operator imports the keys of its backup. */
  flushStore(): void {
    this.store.restore(new Map());
    this.lost(new Map());
    this.operate(async (keys) => void (await keys.insertMissing(this.backup)));
  }

  issueKey(dailyMax: number | null, ratePerS: number | null): void {
    const issued = issue({ kind: 'live', dailyMax, ratePerS }, START_MS + this.scheduler.nowMs);
    const { id } = issued.record;
    this.operate(async (keys) => {
      await keys.insert(issued.record);
      if (this.backup.length < 8) this.backup.push(issued.record);
      this.know(id, issued.key, dailyMax, ratePerS);
    });
  }

  revokeKey(id: string, isRotated: boolean): void {
    const nowMs = START_MS + this.scheduler.nowMs;
    this.operate(async (keys) => {
      const record = (await keys.list()).find((known) => known.id === id);
      if (record === undefined || record.revokedAt !== null) return;
      const successor = isRotated ? successorOf(record, nowMs) : undefined;
      if (successor !== undefined)
        this.know(successor.record.id, successor.key, record.dailyMax, record.ratePerS);
      await keys.amend(id, (known) => ({
        ...revoked(known, nowMs),
        ...(successor && { successor: successor.record }),
      }));
    });
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

  // How it is made.

  private async begin(): Promise<void> {
    for (const dailyMax of QUOTAS) this.issueKey(dailyMax, null);
    for (const ratePerS of RATES) this.issueKey(null, ratePerS);
    this.issueKey(1000, 10);
    this.issueKey(null, null);
    await this.scheduler.run(200);
    if (this.keys.length < QUOTAS.length + RATES.length) this.fail('the keys could not be issued');
    this.saveStore();
    for (let at = 0; at < this.faults.replicas; at++) this.start(at);
    await this.scheduler.run(1000);
  }

  /** All is well again, and comes to rest: what is left then should not be. */
  private async end(): Promise<void> {
    const { scheduler } = this;
    this.faults.end();
    for (const [at, seat] of this.seats.entries()) {
      this.setLine(at, 'sound');
      this.resume(seat);
    }
    scheduler.resume(this.storeActor);
    await scheduler.run(scheduler.nowMs + 12_000);
    for (const seat of this.seats) this.checkRest(seat);
    if (this.traffic.waiting > 0) this.fail(`${this.traffic.waiting} requests are not answered`);
    for (const difference of this.traffic.differences()) this.fail(`a person's history: ${difference}`);
    this.isEnding = true;
    for (const at of this.seats.keys()) this.stop(at);
    await scheduler.run(scheduler.nowMs + 6000);
    for (const { actor } of this.seats) if (actor.isAlive) this.fail(`${actor.name} does not end`);
    this.checkCounts();
  }

  private checkRest({ replica, actor }: Seat): void {
    if (!replica.isOpen) this.fail(`${actor.name} is not open again`);
    if (replica.pending > 0) this.fail(`${replica.pending} requests are pending in ${actor.name}`);
    this.checkBodies(replica, actor);
  }

  private checkBodies({ heldBytes, bodyUnits }: Replica, { name }: Actor): void {
    if (heldBytes !== 0) this.fail(`${heldBytes} bytes of bodies are held in ${name}`);
    const left = bodyUnits.findIndex((units) => units !== 0);
    if (left >= 0) this.fail(`${bodyUnits[left]} KiB of bodies are counted in ${name}, in place ${left}`);
  }

  /** What the store has counted is what was answered. */
  private checkCounts(): void {
    const first = dayOf(START_MS) - 1;
    const last = dayOf(START_MS + this.scheduler.nowMs) + 1;
    for (const { id, key } of this.keys) {
      let net = 0;
      for (let day = first; day <= last; day++) {
        const counted = Number(this.store.send(['HGET', usageKey(day), id]) ?? 0);
        const fault =
          day === last - 1 || !this.faults.hasLosses ? this.bound.faultIn(id, day, counted) : undefined;
        if (fault !== undefined) this.fail(fault);
        net += this.bound.netOf(id, day);
      }
      const served = this.served.get(key) ?? 0;
      if (!this.faults.hasKills && net !== served)
        this.fail(`${net} counted of ${id}, ${served} answered with 200`);
    }
  }

  private watch(): void {
    const { scheduler } = this;
    let looks = 0;
    const look = (): void => {
      this.checkRevoked();
      for (const { replica } of this.seats) this.checkBounds(replica);
      if (looks++ % 4 === 0) this.traffic.check();
      scheduler.after(this.actor, CHECK_MS, look);
    };
    scheduler.after(this.actor, CHECK_MS, look);
  }

  private checkBounds({ loops, bodyUnits, heldBytes }: Replica): void {
    const { queueMax, bodiesMaxBytes, loops: count } = this.settings;
    for (const { predict } of loops) {
      const { pending } = predict.scorer;
      if (pending < 0 || pending > Math.ceil(queueMax / count)) this.fail(`${pending} requests are pending`);
    }
    const units = bodyUnits[0] ?? 0;
    if (units < 0 || units * 1024 > bodiesMaxBytes) this.fail(`bodies hold ${units} KiB`);
    if (units * 1024 !== heldBytes) this.fail(`${units} KiB of bodies are counted, ${heldBytes} bytes held`);
  }

  /** No process honours a key of which it has to know that it is revoked. */
  private checkRevoked(): void {
    const { nowMs } = this.scheduler;
    for (const seat of this.seats) {
      if (!seat.actor.isAlive || !seat.replica.isOpen) continue;
      for (const { id, key } of this.keys) {
        if (!this.revoked.has(id) && !seat.refused.has(id)) {
          seat.visibleSinceMs.delete(id);
          continue;
        }
        const isHonoured = seat.replica.honours(key);
        if (isHonoured && seat.refused.has(id))
          this.fail(`${seat.actor.name} honours ${id}, which is revoked`);
        if (!this.revoked.has(id)) continue;
        if (isHonoured) seat.honoured.add(id);
        if (!isHonoured && seat.honoured.has(id)) seat.refused.add(id);
        else if (!isReached(seat) || this.storeActor.isPaused) seat.visibleSinceMs.delete(id);
        else if (!seat.visibleSinceMs.has(id)) seat.visibleSinceMs.set(id, nowMs);
        else if (nowMs - (seat.visibleSinceMs.get(id) ?? 0) > REVOKED_MS + CHECK_MS) seat.refused.add(id);
      }
    }
  }

  /**
   * Rates, over any time: the processes together take no more than the rate gives, and beyond it what their buckets
   * hold; a bucket for each of them, since between two reports none knows of the others, and one more for each after
   * something has happened to the fleet.
   */
  private tokenTaken(id: string, ratePerS: number | null): void {
    if (ratePerS === null) return;
    const { nowMs } = this.scheduler;
    const bucket = this.buckets.get(id) ?? { excess: 0, atMs: nowMs };
    this.buckets.set(id, bucket);
    bucket.excess = 1 + Math.max(0, bucket.excess - (ratePerS * (nowMs - bucket.atMs)) / 1000);
    bucket.atMs = nowMs;
    if (nowMs - this.shakenMs > RATES_SETTLE_MS) this.shakes = 0;
    const most = BURST_S * ratePerS * (this.faults.replicas + this.shakes) + this.faults.replicas;
    if (bucket.excess > most)
      this.fail(
        `${Math.round(bucket.excess)} tokens of ${id} beyond its rate of ${ratePerS}/s: the bound is ${most}`,
      );
  }

  /** Something happened to the fleet that lets its rates be exceeded for a while. */
  private shake(): void {
    this.shakenMs = this.scheduler.nowMs;
    this.shakes += this.faults.replicas;
  }

  private know(id: string, key: string, dailyMax: number | null, ratePerS: number | null): void {
    this.keys.push({ id, key, ratePerS });
    if (dailyMax !== null) this.quotas.set(id, dailyMax);
  }

  private operate(work: (keys: RedisKeyStore) => Promise<void>): void {
    const lines: Line[] = [];
    const line = this.line(this.operator, lines);
    const keys = new RedisKeyStore(line, () => line);
    this.scheduler.after(this.operator, 0, () => {
      work(keys).catch(() => this.faults.onTrouble('operator’s command failed'));
    });
  }

  private line(actor: Actor, lines: Line[]): Line {
    const line = new Line({
      scheduler: this.scheduler,
      actor,
      store: this.storeActor,
      execute: (command) => this.execute(command),
      onFault: this.faults.onTrouble,
    });
    line.state = lines[0]?.state ?? 'sound';
    lines.push(line);
    return line;
  }

  /** The line of the reports, which the bound looks at. */
  private countsLine(seatOf: () => Seat, actor: Actor, lines: Line[]): StoreTransport {
    const { scheduler } = this;
    const line = new Line({
      scheduler,
      actor,
      store: this.storeActor,
      execute: (command) =>
        command.script === REPORT ? this.executeReport(seatOf(), command) : this.execute(command),
      onFault: this.faults.onTrouble,
    });
    lines.push(line);
    return {
      send: (args) => line.send(args),
      hash: (key) => line.hash(key),
      close: () => line.close(),
      run: async (script, keys, args) => {
        const seat = seatOf();
        const sentMs = scheduler.nowMs;
        seat.openReports++;
        try {
          const answer = (await line.run(script, keys, args)) as readonly unknown[];
          this.bound.answered(seat.member, sentMs, Number(answer[0]), answer[1] === 1);
          seat.openReports = 0;
          return answer;
        } catch (error) {
          this.bound.unanswered(seat.member);
          throw error;
        }
      },
    };
  }

  private executeReport({ member }: Seat, command: Command): unknown {
    const { keys, args } = command;
    const report = JSON.parse(args[0] ?? '') as Report;
    const last = Number(this.store.send(['GET', keys[0] ?? '']) ?? 0);
    const answer = this.execute(command) as readonly unknown[];
    const days: number[] = [];
    for (let at = REPORT_KEYS_BEFORE; at < keys.length; at += 2)
      days.push(Number((keys[at] ?? '').slice(usageKey(0).length - 1)));
    this.bound.executed(member, this.scheduler.nowMs, {
      report,
      isNew: last < report.number,
      isDoubtful: last < report.number && report.isAgain && Number(report.lost) < Number(answer[3]),
      days,
      isLost: answer[2] === 1,
      grants: report.keys.map((_, at) => Number(answer[ANSWERED_BEFORE + ANSWERED_OF_KEY * at + 1])),
    });
    return answer;
  }

  private execute({ script, keys, args }: Command): unknown {
    if (script === undefined) return this.store.send(args);
    if (script === WRITE) for (const seat of this.seats) this.seeHonoured(seat);
    const answer = this.runScript(script, keys, args);
    if (script === WRITE) this.seeRevoked();
    return answer;
  }

  /** What the simulated store does not understand is a fault of the simulation. */
  private runScript(script: string, keys: readonly string[], args: readonly string[]): unknown {
    try {
      return this.store.run(script, keys, args);
    } catch (error) {
      this.fail(`the simulated store refuses: ${String(error)}`);
    }
  }

  private seeHonoured({ replica, honoured }: Seat): void {
    for (const { id, key } of this.keys) if (replica.honours(key)) honoured.add(id);
  }

  private seeRevoked(): void {
    this.revoked.clear();
    const [, fields] = this.store.send(['HSCAN', KEYS.keys, '0']) as readonly [string, readonly string[]];
    for (let at = 1; at < fields.length; at += 2) {
      const text = fields[at] ?? '';
      const record = JSON.parse(text.slice(text.indexOf(' '))) as KeyRecord;
      if (record.revokedAt !== null) this.revoked.add(record.id);
    }
  }

  private lost(stored: Stored): void {
    this.shake();
    this.bound.lost(stored, (member) =>
      this.seats.some((seat) => seat.member === member && isReached(seat) && seat.openReports === 0),
    );
    for (const seat of this.seats) seat.visibleSinceMs.clear();
    this.seeRevoked();
  }

  private listen(actor: Actor, lines: Line[], onMessage: () => void): StoreTransport {
    const line = this.line(actor, lines);
    const listener = { line, actor, onMessage };
    return {
      // It listens from its first word on.
      send: async (args) => {
        const answer = await line.send(args);
        this.listeners.add(listener);
        return answer;
      },
      run: (script, keys, args) => line.run(script, keys, args),
      hash: (key) => line.hash(key),
      close: () => {
        this.listeners.delete(listener);
        line.close();
      },
    };
  }

  private publish(): void {
    for (const { line, actor, onMessage } of this.listeners) {
      const ms = line.pushed();
      if (ms !== undefined) this.scheduler.after(actor, ms, onMessage);
    }
  }
}

/** Whether the process is in contact with the store, and nothing is under way that began when it was not. */
function isReached({ lines, pausedSinceMs }: Seat): boolean {
  return (
    pausedSinceMs === undefined && lines.every(({ state, doubtful }) => state === 'sound' && doubtful === 0)
  );
}
