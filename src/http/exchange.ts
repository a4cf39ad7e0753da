import type { HttpResponse } from 'uWebSockets.js';
import type { Admission, Limited } from '../auth/gate.js';
import type { KeyKind } from '../auth/store.js';
import type { LimitCause, OverloadCause, PlainCause, RefusalCause } from '../contract/metrics.js';
import type { BodyProblem } from '../contract/problems.js';
import { respond, rounded, type Thresholds } from '../pipeline/respond.js';
import type { Timing, Waiting } from '../scoring/scorer.js';
import { BLOCK_BYTES } from './body.js';
import type { HeldRefusal, HeldRefusals } from './heldRefusals.js';
import {
  OK,
  bodyProblemAnswer,
  headerLine,
  problemAnswer,
  writeAnswer,
  writeAnswerHeldOpen,
} from './reply.js';

/** What an exchange needs of its event loop. */
export interface ExchangeContext {
  readonly retryAfterS: number;
  /** Connections are ended behind their answers: the listener is about to close. */
  readonly isDraining: boolean;
  readonly heldRefusals: HeldRefusals;
  /** Called once for each exchange that ends, answered or hung up (status 0). */
  ended(exchange: Exchange, status: number): void;
}

/** The model that an exchange was admitted to. */
export interface AnsweringModel {
  readonly version: string;
  readonly thresholds: Thresholds;
}

const NO_HEADERS = '';
const LIMIT_CAUSES: Readonly<Record<Limited['limit'], LimitCause>> = {
  burst: 'rateBurst',
  daily: 'rateDaily',
};

/** Why no more may be admitted now, as long as that may pass: such refusals may be held back. */
const PASSING: ReadonlySet<OverloadCause> = new Set(['queueFull', 'bodiesFull', 'bodiesOfKey', 'loopLag']);

interface Refusal {
  readonly status: string;
  readonly headers: string;
  readonly body: string;
}

/** One request and its one answer. */
export class Exchange implements Waiting, HeldRefusal {
  isGone = false;
  /** Set once the key was accepted; refunded by the context where the answer is no 200. */
  admission: Admission | undefined;
  model: AnsweringModel | undefined;
  timing: Timing | undefined;
  bodyBytes = 0;
  /** When the last byte of the body had come. */
  receivedMs = 0;
  /** Of the key whose limit was reached, where no key was admitted. */
  limitedKind: KeyKind | undefined;
  /** Why the request was refused; undefined where it was not. */
  cause: RefusalCause | undefined;
  /** A refusal that is held back. */
  private held: Refusal | undefined;

  constructor(
    private readonly res: HttpResponse,
    private readonly context: ExchangeContext,
    readonly requestId: string,
    readonly startedMs: number,
    private readonly isHead: boolean,
    /** The caller's trace context (W3C), for the log; '' where none was sent. */
    readonly traceparent: string,
  ) {}

  /** The caller hung up. */
  abort(): void {
    if (this.isGone) return;
    this.isGone = true;
    this.context.ended(this, 0);
  }

  /** At the head of the request: what follows of it is not looked at. */
  refuseHead(cause: PlainCause, bodyBytes: number, headers = NO_HEADERS): void {
    const { status, body } = problemAnswer(cause);
    this.cause = cause;
    this.writeOrHold({ status, headers, body }, bodyBytes);
  }

  limited({ kind, limit, retryAfterS, policy, state }: Limited, bodyBytes: number): void {
    const { status, body } = problemAnswer('rateLimited');
    this.limitedKind = kind;
    this.cause = LIMIT_CAUSES[limit];
    const headers =
      headerLine('Retry-After', String(retryAfterS)) +
      headerLine('RateLimit-Policy', policy) +
      headerLine('RateLimit', state);
    this.writeOrHold({ status, headers, body }, bodyBytes);
  }

  /** `bodyBytes`: of a body that was not read. */
  overloaded(cause: OverloadCause, bodyBytes = 0): void {
    const { status, body } = problemAnswer('overloaded');
    const headers = headerLine('Retry-After', String(this.context.retryAfterS));
    this.cause = cause;
    if (PASSING.has(cause)) this.writeOrHold({ status, headers, body }, bodyBytes);
    else this.write(status, headers, body);
  }

  refuseBody(problem: BodyProblem): void {
    const { status, body } = bodyProblemAnswer(problem);
    this.cause = problem.kind;
    this.write(status, NO_HEADERS, body);
  }

  /** Something that nobody expected went wrong. */
  failedUnexpectedly(): void {
    const { status, body } = problemAnswer('internal');
    this.cause = 'internal';
    this.write(status, NO_HEADERS, body);
  }

  /** Writes the refusal that was held back. */
  answer(): void {
    if (this.held !== undefined) this.write(this.held.status, this.held.headers, this.held.body);
  }

  private writeOrHold(refusal: Refusal, bodyBytes: number): void {
    if (this.isGone) return;
    const { heldRefusals } = this.context;
    if (this.context.isDraining || heldRefusals.mayAnswer(bodyBytes))
      return this.write(refusal.status, refusal.headers, refusal.body);
    this.held = refusal;
    this.res.onAborted(() => this.abort());
    heldRefusals.hold(this);
  }

  /**
   * 413 for a body whose end is not in sight: the answer goes out at once, what still arrives is discarded,
   * and the connection is closed behind `discardBytesMax` of it.
   */
  refuseWhileReceiving(cause: PlainCause, discardBytesMax: number, onBlock: (blocks: number) => void): void {
    if (this.isGone) return;
    const { status, body } = problemAnswer(cause);
    this.cause = cause;
    const { res, requestId } = this;
    let discarded = 0;
    let blocks = 0;
    let isOver = false;
    res.onAborted(() => {
      isOver = true;
    });
    res.onData((chunk, isLast) => {
      if (isOver) return;
      discarded += chunk.byteLength;
      const begun = Math.ceil(discarded / BLOCK_BYTES);
      if (begun > blocks) onBlock(begun - blocks);
      blocks = begun;
      isOver = isLast || discarded > discardBytesMax;
      // Told to close here, uWebSockets.js would write that header into the body. The caller closes, as told.
      if (isLast) res.cork(() => res.end());
      else if (isOver) res.close();
    });
    this.isGone = true;
    writeAnswerHeldOpen(res, { status, requestId, headers: NO_HEADERS, body, isHead: false, close: true });
    this.context.ended(this, statusCode(status));
  }

  scored(scores: Float32Array, offset: number, timing: Timing): void {
    const { model } = this;
    if (model === undefined) throw new Error('scored before a model was chosen');
    this.timing = timing;
    const { queueMs, inferMs } = timing;
    const headers =
      headerLine('Server-Timing', `queue;dur=${rounded(queueMs)}, infer;dur=${rounded(inferMs)}`) +
      headerLine('X-Model-Version', model.version);
    this.write(OK, headers, respond(scores, offset, inferMs, model.thresholds));
  }

  failed(cause: 'expired' | 'fault'): void {
    if (cause === 'expired') this.overloaded('deadline');
    else this.failedUnexpectedly();
  }

  private write(status: string, headers: string, body: string): void {
    if (this.isGone) return;
    this.isGone = true;
    const { requestId, isHead } = this;
    writeAnswer(this.res, { status, requestId, headers, body, isHead, close: this.context.isDraining });
    this.context.ended(this, statusCode(status));
  }
}

function statusCode(status: string): number {
  return Number(status.slice(0, 3));
}
