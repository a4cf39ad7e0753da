import type { HttpResponse } from 'uWebSockets.js';
import type { Admission, Limited } from '../auth/limits/rateLimiter.js';
import type { GoneCause, LimitCause, OverloadCause, PlainCause, RefusalCause } from '../contract/metrics.js';
import { type BodyProblem, bodyRefusal, problemAnswer, type Refused } from '../contract/problems.js';
import { rounded } from '../night/respond.js';
import type { ScoredRow, Timing } from '../score/scorer.js';
import type { ExchangeRecord } from './exchangeRecord.js';
import { answerBody, BodyScoring } from './answerBody.js';
import { type ComeSoFar, discardBody } from './body.js';
import type { Door } from './door.js';
import { type ConnectionEnd, headerLine, ListAnswer, writeAnswer, writePiece } from './reply.js';
import type { HeldRefusal } from './refusalThrottle.js';

/**
 * One request and its one answer:
 *
 *   opened ─► authenticated ─► received ─► scored
 *      └───────────┴──────────────┴─────► refused, or hung up
 *
 * A refusal takes these steps, and may stop at each while the caller hangs up:
 *
 *   refuseBeside   is there more of a chunked body?   yes: discardBody to its last chunk first
 *   refuseOrHold   are there too many refusals?       yes: the throttle answers it later; never if it is urgent
 *   refuse         may this turn answer?              no (chunks, or HEAD that ends the connection): refuseLater
 *   refuseNow      write, once; the observer learns of it
 */
export class Exchange extends BodyScoring implements HeldRefusal, ExchangeRecord {
  readonly requestId: string;
  readonly traceparent: string;
  readonly startedMs: number;
  readonly declaredBytes: number;
  isGone = false;
  receivedMs: number;
  bodyBytes = 0;
  caller: Admission | Limited | undefined;
  goneBy: GoneCause | undefined;
  /** The turn of the loop in which the last byte of the body came. */
  private receivedTurn = NaN;
  /** Pays for the rest of a body that is refused. */
  private payer: Admission | undefined;
  /** The list that answers in place of this exchange, once it is admitted: it receives hang-ups from then on. */
  list: { abort(): void } | undefined;
  /** A refusal that waits. */
  private held: Refusal | undefined;

  constructor(
    private readonly res: HttpResponse,
    private readonly door: Door,
    private readonly head: ExchangeHead,
  ) {
    super();
    this.requestId = head.requestId;
    this.traceparent = head.traceparent;
    this.startedMs = head.startedMs;
    this.declaredBytes = head.declaredBytes;
    this.receivedMs = head.startedMs;
  }

  get holder(): number | undefined {
    return this.caller?.key.keyIndex;
  }

  /** When its caller stops waiting, or a recording is given up. */
  get expiresMs(): number {
    return Math.min(this.head.startedMs + this.head.callerDeadlineMs, this.dueMs);
  }

  authenticated(admission: Admission): void {
    this.caller = admission;
    this.payer = admission;
  }

  /** The last byte of the body has come. */
  received(bytes: number, nowMs: number): void {
    this.bodyBytes = bytes;
    this.receivedTurn = this.door.turns.current;
    this.receivedMs = nowMs;
  }

  /**
   * The caller hung up; or sent more in the packet that ended the request, at which the library, which can't answer
   * two at once, closes the connection before this turn of the loop ends.
   */
  abort(): void {
    if (this.isGone) return;
    this.isGone = true;
    this.goneBy ??= this.receivedTurn === this.door.turns.current ? 'pipelined' : 'hungUp';
    if (this.list === undefined) this.door.options.observer.hungUp(this);
    else this.list.abort();
  }

  /** Ends the connection of a caller that sends its body in too many pieces. */
  cut(): void {
    this.goneBy = 'inPieces';
    this.res.close(); // calls `abort`
  }

  /** The answer of a list, scored by the model of that version. */
  listAnswer(modelVersion: string): ListAnswer {
    const headers = headerLine('X-Model-Version', modelVersion);
    return new ListAnswer(this.res, {
      requestId: this.requestId,
      headers,
      connection: () => this.connection,
    });
  }

  scored(row: ScoredRow, timing: Timing): void {
    const { queueMs, inferMs } = timing;
    const { model } = row;
    const headers =
      headerLine('Server-Timing', `queue;dur=${rounded(queueMs)}, infer;dur=${rounded(inferMs)}`) +
      headerLine('X-Model-Version', model.version);
    const body = answerBody(row, inferMs, this);
    this.door.served();
    if (this.write(200, headers, body)) this.door.options.observer.scored(this, timing);
  }

  /** Refuses at the head of the request: the body is not read. */
  refuseHead(cause: PlainCause, headers = NO_HEADERS): void {
    this.refuseBeside({ cause, headers, ...problemAnswer(cause) }, NOTHING_COME);
  }

  /** `come`: what has arrived of a body that is thrown away; undefined once it was read. */
  limited(verdict: Limited, come?: ComeSoFar): void {
    const { limit, retryAfterS, policy, state } = verdict;
    this.caller = verdict;
    const headers =
      headerLine('Retry-After', String(retryAfterS)) +
      headerLine('RateLimit-Policy', policy) +
      headerLine('RateLimit', state);
    this.refuseBeside({ cause: LIMIT_CAUSES[limit], headers, ...problemAnswer('rateLimited') }, come);
  }

  /** `come` as for `limited`. */
  overloaded(cause: OverloadCause, come?: ComeSoFar): void {
    const headers = headerLine('Retry-After', String(this.door.retryAfterS()));
    const name = this.door.options.overloadStatus === 429 ? 'overloadedAs429' : 'overloaded';
    this.refuseBeside({ cause, headers, ...problemAnswer(name) }, come);
  }

