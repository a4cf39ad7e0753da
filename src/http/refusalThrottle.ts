import type { Clock } from '../base/clock.js';
import { furtherBlocks } from './prices.js';

/**
 * Holds back refusals of one event loop once there are many. A refused caller that asks again at once costs
 * nearly as much as one that is scored: without this, refusals would take most of the loop's time under
 * overload. Bounded by the connections, since each has one request at a time.
 */
export class RefusalThrottle {
  /** Oldest first: each waits equally long. */
  private held: Held[] = [];
  private timer: NodeJS.Timeout | undefined;
  private secondEndsMs = 0;
  private answeredAtOnce = 0;

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {}

  /** Whether a refusal may be answered now; counts it. `bodyBytes`: length of the body thrown away unread. */
  mayAnswer(bodyBytes: number): boolean {
    const nowMs = this.clock.monotonicMs();
    if (nowMs >= this.secondEndsMs) {
      this.secondEndsMs = nowMs + 1000;
      this.answeredAtOnce = 0;
    }
    const mayAnswer = this.answeredAtOnce < AT_ONCE_PER_S;
    this.answeredAtOnce += 1 + Math.min(furtherBlocks(bodyBytes), BLOCKS_MAX);
    return mayAnswer;
  }

  /** Answers `refusal` later. */
  hold(refusal: HeldRefusal): void {
    this.held.push({ refusal, dueMs: this.clock.monotonicMs() + HOLD_MS });
    this.timer ??= setTimeout(() => this.tick(), TICK_MS);
  }

  /** Answers all held refusals. */
  release(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { held } = this;
    this.held = [];
    for (const { refusal } of held) if (!refusal.isGone) refusal.answer();
  }

  private tick(): void {
    const nowMs = this.clock.monotonicMs();
    const isLater = ({ dueMs }: Held): boolean => dueMs > nowMs;
    const count = this.held.findIndex(isLater);
    const due = count === -1 ? this.held : this.held.slice(0, count);
    this.held = count === -1 ? [] : this.held.slice(count);
    for (const { refusal } of due) if (!refusal.isGone) refusal.answer();
    this.timer = this.held.length === 0 ? undefined : setTimeout(() => this.tick(), TICK_MS);
  }
}

/** A refusal whose answer waits. */
export interface HeldRefusal {
  /** The caller has hung up. */
  readonly isGone: boolean;
  answer(): void;
}

/**
 * This many refusals a second are answered at once; the rest wait. A long body that is thrown away counts for
 * more.
 */
const AT_ONCE_PER_S = 500;
/**
 * How long the rest wait: long enough that callers who retry at once don't take the loop from requests being
 * served.
 */
const HOLD_MS = 200;
const TICK_MS = 20;
/** Declared bytes need not arrive, so no single request may use up a second's refusals. */
const BLOCKS_MAX = 64;

interface Held {
  readonly refusal: HeldRefusal;
  readonly dueMs: number;
}
