import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { seededRandom, type Random } from '#acuity/base/random.js';

/** A process of the simulation: what it has begun waits while it is paused, and never happens once it is dead. */
export class Actor {
  isAlive = true;
  isPaused = false;
  /** Its timers that have not fired. */
  timers = 0;
  /** What fell due while it was paused. */
  readonly held: Happening[] = [];
  /** When it was paused last, and when it went on; for ever ago before that. */
  pausedMs = -Infinity;
  resumedMs = -Infinity;
  /** For how long it was paused in all, until it went on last. */
  sleptMs = 0;
  /** Immediates keep their order, and its turns of the loop end one after the other. */
  turnEndsMs = 0;

  constructor(
    readonly number: number,
    readonly name: string,
  ) {}
}

/** Something that is due at a moment. It is what `setTimeout` and its like return. */
class Happening {
  isOver = false;

  constructor(
    readonly scheduler: Scheduler,
    readonly actor: Actor,
    readonly work: () => void,
    public dueMs: number,
    public order: number,
    /** Undefined: once. */
    readonly everyMs: number | undefined,
    readonly isTimer: boolean,
  ) {}

  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}

/** How long the loop takes at most until it comes to its immediates, in ms. */
const TURN_MS = 0.05;

/**
 * Virtual time. While it runs, the process's timers, clocks and random numbers are its own: the code under test is
 * what is shipped, and knows nothing of it. What is due first happens first; all promises that it settles are
 * continued before anything else happens, and belong to the same actor.
 */
