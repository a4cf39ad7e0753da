import type { Authenticator } from '../auth/authenticator.js';
import type { Admission, RateLimiter } from '../auth/limits/rateLimiter.js';
import type { Clock } from '../base/clock.js';
import type { OverloadCause } from '../contract/metrics.js';
import type { BodyProblem } from '../contract/problems.js';
import type { Readers } from '../read/read.js';
import type { RecordingQueue } from './recordings/recordingQueue.js';
import type { Scorer } from '../score/scorer.js';
import type { BodyScoring } from './answerBody.js';
import type { BodyBudget } from './bodyBudget.js';
import type { LoopLag } from './loopMetrics.js';
import { RefusalThrottle } from './refusalThrottle.js';
import type { RequestMetrics } from './requestMetrics.js';
import type { RequestObserver } from './requestObserver.js';
import { RetryAfter } from './retryAfter.js';
import { Turns } from './turns.js';

/** The door of an event loop, as its exchanges, lists and recordings see it: what it takes, and what it costs. */
export abstract class Door {
  /** Connections end after their answers, because the listener is about to close. */
  isDraining = false;
  /** A worker hangs: nothing is scored any more. */
  isHung = false;
  readonly refusalThrottle: RefusalThrottle;
  readonly turns = new Turns();
  private readonly retryAfter: RetryAfter;

  constructor(
    readonly options: PredictOptions,
    /** The scorer of the model in force, replaced as a whole when another is loaded. */
    public scorer: Scorer,
  ) {
    const { clock, retryAfterS: leastS, random } = options;
    this.refusalThrottle = new RefusalThrottle(clock);
    this.retryAfter = new RetryAfter({ leastS, clock, random });
  }

  /** Takes a body in which the session stands in place of its recording. `payer`: undefined if no caller pays. */
  abstract takeRead(scoring: BodyScoring, body: Uint8Array, payer: Admission | undefined): void;

  /** Why no request can be taken now; undefined if one can. Memory is none of it: most bodies need none of the budget. */
  overload(): OverloadCause | undefined {
    const { lag, lagMaxMs } = this.options;
    if (this.isHung) return 'hung';
    if (this.isDraining) return 'draining';
    if (lag.ms > lagMaxMs) return 'loopLag';
    return this.scorer.makeRoom() ? undefined : 'queueFull';
  }

  /**
   * Seconds until a request refused for lack of room may be tried again; this refusal counts. Requests refused because
   * this replica leaves may go to another one at once.
   */
  retryAfterS(): number {
    return this.retryAfter.secondsFor(this.isDraining || this.isHung ? 0 : this.scorer.pending);
  }

  /** A request, or a line of a list, was scored. */
  served(): void {
    this.retryAfter.served();
  }

  /** Takes further tokens from a caller, for what it sends. */
  spend(admission: Admission, tokens: number): void {
    const { rateLimiter, clock } = this.options;
    rateLimiter.spend(admission, tokens, clock.nowMs());
  }

  refuseBody(scoring: BodyScoring, problem: BodyProblem, payer: Admission | undefined): void {
    if (problem.kind === 'unprocessable' && payer !== undefined) this.options.metrics.found(problem.findings);
    scoring.refuseBody(problem);
  }

  /** Refuses new requests from now on, and releases at once the refusals that were held back. */
  drain(): void {
    this.isDraining = true;
    this.refusalThrottle.release();
  }
}

/** The parts and settings of an event loop with which it answers requests. */
export interface PredictOptions extends Readers {
  readonly authenticator: Pick<Authenticator, 'identify'>;
  readonly rateLimiter: Pick<RateLimiter, 'admit' | 'admitMore' | 'leftOfDay' | 'refund' | 'spend'>;
  readonly requestId: (given: string) => string;
  readonly observer: RequestObserver;
  readonly metrics: RequestMetrics;
  readonly clock: Clock;
  readonly budget: BodyBudget;
  readonly recordings: Pick<RecordingQueue, 'room' | 'add'>;
  readonly lag: Pick<LoopLag, 'ms'>;
  /** If the event loop is later than this, requests are refused at their headers. */
  readonly lagMaxMs: number;
  readonly bodyBytesMax: number;
  /** Longest wait of a line of a list for its scores, and of a recording until it is read. */
  readonly deadlineMs: number;
  /** Minimum `Retry-After` of an overload, in seconds. */
  readonly retryAfterS: number;
  /** Status of an overload. */
  readonly overloadStatus: number;
  /** Uniform, 0 to 1. */
  readonly random: () => number;
  /** Reports an unexpected error; the caller gets 500. */
  onFault(error: unknown, requestId: string): void;
}