  /**
   * Answers 400 to a body whose end other parties may see elsewhere. The connection ends, so that nothing
   * after it is taken for a request. The answer is written in another turn of the loop, because an answer in
   * this turn would let the library continue with the rest of the packet; while the answer is owed, the
   * library closes the connection instead.
   */
  refuseFraming(cause: PlainCause): void {
    this.refuseLater({ cause, headers: NO_HEADERS, ...problemAnswer(cause) });
  }

  refuseBody(problem: BodyProblem): void {
    this.refuse({ cause: problem.kind, headers: NO_HEADERS, ...bodyRefusal(problem) });
  }

  failedUnexpectedly(): void {
    this.refuse({ cause: 'internal', headers: NO_HEADERS, ...problemAnswer('internal') });
  }

  /** 413 for a chunked body that turned out to be too long. */
  tooLarge(come: ComeSoFar): void {
    const refusal: Refusal = { cause: 'bodyTooLarge', headers: NO_HEADERS, ...problemAnswer('bodyTooLarge') };
    if (come.isWhole) this.refuse(refusal);
    else this.refuseBeside(refusal, come);
  }

  /**
   * 413 for a body of a declared length above `DISCARD_BYTES_MAX`: the answer is sent at once, arriving bytes
   * are discarded, and after that many the connection is closed.
   */
  refuseEndless(): void {
    const { status, body } = problemAnswer('bodyTooLarge');
    const { res, requestId } = this;
    discardBody(
      res,
      { isPaid: true, isAnswered: true },
      {
        // If uWebSockets.js were to close after the whole body, it would write that header into the answer's body. The
        // caller closes, as the answer says.
        over: (_, isWhole) => void (isWhole ? res.cork(() => res.end()) : res.close()),
        moreBlocks: (blocks) => this.pay(blocks),
        tooManyPieces: () => this.cut(),
        aborted: () => undefined,
      },
    );
    this.isGone = true;
    // Stays open, so that the bytes that the caller still sends can be watched.
    const connection = 'endsAsAsked';
    writePiece(res, { status, requestId, headers: NO_HEADERS, body, isHead: false, connection }, false, body);
    this.door.options.observer.refused(this, 'bodyTooLarge', status);
  }

  /** Writes the refusal that was held back. */
  answer(): void {
    if (this.held !== undefined) this.refuse(this.held);
  }

  private refuseBeside(refusal: Refusal, come: ComeSoFar | undefined): void {
    if (come === undefined) return this.refuseOrHold(refusal, 0);
    if (come.isWhole || !this.head.isChunked) return this.refuseOrHold(refusal, this.declaredBytes);
    discardBody(
      this.res,
      { meter: come.meter, isPaid: this.payer !== undefined },
      {
        over: ({ weight }) => this.refuseOrHold(refusal, weight),
        moreBlocks: (blocks) => this.pay(blocks),
        tooManyPieces: () => this.cut(),
        aborted: () => this.abort(),
      },
    );
  }

  private pay(blocks: number): void {
    if (this.payer !== undefined) this.door.spend(this.payer, blocks);
  }

  /** `bodyBytes`: length of the body that is thrown away. */
  private refuseOrHold(refusal: Refusal, bodyBytes: number): void {
    if (this.isGone) return;
    const { refusalThrottle, isDraining } = this.door;
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

  /** In another turn of the loop, after the packet that is being read. */
  private refuseLater(refusal: Refusal): void {
    if (this.isGone) return;
    this.res.onAborted(() => this.abort());
    setImmediate(() => this.refuseNow(refusal));
  }

  private refuseNow({ cause, status, headers, body }: Refusal): void {
    if (this.write(status, headers, body)) this.door.options.observer.refused(this, cause, status);
  }

  /** False if the caller is gone. */
  private write(status: number, headers: string, body: string): boolean {
    if (this.isGone) return false;
    this.isGone = true;
    const { requestId, isHead } = this.head;
    writeAnswer(this.res, { status, requestId, headers, body, isHead, connection: this.connection });
    return true;
  }

  private get connection(): ConnectionEnd {
    const { connection } = this.head;
    return connection === 'stays' && this.door.isDraining ? 'ends' : connection;
  }
}

/** The head of a request, without its key. */
export interface ExchangeHead {
  readonly requestId: string;
  readonly traceparent: string;
  readonly startedMs: number;
  /** How long the caller waits, in milliseconds from then on; Infinity if it does not say. */
  readonly callerDeadlineMs: number;
  /** The answer has no body. */
  readonly isHead: boolean;
  /** Length of the body in bytes; 0 if none is declared. */
  readonly declaredBytes: number;
  /**
   * The body comes in chunks. The library takes bytes after the last chunk, such as trailers, for another
   * request; a proxy that shares its connections would pass the answer to another caller. So the connection
   * ends with the answer, and the answer waits for the last chunk and for the end of its packet: until then
   * the library closes the connection if anything follows.
   */
  readonly isChunked: boolean;
  /** As the caller asked. */
  readonly connection: ConnectionEnd;
}

const NO_HEADERS = '';
const LIMIT_CAUSES: Readonly<Record<Limited['limit'], LimitCause>> = {
  burst: 'rateBurst',
  daily: 'rateDaily',
};

/** These causes last until the caller asks again, so their refusals are never held back. */
const TOLD_AT_ONCE: ReadonlySet<RefusalCause> = new Set(['hung', 'draining', 'deadline']);

/** At the head of a request. */
export const NOTHING_COME: ComeSoFar = { isWhole: false };

interface Refusal extends Refused {
  readonly cause: RefusalCause;
  readonly headers: string;
}
