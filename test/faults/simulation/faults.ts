import { below, pick } from '#acuity/base/random.js';
import type { LineState } from './line.js';
import type { WorkerTroubles } from './pool.js';
import type { Actor, Scheduler } from './scheduler.js';
import type { FleetStore } from './fleetStore.js';
import type { Operator } from './operator.js';
import type { Traffic } from './traffic.js';

/** What faults happen to. */
interface Stage {
  readonly scheduler: Scheduler;
  readonly seats: readonly unknown[];
  readonly troubles: WorkerTroubles;
  readonly traffic: Pick<Traffic, 'send'>;
  readonly store: FleetStore;
  readonly operator: Operator;
  /** How often each thing that is counted has happened. */
  readonly figures: ReadonlyMap<string, number>;
  count(what: string): void;
  kill(at: number): void;
  stop(at: number): void;
  pause(at: number, ms: number): void;
  setLine(at: number, state: LineState): void;
  switchModel(): void;
}

interface Kind {
  readonly name: string;
  readonly act: (world: Stage, random: () => number) => void;
}

const KEYS_MAX = 100;
const KEYS_LEAST = 5;
const LINE_STATES: readonly LineState[] = ['slow', 'torn', 'deaf', 'cut'];

/** For a time that is short as a rule, from `least` on. */
function spell(random: () => number, least: number, most: number): number {
  return least * (most / least) ** random();
}

/** As an operator does; there are always keys that may be used. */
function changeKey({ operator, store }: Stage, random: () => number): void {
  const { keys } = operator;
  const usable = keys.filter(({ id }) => !store.revoked.has(id));
  const key = usable[Math.floor(random() * usable.length)];
  if (usable.length > KEYS_LEAST && key !== undefined && random() < 0.7)
    return operator.revoke(key.id, random() < 0.5);
  if (keys.length < KEYS_MAX) operator.issue(random() < 0.5 ? 30 : null, random() < 0.5 ? 5 : null);
}

/** Workers have a trouble, with a chance of up to `most` for each run. */
function troubled(name: string, trouble: 'dies' | 'hangs' | 'isSlow', most: number, longestMs: number): Kind {
  return {
    name,
    act: ({ troubles, scheduler }, random) => {
      troubles[trouble] = most * random();
      scheduler.after(scheduler.actor, spell(random, 100, longestMs), () => (troubles[trouble] = 0));
    },
  };
}

const KINDS: readonly Kind[] = [
  {
    name: 'line fails',
    act: (world, random) => {
      const state = pick(random, LINE_STATES);
      const seats = random() < 0.25 ? [...world.seats.keys()] : [below(random, world.seats.length)];
      for (const at of seats) world.setLine(at, state);
      world.scheduler.after(world.scheduler.actor, spell(random, 100, 15_000), () => {
        for (const at of seats) world.setLine(at, 'sound');
      });
    },
  },
  { name: 'store stands still', act: (world, random) => world.store.pause(spell(random, 50, 8000)) },
  { name: 'store goes back to what it had saved', act: (world) => world.store.lose() },
  {
    name: 'store is emptied',
    act: ({ store, operator, scheduler }, random) => {
      store.empty();
      scheduler.after(scheduler.actor, spell(random, 10, 20_000), () => operator.restore());
    },
  },
  {
    name: 'replica stands still',
    act: (world, random) => world.pause(below(random, world.seats.length), spell(random, 5, 10_000)),
  },
  { name: 'replica is killed', act: (world, random) => world.kill(below(random, world.seats.length)) },
  { name: 'replica is stopped', act: (world, random) => world.stop(below(random, world.seats.length)) },
  troubled('workers die, for a time', 'dies', 0.3, 5000),
  troubled('workers may hang, for a time', 'hangs', 0.05, 3000),
  troubled('workers are slow, for a time', 'isSlow', 1, 10_000),
  { name: 'model is switched', act: (world) => world.switchModel() },
  { name: 'key is changed', act: changeKey },
  {
    // What is written last is lost, and other changes are made while the replicas find the way to the new primary.
    name: 'store fails over while keys are changed',
    act: (world, random) => {
      const { scheduler } = world;
      const { actor } = scheduler;
      world.store.save();
      const changes = 1 + Math.floor(2 * random());
      for (let change = 0; change < changes; change++) changeKey(world, random);
      scheduler.after(actor, spell(random, 20, 1500), () => {
        for (const at of world.seats.keys()) {
          world.setLine(at, 'cut');
          scheduler.after(actor, spell(random, 20, 4000), () => world.setLine(at, 'sound'));
        }
        world.store.lose();
        for (let change = 0; change < changes; change++) changeKey(world, random);
      });
    },
  },
];

