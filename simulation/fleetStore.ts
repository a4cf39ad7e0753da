import type { KeyRecord } from '#acuity/auth/store.js';
import { KEYS, REPORT, usageKey, WRITE, type Report } from '#acuity/auth/redisScripts.js';
import type { StoreTransport } from '#acuity/auth/storeTransport.js';
import type { FleetBound, Stored } from './fleetBound.js';
import { Line, type Command } from './line.js';
import type { Actor, Scheduler } from './scheduler.js';
import { isReached, type Seat } from './seat.js';
import { MemoryStore, type Snapshot } from './store.js';

export interface FleetStoreOptions {
  readonly scheduler: Scheduler;
  readonly bound: FleetBound;
  /** The processes that are there. */
  readonly seats: readonly Seat[];
  /** Its wall clock is off by so much. */
  readonly offsetMs: number;
  onFault(fault: string): void;
  /** Something happened that lets rates be exceeded for a while. */
  onShaken(): void;
  /** The simulation itself is at fault. */
  fail(what: string): never;
}

const REPORT_KEYS_BEFORE = 5;
const ANSWERED_BEFORE = 4;
const ANSWERED_OF_KEY = 3;

/** The store that a fleet shares, what happens to it, and the lines to it. It tells the bound what it executes. */
export class FleetStore {
  /** Ids of the keys that it holds as revoked. */
  readonly revoked = new Set<string>();
  private readonly actor: Actor;
  private readonly store: MemoryStore;
  private readonly listeners = new Set<{ line: Line; actor: Actor; onMessage: () => void }>();
  private saved: { readonly snapshot: Snapshot; readonly stored: Stored };

  constructor(private readonly options: FleetStoreOptions) {
    const { scheduler, offsetMs, bound } = options;
    this.actor = scheduler.createActor('store');
    this.store = new MemoryStore({
      nowMs: () => scheduler.wallMs + offsetMs,
      onPublished: () => this.publish(),
    });
    this.saved = { snapshot: this.store.snapshot(), stored: bound.snapshot() };
  }

  get isPaused(): boolean {
    return this.actor.isPaused;
  }

  pause(ms: number): void {
    const { scheduler, onShaken } = this.options;
    if (this.isPaused) return;
    onShaken();
    const { actor } = scheduler;
    scheduler.pause(this.actor);
    scheduler.after(actor, ms, () => this.resume());
  }

  resume(): void {
    this.options.scheduler.resume(this.actor);
  }

  save(): void {
    this.saved = { snapshot: this.store.snapshot(), stored: this.options.bound.snapshot() };
  }

  /** It goes back to what was saved, as after a failover. */
  lose(): void {
    this.goBack(this.saved.snapshot, this.saved.stored);
  }

  /** It loses all it has. */
  empty(): void {
    this.goBack(new Map(), new Map());
  }

  /** Predictions of a day that it has counted. */
  counted(id: string, day: number): number {
    return Number(this.store.send(['HGET', usageKey(day), id]) ?? 0);
  }

  /** The process has ended. */
  forget(actor: Actor): void {
    for (const listener of this.listeners) if (listener.actor === actor) this.listeners.delete(listener);
  }

  line(actor: Actor, lines: Line[], execute = (command: Command) => this.execute(command)): Line {
    const { scheduler, onFault } = this.options;
    const line = new Line({ scheduler, actor, store: this.actor, execute, onFault });
    line.state = lines[0]?.state ?? 'sound';
    lines.push(line);
    return line;
  }

  /** The line of the reports, which the bound looks at. */
  countsLine(seatOf: () => Seat, actor: Actor, lines: Line[]): StoreTransport {
    const { scheduler, bound } = this.options;
    const line = this.line(actor, lines, (command) =>
      command.script === REPORT ? this.executeReport(seatOf(), command) : this.execute(command),
    );
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
          bound.answered(seat.member, sentMs, Number(answer[0]), answer[1] === 1);
          seat.openReports = 0;
          return answer;
        } catch (error) {
          bound.unanswered(seat.member);
          throw error;
        }
      },
    };
  }

  listen(actor: Actor, lines: Line[], onMessage: () => void): StoreTransport {
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
      if (ms !== undefined) this.options.scheduler.after(actor, ms, onMessage);
    }
  }

  private goBack(snapshot: Snapshot, stored: Stored): void {
    const { bound, seats, onShaken } = this.options;
    this.store.restore(snapshot);
    onShaken();
    bound.lost(stored, (member) =>
      seats.some((seat) => seat.member === member && isReached(seat) && seat.openReports === 0),
    );
    for (const seat of seats) seat.visibleSinceMs.clear();
    this.seeRevoked();
  }

  private executeReport({ member }: Seat, command: Command): unknown {
    const { bound, scheduler } = this.options;
    const { keys, args } = command;
    const report = JSON.parse(args[0] ?? '') as Report;
    const last = Number(this.store.send(['GET', keys[0] ?? '']) ?? 0);
    const answer = this.execute(command) as readonly unknown[];
    const days: number[] = [];
    for (let at = REPORT_KEYS_BEFORE; at < keys.length; at += 2)
      days.push(Number((keys[at] ?? '').slice(usageKey(0).length - 1)));
    bound.executed(member, scheduler.nowMs, {
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
    const answer = this.runScript(script, keys, args);
    if (script === WRITE) this.seeRevoked();
    return answer;
  }

  /** What the simulated store does not understand is a fault of the simulation. */
  private runScript(script: string, keys: readonly string[], args: readonly string[]): unknown {
    try {
      return this.store.run(script, keys, args);
    } catch (error) {
      this.options.fail(`the simulated store refuses: ${String(error)}`);
    }
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
}
