import { KeyStoreError } from '#acuity/auth/record.js';
import type { Commands, StoreTransport } from '#acuity/auth/redis/redisNames.js';
import type { Actor, Scheduler } from './scheduler.js';

/**
 * `sound`: what is said arrives soon, and is answered soon. `slow`: in its time. `torn`: much is lost, or comes so late
 * that it was given up and said again. `deaf`: it arrives, and no answer comes. `cut`: nothing is carried.
 */
export type LineState = 'sound' | 'slow' | 'torn' | 'deaf' | 'cut';

export interface LineOptions {
  readonly scheduler: Scheduler;
  /** The process whose line it is, and the store's. */
  readonly actor: Actor;
  readonly store: Actor;
  /** A new connection to the store: what it does with each command; throws where it refuses. */
  connect(): (words: readonly string[]) => unknown;
  /** An answer has come. */
  onAnswered?(): void;
  onFault(fault: string): void;
}

/** As `RedisAddress` has it. */
const TIMEOUT_MS = 800;
const SOUND_MS = 8;
const SLOW_MS = 900;
/** So late that it was given up, and is executed all the same: it lay in a buffer. */
const LATE_MS = 3 * TIMEOUT_MS;
const LOSS = 0.1;
const LATE = 0.05;

/** The way of one process to the store, which loses and delays what the simulation says. */
export class Line implements StoreTransport {
  state: LineState = 'sound';
  connections = 0;
  readonly refusal = undefined;
  readonly readAll = (commands: Commands): Promise<readonly unknown[]> => this.sendAll(commands);
  /** Calls under way that began while the line was not sound: until they end, nothing newer is asked. */
  doubtful = 0;
  private execute: ((words: readonly string[]) => unknown) | undefined;
  private isClosed = false;
  /** What is said on one connection arrives in its order. */
  private arrivesMs = 0;
  private readonly underWay = new Set<(error: Error) => void>();

  constructor(private readonly options: LineOptions) {}

  sendAll(commands: Commands, connection?: number): Promise<readonly unknown[]> {
    if (this.execute === undefined) {
      this.execute = this.options.connect();
      this.connections++;
    }
    if (connection !== undefined && connection !== this.connections)
      return Promise.reject(new KeyStoreError('the connection to the key store was lost meanwhile'));
    const { execute } = this;
    return this.say(commands.map((words) => () => execute(words)));
  }

  /** A closed line carries nothing any more, pushes neither. */
  close(): void {
    this.isClosed = true;
    for (const reject of this.underWay) reject(new KeyStoreError('the key store was closed'));
  }

  /** Milliseconds until something that is pushed over it arrives; undefined: it is lost. */
  pushed(): number | undefined {
    if (this.isClosed || this.state === 'cut' || this.state === 'deaf') return undefined;
    return this.state === 'torn' && this.draws(LOSS) ? undefined : this.wayMs();
  }

  private async say(commands: readonly (() => unknown)[]): Promise<readonly unknown[]> {
    if (this.isClosed) throw new KeyStoreError('the key store was closed');
    const isDoubtful = this.state !== 'sound';
    if (isDoubtful) this.doubtful++;
    let timer: NodeJS.Timeout | undefined;
    let abandon: ((error: Error) => void) | undefined;
    try {
      const answers = await new Promise<readonly unknown[]>((resolve, reject) => {
        abandon = reject;
        this.underWay.add(reject);
        const isOver = (): boolean => !this.underWay.has(reject);
        if (this.state === 'cut') {
          this.execute = undefined;
          setTimeout(() => reject(new KeyStoreError("can't reach the key store")), 1);
        } else this.carry(commands, isOver, resolve, reject);
        timer = setTimeout(() => {
          this.arrivesMs = 0; // another connection is made
          this.execute = undefined;
          reject(new KeyStoreError('the key store does not answer'));
        }, TIMEOUT_MS);
      });
      this.options.onAnswered?.();
      return answers;
    } finally {
      clearTimeout(timer);
      if (abandon !== undefined) this.underWay.delete(abandon);
      if (isDoubtful) this.doubtful--;
    }
  }

  private carry(
    commands: readonly (() => unknown)[],
    isOver: () => boolean,
    resolve: (answers: readonly unknown[]) => void,
    reject: (error: Error) => void,
  ): void {
    const { scheduler, actor, store, onFault } = this.options;
    const isTorn = this.state === 'torn';
    if (isTorn && this.draws(LOSS)) return onFault('message lost');
    const arrive = (): void => {
      if (isOver()) onFault('message executed after it was given up');
      let answered: () => void;
      try {
        const answers = commands.map((command) => command());
        answered = () => resolve(answers);
      } catch (error) {
        answered = () => reject(error as Error);
      }
      if (this.state === 'deaf' || this.state === 'cut' || (isTorn && this.draws(LOSS)))
        return onFault('answer lost');
      scheduler.after(actor, this.wayMs(), answered);
    };
    const lateMs = isTorn && this.draws(LATE) ? LATE_MS * scheduler.random() : 0;
    this.arrivesMs = Math.max(this.arrivesMs, scheduler.nowMs + this.wayMs() + lateMs);
    scheduler.after(store, this.arrivesMs - scheduler.nowMs, arrive);
  }

  private wayMs(): number {
    const { scheduler, onFault } = this.options;
    if (this.state === 'sound' || this.state === 'deaf') return 0.05 + SOUND_MS * scheduler.random() ** 3;
    if (this.state === 'torn' && this.draws(0.7)) return 0.05 + SOUND_MS * scheduler.random();
    onFault('message late');
    return SLOW_MS * scheduler.random();
  }

  private draws(chance: number): boolean {
    return this.options.scheduler.random() < chance;
  }
}
