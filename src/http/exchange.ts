import type { HttpResponse } from 'uWebSockets.js';
import type { Admission, Limited } from '../auth/rateLimiter.js';
import type { LimitCause, OverloadCause, PlainCause, RefusalCause } from '../contract/metrics.js';
import type { BodyProblem } from '../contract/problems.js';
import { explanationOf, type ExplainedRow } from '../pipeline/explanation.js';
import type { Quality } from '../pipeline/quality.js';
import { respond, rounded, withExplanation } from '../pipeline/respond.js';
import type { ScoreHandler, ScoringModel, Timing } from '../scoring/scorer.js';
import { BLOCK_BYTES } from './body.js';
import type { HeldRefusal, HeldRefusals } from './heldRefusals.js';
import {
  OK,
  bodyProblemAnswer,
  headerLine,
  problemAnswer,
  writeAnswer,
  writeAnswerHeldOpen,
  type ConnectionEnd,
} from './reply.js';

/** What is known of an exchange: more with each step that it got to. */
export interface ExchangeRecord {
  readonly requestId: string;
  /** The caller's trace context (W3C); '' where none was sent. */
  readonly traceparent: string;
  /** When the head of the request had come, as the last byte of its body; the same where no body was read. */
  readonly startedMs: number;
  readonly receivedMs: number;
  /** Of a body that was read to its end; else 0. */
  readonly bodyBytes: number;
  /** Whose key it was; undefined where no key was accepted. */
  readonly caller: Admission | Limited | undefined;
}

/** Is told once how each exchange ended. */
export interface ExchangeObserver {
  scored(record: ExchangeRecord, timing: Timing): void;
  refused(record: ExchangeRecord, cause: RefusalCause, status: number): void;
  /** The caller hung up before an answer. */
  hungUp(record: ExchangeRecord): void;
}

/** What an exchange needs of its event loop. */
export interface ExchangeContext {
  readonly observer: ExchangeObserver;
  readonly heldRefusals: HeldRefusals;
  readonly retryAfterS: number;
  /** Connections are ended behind their answers: the listener is about to close. */
  readonly isDraining: boolean;
}

/** What the head of a request says, beyond the body and the key. */
export interface ExchangeHead {
  readonly requestId: string;
  readonly traceparent: string;
  readonly startedMs: number;
  /** The answer has no body. */
  readonly isHead: boolean;
  /** What the caller asked for. */
  readonly connection: ConnectionEnd;
}

const NO_HEADERS = '';
const LIMIT_CAUSES: Readonly<Record<Limited['limit'], LimitCause>> = {
  burst: 'rateBurst',
  daily: 'rateDaily',
};

/** Why no more may be admitted now, as long as that may pass: such refusals may be held back. */
const PASSING: ReadonlySet<OverloadCause> = new Set([
  'queueFull',
  'explainedOfKey',
  'bodiesFull',
  'bodiesOfKey',
  'loopLag',
]);

interface Refusal {
  readonly cause: RefusalCause;
  readonly status: string;
  readonly headers: string;
  readonly body: string;
}

/**
 * One request and its one answer:
 *
 *   opened ─► authenticated ─► received ─► scored
 *      └───────────┴──────────────┴─────► refused, or hung up
 */
export class Exchange implements ScoreHandler, HeldRefusal, ExchangeRecord {
  isGone = false;
  receivedMs: number;
  bodyBytes = 0;
  caller: Admission | Limited | undefined;
  /** What an explanation begins with, where one is asked for. */
  private quality: Quality | undefined;
  /** A refusal that waits. */
  private held: Refusal | undefined;

  constructor(
    private readonly res: HttpResponse,
    private readonly context: ExchangeContext,
    private readonly head: ExchangeHead,
  ) {
    this.receivedMs = head.startedMs;
  }

  get requestId(): string {
    return this.head.requestId;
  }

  get traceparent(): string {
    return this.head.traceparent;
  }

  get startedMs(): number {
    return this.head.startedMs;
  }

  get holder(): number | undefined {
    return this.caller?.key.keyIndex;
  }

  authenticated(admission: Admission): void {
    this.caller = admission;
  }

  /** The last byte of the body has come. */
  received(bytes: number, nowMs: number): void {
    this.bodyBytes = bytes;
    this.receivedMs = nowMs;
  }

  /** An explanation is asked for, of data of such `quality`. */
  explains(quality: Quality): void {
    this.quality = quality;
  }

  /** The caller hung up. */
  abort(): void {
    if (this.isGone) return;
    this.isGone = true;
    this.context.observer.hungUp(this);
  }