export class Scheduler {
  nowMs = 0;
  /** Of all that happened, and when: equal for equal runs. */
  trace = 0x811c9dc5;
  readonly random: Random;
  /** The wall clock at `nowMs` 0: milliseconds since 1970. */
  startMs = 0;
  /** Who acts now: owns the timers that are made. */
  actor: Actor;
  private readonly due: Happening[] = [];
  private order = 0;
  private actors = 0;
  private fault: unknown;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    this.actor = this.createActor('world');
  }

  get wallMs(): number {
    return this.startMs + this.nowMs;
  }

  createActor(name: string): Actor {
    return new Actor(this.actors++, name);
  }

  /** `work` happens to `actor` in `ms`, as a packet that arrives. */
  after(actor: Actor, ms: number, work: () => void): void {
    this.push(new Happening(this, actor, work, this.nowMs + ms, this.order++, undefined, false));
  }

  pause(actor: Actor): void {
    actor.isPaused = true;
    actor.pausedMs = this.nowMs;
  }

  resume(actor: Actor): void {
    if (!actor.isPaused) return;
    actor.isPaused = false;
    actor.resumedMs = this.nowMs;
    actor.sleptMs += this.nowMs - actor.pausedMs;
    for (const happening of actor.held.splice(0)) {
      happening.dueMs = this.nowMs;
      happening.order = this.order++;
      this.push(happening);
    }
  }

  /** How long it has not been paused, in ms. */
  awakeMs({ isPaused, pausedMs, sleptMs }: Actor): number {
    return (isPaused ? pausedMs : this.nowMs) - sleptMs;
  }

  kill(actor: Actor): void {
    actor.isAlive = false;
    actor.held.length = 0;
  }

  /** Ends the run with `fault` when what happens now is over, even where the code under test catches what is thrown. */
  fail(fault: Error): void {
    this.fault ??= fault;
  }

  /** Mixes what was seen into the trace. */
  note(value: number): void {
    this.trace = Math.imul(this.trace ^ (value | 0), 0x01000193) >>> 0;
  }

  /** Lets everything happen that is due before `untilMs`. Rejects with what was thrown on the way. */
  run(untilMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      // Only outside of promises can all of them be continued from here.
      realImmediate(() => {
        try {
          this.runNow(untilMs);
          resolve();
        } catch (error) {
          reject(error as Error);
        }
      });
    });
  }

  private runNow(untilMs: number): void {
    for (let next = this.due.at(-1); next !== undefined && next.dueMs <= untilMs; next = this.due.at(-1)) {
      this.due.pop();
      if (next.isOver || !next.actor.isAlive) continue;
      if (next.actor.isPaused) {
        next.actor.held.push(next);
        continue;
      }
      this.nowMs = Math.max(this.nowMs, next.dueMs);
      this.happen(next);
    }
    this.nowMs = Math.max(this.nowMs, untilMs);
  }

  private happen(next: Happening): void {
    const { actor } = next;
    this.note(actor.number);
    this.note(this.nowMs * 1000);
    this.actor = actor;
    if (next.everyMs === undefined) this.end(next);
    try {
      next.work();
    } catch (error) {
      this.fault ??= error;
    }
    if (next.everyMs !== undefined && !next.isOver) {
      next.dueMs = this.nowMs + next.everyMs;
      next.order = this.order++;
      this.push(next);
    }
    continuePromises();
    if (this.fault !== undefined) throw this.fault;
  }

  /** Takes the place of the process's timers, clocks and random numbers. @returns what gives them back */
  install(): () => void {
    const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis;
    const real = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };
    const { now } = Date;
    const { randomInt } = crypto;
    const { random } = Math;
    const once = (work: (...args: unknown[]) => void, ms = 1, ...args: unknown[]): Happening =>
      this.timer(() => work(...args), this.nowMs + Math.max(1, Math.trunc(ms)));
    const every = (work: () => void, ms = 1): Happening => {
      const everyMs = Math.max(1, Math.trunc(ms));
      return this.timer(work, this.nowMs + everyMs, everyMs);
    };
    const immediate = (work: (...args: unknown[]) => void, ...args: unknown[]): Happening => {
      const { actor } = this;
      actor.turnEndsMs = Math.max(actor.turnEndsMs, this.nowMs + TURN_MS * this.random());
      return this.timer(() => work(...args), actor.turnEndsMs);
    };
    const clear = (timer: unknown): void => {
      if (timer instanceof Happening) this.end(timer);
    };
    const onRejection = (reason: unknown): void => {
      this.fault ??= reason;
    };
    process.on('unhandledRejection', onRejection);
    Object.assign(globalThis, {
      setTimeout: once,
      setInterval: every,
      setImmediate: immediate,
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    });
    Date.now = () => this.wallMs;
    performance.now = () => this.nowMs;
    Math.random = this.random;
    crypto.randomInt = ((max: number) => Math.floor(this.random() * max)) as typeof crypto.randomInt;
    syncBuiltinESMExports();
    return () => {
      process.off('unhandledRejection', onRejection);
      Object.assign(globalThis, real);
      Date.now = now;
      Reflect.deleteProperty(performance, 'now');
      Math.random = random;
      crypto.randomInt = randomInt;
      syncBuiltinESMExports();
    };
  }

  private timer(work: () => void, dueMs: number, everyMs?: number): Happening {
    const timer = new Happening(this, this.actor, work, dueMs, this.order++, everyMs, true);
    this.actor.timers++;
    this.push(timer);
    return timer;
  }

  private end(happening: Happening): void {
    if (happening.isOver) return;
    happening.isOver = true;
    if (happening.isTimer) happening.actor.timers--;
  }

  /** Keeps what is due in order, the next one last. */
  private push(added: Happening): void {
    let [from, to] = [0, this.due.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const other = this.due[middle];
      if (other !== undefined && isBefore(added, other)) from = middle + 1;
      else to = middle;
    }
    this.due.splice(from, 0, added);
  }
}

const realImmediate = setImmediate;

/** Continues all promises that are settled, and those that they settle: what Node does between two callbacks. */
const continuePromises = (process as unknown as { readonly _tickCallback: () => void })._tickCallback;

function isBefore(a: Happening, b: Happening): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}
