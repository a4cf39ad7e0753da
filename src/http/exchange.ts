import type { HttpResponse } from 'uWebSockets.js';
import type { Admission, Limited } from '../auth/rateLimiter.js';
import type { LimitCause, OverloadCause, PlainCause, RefusalCause } from '../contract/metrics.js';
import type { BodyProblem } from '../contract/problems.js';
import { explanationOf, type ExplainedRow } from '../pipeline/explanation.js';
import type { Quality } from '../pipeline/quality.js';
import { adjustedRow } from '../pipeline/measuredRow.js';
import {
  respond,
  rounded,
  withExplanation,
  withHistory,
  withIgnored,
  withUnmeasured,
} from '../pipeline/respond.js';
import type { HistoryToCome } from '../records/request.js';
import type { ScoredRow, ScoreHandler, Timing } from '../scoring/scorer.js';
import { BLOCK_BYTES, type ComeSoFar } from './body.js';
import { DISCARD_BYTES_MAX, discardBody } from './discard.js';
import type { HeldRefusal, RefusalThrottle } from './refusalThrottle.js';
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
  readonly refusalThrottle: RefusalThrottle;
  readonly overloadProblem: 'overloaded' | 'overloadedAs429';
  /** Seconds until another attempt of a request that is refused for want of room; the refusal counts. */
  retryAfterS(): number;
  /** A request was scored. */
  served(): void;
  /** Takes further tokens of a caller, for what it sends. */
  spend(admission: Admission, tokens: number): void;
  /** Connections are ended behind their answers: the listener is about to close. */
  readonly isDraining: boolean;
}

/** What the head of a request says, beyond the body and the key. */
export interface ExchangeHead {
  readonly requestId: string;
  readonly traceparent: string;
  readonly startedMs: number;
  /** So long its caller waits, in milliseconds from then on; Infinity where that is not said. */
  readonly patienceMs: number;
  /** The answer has no body. */
  readonly isHead: boolean;
  /**
   * The body comes in chunks. The library takes what follows the last one, as trailers do, for another request;
   * a proxy that shares its connections would hand the answer to another caller. So the connection ends with the
   * answer, and the answer waits for the last chunk and for the end of the packet that it came in: until then the
   * library closes the connection if anything follows.
   */
  readonly isChunked: boolean;
  /** What the caller asked for. */
  readonly connection: ConnectionEnd;
}

const NO_HEADERS = '';
const LIMIT_CAUSES: Readonly<Record<Limited['limit'], LimitCause>> = {
  burst: 'rateBurst',
  daily: 'rateDaily',
};

