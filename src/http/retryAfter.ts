import type { Clock } from '../base/clock.js';
import { jittered } from '../base/jitter.js';

/** What a second of this event loop has to have lasted to say something of the next one. */
const WINDOW_MS = 1_000;
/** A window that ended longer ago says nothing any more. */
const STALE_MS = 2 * WINDOW_MS;

export interface RetryAfterOptions {
  /** Seconds that no answer stays below. */
  readonly leastS: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Uniform, 0 to 1. */
  readonly random: () => number;
}

/**
 * `Retry-After` of a refusal for want of room: how long what waits here, and those that were refused within the last
 * second, take at the rate at which requests are scored now. Callers who are told so come back as there is room for
 * them, each at a moment of its own.
 */
export class RetryAfter {
  private scored = 0;
  private refused = 0;
  private windowStartMs: number;
  /** Refused requests over scored ones, and scored ones a second, in the last window that was full. */
  private last: { readonly refused: number; readonly perS: number } | undefined;

  constructor(private readonly options: RetryAfterOptions) {
    this.windowStartMs = options.clock.monotonicMs();
  }

  /** A request was scored. */
  served(): void {
    this.scored++;
  }

  /** Seconds for a refusal while `pending` requests wait here; it counts. */
  secondsFor(pending: number): number {
    this.turn(this.options.clock.monotonicMs());
    this.refused++;
    const { leastS, random } = this.options;
    return jittered(this.waitS(pending), { random, leastS });
  }

  private waitS(pending: number): number {
    if (this.last === undefined) return 0;
    const { refused, perS } = this.last;
    return (pending + refused) / Math.max(1, perS);
  }

  private turn(nowMs: number): void {
    const elapsedMs = nowMs - this.windowStartMs;
    if (elapsedMs < WINDOW_MS) return;
    const perWindow = WINDOW_MS / elapsedMs;
    const perS = (this.scored * 1000) / elapsedMs;
    this.last = elapsedMs > STALE_MS ? undefined : { refused: this.refused * perWindow, perS };
    this.windowStartMs = nowMs;
    this.scored = this.refused = 0;
  }
}
