import type { Clock } from '../base/clock.js';
import { jittered } from '../base/jitter.js';

/**
 * `Retry-After` of a refusal for lack of room: the time that the requests waiting here, and the callers told
 * to come back who are not due yet, take at the current rate of scoring. So callers who obey come back when
 * there is room, each at a moment of its own.
 */
export class RetryAfter {
  /** How many callers come back in which second, as a ring; and in total. */
  private readonly due = new Int32Array(AHEAD_S);
  private awaited = 0;
  private nowS = 0;
  private scored = 0;
  private windowStartMs: number;
  /** Requests scored in a second; undefined if no second is known. */
  private perS: number | undefined;

  constructor(private readonly options: RetryAfterOptions) {
    this.windowStartMs = options.clock.monotonicMs();
  }

  /** A request was scored. */
  served(): void {
    this.scored++;
  }

  /** Seconds for a refusal while `pending` requests wait here; counts its caller as coming back then. */
  secondsFor(pending: number): number {
    const nowMs = this.options.clock.monotonicMs();
    this.measure(nowMs);
    this.forgetDue(Math.floor(nowMs / 1000));
    const { leastS, random } = this.options;
    const waitS = this.perS === undefined ? 0 : (pending + this.awaited) / Math.max(1, this.perS);
    const seconds = jittered(waitS, { random, leastS });
    const slot = (this.nowS + Math.min(seconds, AHEAD_S - 1)) % AHEAD_S;
    this.due[slot] = (this.due[slot] ?? 0) + 1;
    this.awaited++;
    return seconds;
  }

  private measure(nowMs: number): void {
    const elapsedMs = nowMs - this.windowStartMs;
    if (elapsedMs < WINDOW_MS) return;
    this.perS = elapsedMs > STALE_MS ? undefined : (this.scored * 1000) / elapsedMs;
    this.windowStartMs = nowMs;
    this.scored = 0;
  }

  private forgetDue(nowS: number): void {
    const passed = Math.min(AHEAD_S, nowS - this.nowS);
    for (let ahead = 1; ahead <= passed; ahead++) {
      const slot = (this.nowS + ahead) % AHEAD_S;
      this.awaited -= this.due[slot] ?? 0;
      this.due[slot] = 0;
    }
    this.nowS = nowS;
  }
}

/** A measurement of the scoring rate must span at least this long. */
const WINDOW_MS = 1_000;
/** A window that ended longer ago is no longer used. */
const STALE_MS = 2 * WINDOW_MS;
/** Number of seconds ahead for which returning callers are counted; more than the longest computed wait. */
const AHEAD_S = 32;

export interface RetryAfterOptions {
  /** Minimum of every answer, in seconds. */
  readonly leastS: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Uniform, 0 to 1. */
  readonly random: () => number;
}