/** What will not pass before the caller asks again: such refusals are never held back. */
const TOLD_AT_ONCE: ReadonlySet<RefusalCause> = new Set(['hung', 'draining', 'deadline']);

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
  /** Who pays for what still comes of a body that is refused. */
  private payer: Admission | undefined;
  /** What an explanation begins with, where one is asked for. */
  private quality: Quality | undefined;
  /** What the answer carries on, where a history was sent. */
  private history: HistoryToCome | undefined;
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

  /** When its caller no longer waits. */
  get expiresMs(): number {
    return this.head.startedMs + this.head.patienceMs;
  }

  authenticated(admission: Admission): void {
    this.caller = admission;
    this.payer = admission;
  }

  /** The last byte of the body has come. */
  received(bytes: number, nowMs: number): void {
    this.bodyBytes = bytes;
    this.receivedMs = nowMs;
  }

  /** An explanation is asked for, of data of such `quality`. */
  explainWith(quality: Quality): void {
    this.quality = quality;
  }

  carryOn(history: HistoryToCome): void {
    this.history = history;
  }

  /** The caller hung up. */
  abort(): void {
    if (this.isGone) return;
    this.isGone = true;
    this.context.observer.hungUp(this);
  }

  scored(row: ScoredRow, timing: Timing): void {
    const { queueMs, inferMs } = timing;
    const { model } = row;
    const headers =
      headerLine('Server-Timing', `queue;dur=${rounded(queueMs)}, infer;dur=${rounded(inferMs)}`) +
      headerLine('X-Model-Version', model.version);
    const body =
      this.history === undefined ? this.plain(row, inferMs) : this.carried(row, inferMs, this.history);
    this.context.served();
    if (this.write(OK, headers, body)) this.context.observer.scored(this, timing);
  }

  private plain(row: ScoredRow, inferMs: number): string {
    const body = respond(row.scores, row.offset, inferMs, row.model.thresholds);
    return row.explanation === undefined ? body : this.explained(body, row, row.explanation);
  }

  /** What the history keeps of the scores is what the network said without measurements. */
  private carried(row: ScoredRow, inferMs: number, history: HistoryToCome): string {
    const { adjustments, ignored } = history;
    const told =
      adjustments === undefined ? this.plain(row, inferMs) : this.measured(row, inferMs, adjustments);
    const body = ignored.length === 0 ? told : withIgnored(told, ignored);
    return withHistory(body, history.text(row, row.model.thresholds));
  }

  private measured(row: ScoredRow, inferMs: number, adjustments: Float64Array): string {
    const { scores, offset, model, explanation } = row;
    const moved = { scores: adjustedRow(adjustments, scores, offset), offset: 0, model };
    const plain = respond(moved.scores, 0, inferMs, model.thresholds);
    const body = withUnmeasured(plain, scores, offset, model.thresholds);
    if (explanation === undefined) return body;
    return this.explained(body, moved, explanation, { scores, offset, adjustments });
  }

  private explained(
    plain: string,
    { scores, offset, model }: ScoredRow,
    floats: Float32Array,
    unmeasured?: ExplainedRow['unmeasured'],
  ): string {
    if (this.quality === undefined || model.explainSettings === undefined) return plain;
    const row = { scores, offset, floats, unmeasured };
    return withExplanation(plain, explanationOf(row, this.quality, model.explainSettings));
  }

  failed(cause: 'expired' | 'fault'): void {
    if (cause === 'expired') this.overloaded('deadline');
    else this.failedUnexpectedly();
  }

  /** At the head of the request: `bodyBytes` that follow are not looked at. */
  refuseHead(cause: PlainCause, bodyBytes: number, headers = NO_HEADERS): void {
    this.refuseUnread({ cause, headers, ...problemAnswer(cause) }, bodyBytes);
  }

  limited(verdict: Limited, bodyBytes: number): void {
    const { limit, retryAfterS, policy, state } = verdict;
    this.caller = verdict;
    const headers =
      headerLine('Retry-After', String(retryAfterS)) +
      headerLine('RateLimit-Policy', policy) +
      headerLine('RateLimit', state);
    this.refuseUnread({ cause: LIMIT_CAUSES[limit], headers, ...problemAnswer('rateLimited') }, bodyBytes);
  }

  /** At the head of the request, as `refuseHead`. */
  overloadedAtHead(cause: OverloadCause, bodyBytes: number): void {
    this.refuseUnread(this.overload(cause), bodyBytes);
  }

  /** On the way: `come` of the body is there. */
  overloadedWhileReceiving(cause: OverloadCause, come: ComeSoFar, bodyBytes: number): void {
    if (come.isWhole) this.refuseOrHold(this.overload(cause), bodyBytes);
    else this.refuseUnread(this.overload(cause), bodyBytes, come.bytes);
  }

  /** Behind the whole body. */
  overloaded(cause: OverloadCause): void {
    this.refuseOrHold(this.overload(cause), 0);
  }

  private overload(cause: OverloadCause): Refusal {
    const headers = headerLine('Retry-After', String(this.context.retryAfterS()));
    return { cause, headers, ...problemAnswer(this.context.overloadProblem) };
  }

  /**
   * 400 for a body whose end others may see in another place: the connection ends, so that nothing behind it is
   * taken for a request. It is answered in another turn of the loop, because an answer in this one would let the
   * library go on to what came in the same packet; while the answer is owed, it closes the connection at that.
   */
  refuseFraming(cause: PlainCause): void {
    this.refuseLater({ cause, headers: NO_HEADERS, ...problemAnswer(cause) });
  }

  refuseBody(problem: BodyProblem): void {
    this.refuse({ cause: problem.kind, headers: NO_HEADERS, ...bodyProblemAnswer(problem) });
  }

  /** Something went wrong that no refusal is meant for. */
  failedUnexpectedly(): void {
    this.refuse({ cause: 'internal', headers: NO_HEADERS, ...problemAnswer('internal') });
  }

  /** 413 for a chunked body that turned out too long. */
  tooLarge({ bytes, isWhole }: ComeSoFar): void {
    const refusal: Refusal = { cause: 'bodyTooLarge', headers: NO_HEADERS, ...problemAnswer('bodyTooLarge') };
    if (isWhole) this.refuse(refusal);
    else this.refuseUnread(refusal, 0, bytes);
  }

  /**
   * 413 for a body of a declared length beyond `DISCARD_BYTES_MAX`: the answer goes out at once, what still arrives is
   * discarded, and the connection is closed after so much of it.
   */
  refuseEndless(): void {
    const { status, body } = problemAnswer('bodyTooLarge');
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
      if (begun > blocks) this.pay(begun - blocks);
      blocks = begun;
      isOver = isLast || discarded > DISCARD_BYTES_MAX;
      // Told to close here, uWebSockets.js would write that header into the body. The caller closes, as told.
      if (isLast) res.cork(() => res.end());
      else if (isOver) res.close();
    });
    this.isGone = true;
    const headers = NO_HEADERS;
    writeAnswerHeldOpen(res, { status, requestId, headers, body, isHead: false, connection: 'ends' });
    this.context.observer.refused(this, 'bodyTooLarge', statusCode(status));
  }

  /** Writes the refusal that was held back. */
  answer(): void {
    if (this.held !== undefined) this.refuse(this.held);
  }

  /** Where `come` bytes of the body are there, and more may follow: `bodyBytes`, where its length is declared. */
  private refuseUnread(refusal: Refusal, bodyBytes: number, come = 0): void {
    if (!this.head.isChunked) return this.refuseOrHold(refusal, bodyBytes);
    discardBody(this.res, come, {
      over: (bytes) => this.refuseOrHold(refusal, bytes),
      moreBlocks: (blocks) => this.pay(blocks),
      aborted: () => this.abort(),
    });
  }

  private pay(blocks: number): void {
    if (this.payer !== undefined) this.context.spend(this.payer, blocks);
  }

  /** `bodyBytes`: of a body that is thrown away. */
  private refuseOrHold(refusal: Refusal, bodyBytes: number): void {
    if (this.isGone) return;
    const { refusalThrottle, isDraining } = this.context;
    const isUrgent = isDraining || TOLD_AT_ONCE.has(refusal.cause);
    if (isUrgent || refusalThrottle.mayAnswer(bodyBytes)) return this.refuse(refusal);
    this.held = refusal;
    this.res.onAborted(() => this.abort());
    refusalThrottle.hold(this);
  }

  private refuse(refusal: Refusal): void {
    if (this.head.isChunked || (this.head.isHead && this.connection === 'ends')) this.refuseLater(refusal);
    else this.refuseNow(refusal);
  }

  /** In another turn of the loop, when the packet that is being read has been dealt with. */
  private refuseLater(refusal: Refusal): void {
    if (this.isGone) return;
    this.res.onAborted(() => this.abort());
    setImmediate(() => this.refuseNow(refusal));
  }

  private refuseNow({ cause, status, headers, body }: Refusal): void {
    if (this.write(status, headers, body)) this.context.observer.refused(this, cause, statusCode(status));
  }

  /** False where there is nobody to write to any more. */
  private write(status: string, headers: string, body: string): boolean {
    if (this.isGone) return false;
    this.isGone = true;
    const { requestId, isHead } = this.head;
    writeAnswer(this.res, { status, requestId, headers, body, isHead, connection: this.connection });
    return true;
  }

  private get connection(): ConnectionEnd {
    const { connection } = this.head;
    return connection === 'stays' && this.context.isDraining ? 'ends' : connection;
  }
}

function statusCode(status: string): number {
  return Number(status.slice(0, 3));
}