/** A process that was killed, or left because a worker seemed to hang: what it was answering is lost with it. */
export const LOST = 'process is lost';
/** Between two faults, from a storm to a quiet hour. */
const EVERY_MS: readonly number[] = [2000, 10_000, 60_000, 300_000];
const SAVE_MS = 5000;
const LONGEST_PHASE_MS = 120_000;
/** Requests a second, on average over quiet and busy times. */
const CALLS_PER_S: readonly number[] = [0.05, 0.3, 2];

/** Which faults a run has is drawn with its seed: as a rule some kinds of them, now and then none. */
export class Faults {
  readonly odds: { readonly hangUps: number; readonly slow: number; readonly poison: number };
  private readonly kinds: readonly Kind[];
  private readonly everyMs: number;
  private readonly callsPerS: number;
  private isOver = false;
  /** When requests were sent last. */
  private calledMs = 0;
  /** No process of the fleet: what is in store for them goes on when they end. */
  private readonly actor: Actor;

  constructor(
    private readonly world: Stage,
    readonly replicas: number,
  ) {
    const { random, actor } = world.scheduler;
    this.actor = actor;
    const share = random();
    this.kinds = KINDS.filter(() => random() < share);
    this.everyMs = pick(random, EVERY_MS);
    this.callsPerS = pick(random, CALLS_PER_S);
    const maybe = (most: number): number => (random() < 0.5 ? 0 : most * random());
    this.odds = { hangUps: maybe(0.3), slow: maybe(0.3), poison: maybe(0.02) };
  }

  /** The store has lost something. */
  get hasLosses(): boolean {
    return this.has('store goes back') || this.has('store is emptied') || this.has('store fails over');
  }

  /** Processes have ended without notice. */
  get hasKills(): boolean {
    return this.has(LOST);
  }

  begin(endMs: number): void {
    this.next();
    this.save();
    this.phase(endMs);
  }

  /** A simulation in which nothing happens any more proves nothing. */
  end(): void {
    this.isOver = true;
    if (this.world.scheduler.nowMs - this.calledMs > LONGEST_PHASE_MS)
      throw new Error('the callers have stopped');
    Object.assign(this.world.troubles, { dies: 0, hangs: 0, isSlow: 0 });
  }

  private has(start: string): boolean {
    return [...this.world.figures.keys()].some((name) => name.startsWith(start));
  }

  private after(ms: number, work: () => void): void {
    this.world.scheduler.after(this.actor, ms, () => {
      if (!this.isOver) work();
    });
  }

  private next(): void {
    const { random } = this.world.scheduler;
    this.after(-Math.log(1 - random()) * this.everyMs, () => {
      const kind = this.kinds[Math.floor(random() * this.kinds.length)];
      if (kind !== undefined) {
        this.world.count(kind.name);
        kind.act(this.world, random);
      }
      this.next();
    });
  }

  private save(): void {
    this.after(2 * SAVE_MS * this.world.scheduler.random(), () => {
      this.world.store.save();
      this.save();
    });
  }

  /** A time with as many callers as are drawn for it. */
  private phase(endMs: number): void {
    const { scheduler } = this.world;
    const { random } = scheduler;
    // Half of the times less than half of it, some ten times of it.
    const perS = this.callsPerS * 0.02 * 500 ** random();
    const untilMs = Math.min(endMs, scheduler.nowMs + spell(random, 1000, LONGEST_PHASE_MS));
    const arrive = (): void => {
      this.calledMs = scheduler.nowMs;
      if (scheduler.nowMs >= endMs) return;
      if (scheduler.nowMs >= untilMs) return this.phase(endMs);
      const count = random() < 0.8 ? 1 : 1 + Math.floor(40 * random() ** 2);
      this.world.traffic.send(count, random() < 0.7);
      const waitMs = (-Math.log(1 - random()) * 1000 * count) / perS;
      this.after(Math.min(waitMs, untilMs - scheduler.nowMs), arrive);
    };
    arrive();
  }
}
