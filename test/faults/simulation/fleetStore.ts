import type { KeyRecord } from '#acuity/auth/record.js';
import { countsKey, fieldsOf, KEYS, usageKey, type StoreTransport } from '#acuity/auth/redis/redisNames.js';
import { Line } from './line.js';
import type { Actor, Scheduler } from './scheduler.js';
import type { Seat } from './traffic.js';
import { MemoryStore, type Snapshot } from './store.js';

export interface FleetStoreOptions {
  readonly scheduler: Scheduler;
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

/** The store that a fleet shares, what happens to it, and the lines to it. */
export class FleetStore {
  /** Ids of the keys that it holds as revoked. */
  readonly revoked = new Set<string>();
  /** Ids of all keys that it holds. */
  readonly held = new Set<string>();
  /** When it last went back to an earlier state, stood still, or went on. */
  shakenMs = -Infinity;
  private readonly actor: Actor;
  private readonly store: MemoryStore;
  private readonly listeners = new Set<{ line: Line; actor: Actor; onMessage: () => void }>();
  private saved: Snapshot;

  constructor(private readonly options: FleetStoreOptions) {
    const { scheduler, offsetMs } = options;
    this.actor = scheduler.createActor('store');
    const nowMs = (): number => scheduler.wallMs + offsetMs;
    this.store = new MemoryStore(nowMs, () => this.publish());
    this.saved = this.store.snapshot();
  }

  get isPaused(): boolean {
    return this.actor.isPaused;
  }

  pause(ms: number): void {
    const { scheduler } = this.options;
    if (this.isPaused) return;
    this.shake();
    const { actor } = scheduler;
    scheduler.pause(this.actor);
    scheduler.after(actor, ms, () => this.resume());
  }

  resume(): void {
    if (this.isPaused) this.shake();
    this.options.scheduler.resume(this.actor);
  }

  save(): void {
    this.saved = this.store.snapshot();
  }

  /** It goes back to what was saved, as after a failover. */
  lose(): void {
    this.goBack(this.saved);
  }

  /** It loses all it has. */
  empty(): void {
    this.goBack(new Map());
  }

  /** Predictions of a day that each replica, by its field, has reported. */
  counted(id: string, day: number): number {
    let sum = 0;
    for (const field of fieldsOf(this.store.send(['HGETALL', countsKey(day, id)])).values())
      sum += Number.parseInt(field, 10);
    return sum;
  }

  /** The sum that `acuity keys usage` shows. */
  usage(id: string, day: number): number {
    return Number(this.store.send(['HGET', usageKey(day), id]) ?? 0);
  }

  /** The process has ended. */
  forget(actor: Actor): void {
    for (const listener of this.listeners) if (listener.actor === actor) this.listeners.delete(listener);
  }

  /** `onAnswered` is called with each answer. */
  line(actor: Actor, lines: Line[], onAnswered?: () => void): Line {
    const { scheduler, onFault } = this.options;
    const connect = (): ((words: readonly string[]) => unknown) => {
      const session = this.store.session();
      return (words) => this.execute(words, session);
    };
    const line = new Line({
      scheduler,
      actor,
      store: this.actor,
      connect,
      onFault,
      ...(onAnswered && { onAnswered }),
    });
    line.state = lines[0]?.state ?? 'sound';
    lines.push(line);
    return line;
  }

  listen(actor: Actor, lines: Line[], onMessage: () => void): StoreTransport {
    // It listens from its first word on.
    const line = this.line(actor, lines, () => void this.listeners.add(listener));
    const listener = { line, actor, onMessage };
    return line;
  }

  private publish(): void {
    for (const { line, actor, onMessage } of this.listeners) {
      const ms = line.pushed();
      if (ms !== undefined) this.options.scheduler.after(actor, ms, onMessage);
    }
  }

  private shake(): void {
    this.shakenMs = this.options.scheduler.nowMs;
    this.options.onShaken();
  }

  private goBack(snapshot: Snapshot): void {
    this.shake();
    this.store.restore(snapshot);
    for (const seat of this.options.seats) seat.visibleSinceMs.clear();
    this.seeKeys();
  }

  /** What the simulated store does not understand is a fault of the simulation. */
  private execute(words: readonly string[], session: { send(words: readonly string[]): unknown }): unknown {
    try {
      const answer = session.send(words);
      if (words[0] === 'EXEC') this.seeKeys();
      return answer;
    } catch (error) {
      this.options.fail(`the simulated store refuses: ${String(error)}`);
    }
  }

  private seeKeys(): void {
    this.revoked.clear();
    this.held.clear();
    for (const text of fieldsOf(this.store.send(['HGETALL', KEYS.records])).values()) {
      const { id, revokedAt } = JSON.parse(text) as KeyRecord;
      this.held.add(id);
      if (revokedAt !== null) this.revoked.add(id);
    }
  }
}
