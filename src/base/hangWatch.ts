/** Tells threads that hang from threads that starve. */
import { isAsleep, threadTimes, type ThreadTimes } from './threadTimes.js';

/** A thread that has to get things done while it is busy. */
export interface Watched {
  readonly name: string;
  /** Its folder below `/proc`; undefined where the system does not tell its times, and while it starts. */
  readonly folder: string | undefined;
  readonly isBusy: boolean;
  readonly isStarting?: boolean;
  /** Changes with everything that it gets done. */
  readonly progress: number;
}

/** The facts about a thread that hangs. */
export interface Hang {
  /** Its name and its folder below `/proc`. */
  readonly thread: string;
  /** See `ThreadTimes`; this and the following are absent where the system does not tell them. */
  readonly state?: string;
  /** How long it has got nothing done, and what it did of that time after the first fifth of the limit. */
  readonly silentMs: number;
  readonly ranMs?: number;
  readonly waitedMs?: number;
  readonly sleptMs?: number;
}

/** A kind of threads to watch. */
export interface HangKind {
  /** They have the lowest priority: they may starve for as long as others are busy. */
  readonly isLowest?: boolean;
  /** They wait for threads of their own, whose times are not known. */
  readonly hasOwnThreads?: boolean;
  /** Tests replace it. */
  readonly readTimes?: (folder: string) => ThreadTimes | undefined;
}

export interface HangWatchOptions extends HangKind {
  /** How long a thread may get nothing done, without its waits for a processor. */
  readonly hangMs: number;
  /** Between two looks. */
  readonly periodMs: number;
  readonly nowMs: number;
}

/**
 * At most this many periods count between two looks: if more has passed, the process was paused, and its threads with
 * it.
 */
const PERIODS_COUNTED = 2;
/** A thread may take this much longer while it starts. */
const START_MS = 25_000;
/** The times of a thread are read once it has been silent for this share of the limit: reading them costs. */
const SHARE_UNREAD = 1 / 5;
/** Where it can't be told whether a thread starves, it counts as hung after this many times the limit. */
const TIMES_IN_DOUBT = 12;

/** A thread that has got nothing done since its last progress. */
interface Silence {
  readonly progress: number;
  readonly folder: string | undefined;
  forMs: number;
  /** The time that was not read counts against the thread. */
  unreadMs: number;
  ranMs: number;
  sleptMs: number;
  last: ThreadTimes | undefined;
}

/** Tells threads that hang from threads that starve: what a thread waits for a processor is taken off. */
export class HangWatch {
  private readonly silences = new WeakMap<Watched, Silence>();
  private readonly readTimes: NonNullable<HangKind['readTimes']>;
  private lookedMs: number;

  constructor(private readonly options: HangWatchOptions) {
    this.lookedMs = options.nowMs;
    this.readTimes = options.readTimes ?? threadTimes;
  }

  /** Call it every `periodMs`. @returns the first of `threads` that hangs */
  look(nowMs: number, threads: Iterable<Watched>): Hang | undefined {
    const stepMs = Math.min(nowMs - this.lookedMs, PERIODS_COUNTED * this.options.periodMs);
    this.lookedMs = nowMs;
    let hang: Hang | undefined;
    for (const thread of threads) {
      const silence = this.silenceOf(thread);
      if (silence === undefined) continue;
      this.listen(thread, silence, stepMs);
      if (this.isHung(thread, silence)) hang ??= hangOf(thread, silence);
    }
    return hang;
  }

  /** Whether `thread` hung at the last look, and has got nothing done since. */
  hangs(thread: Watched): boolean {
    const silence = this.silences.get(thread);
    return silence?.progress === thread.progress && this.isHung(thread, silence);
  }

  /** Whether `thread` has been asleep for half of the limit: one that waits for no other thread has nothing to wake it. */
  sleeps(thread: Watched): boolean {
    const { hangMs, hasOwnThreads = false } = this.options;
    const silence = this.silences.get(thread);
    return !hasOwnThreads && silence?.progress === thread.progress && silence.sleptMs > hangMs / 2;
  }

  /** Undefined if the thread has got something done since the last look, its start too, or has nothing to do. */
  private silenceOf(thread: Watched): Silence | undefined {
    const { isBusy, progress, folder } = thread;
    const known = this.silences.get(thread);
    if (isBusy && known?.progress === progress && known.folder === folder) return known;
    if (isBusy) this.silences.set(thread, { ...SILENCE, progress, folder });
    else this.silences.delete(thread);
    return undefined;
  }

  private listen({ folder }: Watched, silence: Silence, stepMs: number): void {
    silence.forMs += stepMs;
    if (folder === undefined || silence.forMs < this.options.hangMs * SHARE_UNREAD) {
      silence.unreadMs += stepMs;
      return;
    }
    const times = this.readTimes(folder);
    if (times === undefined) return; // no file descriptor is free: this step counts for no one
    const { last } = silence;
    silence.last = times;
    if (last === undefined) {
      silence.unreadMs += stepMs;
      return;
    }
    const ranMs = times.ranMs - last.ranMs;
    silence.ranMs += ranMs;
    // A thread that is ready is not asleep: what it did not run, it waited, even if that is not counted yet.
    if (!isAsleep(times)) return;
    silence.sleptMs += Math.max(0, stepMs - ranMs - (times.waitedMs - last.waitedMs));
  }

  private isHung({ folder, isStarting }: Watched, silence: Silence): boolean {
    const { hangMs, isLowest = false, hasOwnThreads = false } = this.options;
    const { forMs, unreadMs, ranMs, sleptMs } = silence;
    const limitMs = hangMs + (isStarting === true ? START_MS : 0);
    const inDoubtMs = limitMs * TIMES_IN_DOUBT;
    const awakeMs = unreadMs + ranMs;
    // A thread that sleeps may wait for threads of its own that starve.
    const ownMs = hasOwnThreads ? awakeMs : awakeMs + sleptMs;
    if (ownMs > (isLowest && folder === undefined ? inDoubtMs : limitMs)) return true;
    return (isLowest ? awakeMs + sleptMs : forMs) > inDoubtMs;
  }
}

const SILENCE = { forMs: 0, unreadMs: 0, ranMs: 0, sleptMs: 0, last: undefined } as const;

function hangOf({ name, folder }: Watched, silence: Silence): Hang {
  const { forMs, unreadMs, ranMs, sleptMs, last } = silence;
  const silentMs = Math.round(forMs);
  if (folder === undefined || last === undefined) return { thread: name, silentMs };
  const waitedMs = Math.max(0, forMs - unreadMs - ranMs - sleptMs);
  return {
    thread: `${name}, /proc/${folder}`,
    state: last.state,
    silentMs,
    ranMs: Math.round(ranMs),
    waitedMs: Math.round(waitedMs),
    sleptMs: Math.round(sleptMs),
  };
}