  scored(
    scores: Float32Array,
    offset: number,
    timing: Timing,
    model: ScoringModel,
    explanation?: Float32Array,
  ): void {
    const { queueMs, inferMs } = timing;
    const headers =
      headerLine('Server-Timing', `queue;dur=${rounded(queueMs)}, infer;dur=${rounded(inferMs)}`) +
      headerLine('X-Model-Version', model.version);
    const plain = respond(scores, offset, inferMs, model.thresholds);
    const body =
      explanation === undefined
        ? plain
        : this.explained(plain, { scores, offset, floats: explanation }, model);
    if (this.write(OK, headers, body)) this.context.observer.scored(this, timing);
  }

  private explained(plain: string, row: ExplainedRow, { explains }: ScoringModel): string {
    if (this.quality === undefined || explains === undefined) return plain;
    return withExplanation(plain, explanationOf(row, this.quality, explains));
  }

  failed(cause: 'expired' | 'fault'): void {
    if (cause === 'expired') this.overloaded('deadline');
    else this.failedUnexpectedly();
  }

  /** At the head of the request: `bodyBytes` that follow are not looked at. */
  refuseHead(cause: PlainCause, bodyBytes: number, headers = NO_HEADERS): void {
    this.refuseOrHold({ cause, headers, ...problemAnswer(cause) }, bodyBytes);
  }

  limited(verdict: Limited, bodyBytes: number): void {
    const { limit, retryAfterS, policy, state } = verdict;
    this.caller = verdict;
    const headers =
      headerLine('Retry-After', String(retryAfterS)) +
      headerLine('RateLimit-Policy', policy) +
      headerLine('RateLimit', state);
    this.refuseOrHold({ cause: LIMIT_CAUSES[limit], headers, ...problemAnswer('rateLimited') }, bodyBytes);
  }

  /** `bodyBytes`: of a body that is not looked at. */
  overloaded(cause: OverloadCause, bodyBytes = 0): void {
    const headers = headerLine('Retry-After', String(this.context.retryAfterS));
    const refusal = { cause, headers, ...problemAnswer('overloaded') };
    if (PASSING.has(cause)) this.refuseOrHold(refusal, bodyBytes);
    else this.refuse(refusal);
  }

  /**
   * 400 for a body whose end others may see in another place: the connection ends, so that nothing behind it is
   * taken for a request. It is answered in another turn of the loop, because an answer in this one would let the
   * library go on to what came in the same packet; while the answer is owed, it closes the connection at that.
   */
  refuseFraming(cause: PlainCause): void {
    this.res.onAborted(() => this.abort());
    if (this.head.isHead) return void this.res.close(); // the library can't end a connection behind such an answer
    setImmediate(() => this.refuse({ cause, headers: NO_HEADERS, ...problemAnswer(cause) }, true));
  }

  refuseBody(problem: BodyProblem): void {
    this.refuse({ cause: problem.kind, headers: NO_HEADERS, ...bodyProblemAnswer(problem) });
  }

  /** Something went wrong that no refusal is meant for. */
  failedUnexpectedly(): void {
    this.refuse({ cause: 'internal', headers: NO_HEADERS, ...problemAnswer('internal') });
  }

  /**
   * 413 for a body whose end is not in sight: the answer goes out at once, what still arrives is discarded,
   * and the connection is closed behind `discardBytesMax` of it. `onBlock` is told as blocks of it begin.
   */
  refuseWhileReceiving(cause: PlainCause, discardBytesMax: number, onBlock: (blocks: number) => void): void {
    if (this.isGone) return;
    const { status, body } = problemAnswer(cause);
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
    const headers = NO_HEADERS;
    writeAnswerHeldOpen(res, { status, requestId, headers, body, isHead: false, connection: 'ends' });
    this.context.observer.refused(this, cause, statusCode(status));
  }

  /** Writes the refusal that was held back. */
  answer(): void {
    if (this.held !== undefined) this.refuse(this.held);
  }

  private refuseOrHold(refusal: Refusal, bodyBytes: number): void {
    if (this.isGone) return;
    const { heldRefusals, isDraining } = this.context;
    if (isDraining || heldRefusals.mayAnswer(bodyBytes)) return this.refuse(refusal);
    this.held = refusal;
    this.res.onAborted(() => this.abort());
    heldRefusals.hold(this);
  }

  private refuse({ cause, status, headers, body }: Refusal, mustClose = false): void {
    if (this.write(status, headers, body, mustClose))
      this.context.observer.refused(this, cause, statusCode(status));
  }

  /** False where there is nobody to write to any more. */
  private write(status: string, headers: string, body: string, mustClose = false): boolean {
    if (this.isGone) return false;
    this.isGone = true;
    const { requestId, isHead, connection: asked } = this.head;
    const connection = asked === 'stays' && (mustClose || this.context.isDraining) ? 'ends' : asked;
    writeAnswer(this.res, { status, requestId, headers, body, isHead, connection });
    return true;
  }
}

function statusCode(status: string): number {
  return Number(status.slice(0, 3));
}
