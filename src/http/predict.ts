import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Admission } from '../auth/limits/rateLimiter.js';
import type { OverloadCause, PlainCause } from '../contract/metrics.js';
import { JSON_TYPE, NDJSON_TYPE, mediaTypeOf } from '../contract/mediaTypes.js';
import { RECORDING } from '../read/exact.js';
import { isBodyProblem } from '../read/read.js';
import { qualityOf } from '../night/quality.js';
import type { ReadRequest } from '../night/request.js';
import type { BodyScoring } from './answerBody.js';
import { DISCARD_BYTES_MAX, collectBody } from './body.js';
import { BodyBuffers } from './bodyBuffers.js';
import { Door } from './door.js';
import { Exchange, NOTHING_COME } from './exchange.js';
import { NO_EXPLANATIONS } from './lists/list.js';
import { FULL_CAUSES, Lists } from './lists/lists.js';
import { EXPLAIN_TOKENS, HEAD_TOKENS, furtherBlocks, readingTokens } from './prices.js';
import { BUDGET_CAUSES, Recordings } from './recordings/recordings.js';
import { type OwnAnswer, OwnRequest } from './ownRequest.js';
import { type ConnectionEnd, headerLine } from './reply.js';

/**
 * `POST /predict`, from the head of a request to its admission. Each refusal is one line here, in the order
 * of the contract; `Exchange` answers it, and the observer learns how it ended.
 */
export class Predict extends Door {
  private readonly lists = new Lists(this);
  private readonly recordings = new Recordings(this);
  private readonly buffers = new BodyBuffers();

  /** A worker hangs: refuses every request from now on, and every line that was not read yet. */
  hang(): void {
    this.isHung = true;
    this.lists.wake();
  }

  /** Resolves when every admitted list is answered, or its caller gone. */
  listsEnded(): Promise<void> {
    return this.lists.ended();
  }

  /** Any path but /predict. */
  notFound(res: HttpResponse, req: HttpRequest): void {
    this.open(res, req, isHead(req))?.refuseHead('notFound');
  }

  /** Any method but POST on /predict. */
  methodNotAllowed(res: HttpResponse, req: HttpRequest): void {
    this.open(res, req, isHead(req))?.refuseHead('methodNotAllowed', headerLine('Allow', 'POST'));
  }

  /** POST on /predict. The router checks path and method, which is cheaper than asking for them here. */
  handle(res: HttpResponse, req: HttpRequest): void {
    const { authenticator, rateLimiter, clock, bodyBytesMax } = this.options;
    const exchange = this.open(res, req, false);
    if (exchange === undefined) return;

    const nowMs = clock.nowMs();
    const { declaredBytes } = exchange;
    const key = authenticator.identify(req.getHeader(X_API_KEY), nowMs);
    if (key === 'missing') return exchange.refuseHead('keyMissing');
    if (key === 'invalid') return exchange.refuseHead('keyInvalid');
    const verdict = rateLimiter.admit(key, nowMs);
    if (verdict.outcome === 'limited') return exchange.limited(verdict, NOTHING_COME);
    exchange.authenticated(verdict);

    const form = formOf(req.getHeader(CONTENT_TYPE));
    if (form === 'unknown') return this.refuseUnread(exchange, verdict, 'contentType');
    if (!isIdentity(req.getHeader(CONTENT_ENCODING)))
      return this.refuseUnread(exchange, verdict, 'contentEncoding');
    if (declaredBytes > DISCARD_BYTES_MAX) return exchange.refuseEndless();
    if (declaredBytes > bodyBytesMax) return this.refuseUnread(exchange, verdict, 'bodyTooLarge');
    const overload = this.overload();
    if (overload !== undefined) {
      this.charge(verdict, declaredBytes);
      return exchange.overloaded(overload, NOTHING_COME);
    }
    this.receive(res, exchange, verdict, form);
  }

  /** Undefined for a body whose end can't be determined: it is refused. */
  private open(res: HttpResponse, req: HttpRequest, isHead: boolean): Exchange | undefined {
    const { requestId, clock } = this.options;
    const length = req.getHeader(CONTENT_LENGTH);
    const framing = framingOf(req, length);
    const exchange = new Exchange(res, this, {
      requestId: requestId(req.getHeader(X_REQUEST_ID)),
      traceparent: req.getHeader(TRACEPARENT),
      startedMs: clock.monotonicMs(),
      callerDeadlineMs: deadlineIn(req.getHeader(X_DEADLINE_MS)),
      isHead,
      declaredBytes: lengthIn(length),
      isChunked: framing === 'chunked',
      connection: connectionEnd(req.getHeader(CONNECTION), framing),
    });
    if (framing !== 'unknown') return exchange;
    exchange.refuseFraming('transferEncoding');
    return undefined;
  }

  /** The body is not read, but sending it takes time all the same. */
  private refuseUnread(exchange: Exchange, admission: Admission, cause: PlainCause): void {
    this.charge(admission, exchange.declaredBytes);
    exchange.refuseHead(cause);
  }

  /** The request was charged one token; a longer body costs more, even if it is refused later. */
  private charge(admission: Admission, declaredBytes: number): void {
    const blocks = furtherBlocks(Math.min(declaredBytes, DISCARD_BYTES_MAX));
    if (blocks > 0) this.spend(admission, blocks);
  }

  private receive(
    res: HttpResponse,
    exchange: Exchange,
    admission: Admission,
    form: Exclude<BodyForm, 'unknown'>,
  ): void {
    const { options, buffers } = this;
    const { bodyBytesMax: bytesMax, budget } = options;
    const { declaredBytes } = exchange;
    const holder = admission.key.keyIndex;
    const stop = collectBody(
      res,
      { declaredBytes, bytesMax, budget, buffers, holder, isKept: form === 'list' },
      {
        complete: (bytes, giveBack) => {
          const overload = this.received(exchange, bytes);
          if (overload !== undefined) {
            giveBack();
            exchange.overloaded(overload);
          } else if (form === 'list') this.lists.take(exchange, { admission, bytes, giveBack });
          // From here to the batch everything happens in this turn of the event loop.
          else this.take(exchange, bytes, admission);
        },
        tooLarge: (come) => exchange.tooLarge(come),
        overBudget: (outcome, come) => exchange.overloaded(BUDGET_CAUSES[outcome], come),
        moreBlocks: (blocks) => this.spend(admission, blocks),
        tooManyPieces: () => exchange.cut(),
      },
    );
    res.onAborted(() => {
      stop();
      exchange.abort();
    });
  }

  /** Notes that the whole body has arrived. @returns why it can't be scored now, if so */
  private received(exchange: Exchange, bytes: Uint8Array): OverloadCause | undefined {
    const { clock, metrics } = this.options;
    exchange.received(bytes.length, clock.monotonicMs());
    metrics.received(bytes.length);
    return exchange.expiresMs <= exchange.receivedMs ? 'deadline' : this.overload();
  }

  /**
   * Scores a body from the process itself (the page /try), like one from a request. Callers come first: it is
   * refused if at least `pendingMax` requests are not yet answered. No metric counts it as a request.
   */
  scoreOwn(bytes: Uint8Array, pendingMax: number): Promise<OwnAnswer> {
    return new Promise((resolve) => {
      const own = new OwnRequest(resolve);
      if (this.overload() !== undefined || this.scorer.pending >= pendingMax) own.overloaded();
      else this.take(own, bytes, undefined);
    });
  }

  takeRead(scoring: BodyScoring, body: Uint8Array, payer: Admission | undefined): void {
    if (this.isHung) scoring.overloaded('hung');
    else this.take(scoring, body, payer, 'read');
  }

  /**
   * `payer`: the holder who pays; undefined if the request is the process's own. `recording`: whether the body may
   * have one, or had one that was read and paid.
   */
  private take(
    scoring: BodyScoring,
    bytes: Uint8Array,
    payer: Admission | undefined,
    recording: 'unread' | 'read' = 'unread',
  ): void {
    const { metrics, readBody, readRequest } = this.options;
    const { measured } = this.scorer.model;
    try {
      const request = recording === 'unread' ? readBody(bytes, measured) : readRequest(bytes, measured);
      if (request === RECORDING) return this.recordings.take(scoring, bytes, payer);
      const tokens = readingTokens(request, recording === 'unread' ? bytes.length : 0);
      if (tokens > 0 && payer !== undefined) this.spend(payer, tokens);
      if (isBodyProblem(request)) return this.refuseBody(scoring, request, payer);
      if (payer !== undefined) metrics.understood(request);
      scoring.history = request.history;
      if (request.explain) return this.explain(scoring, request, payer);
      const outcome = this.scorer.admit(request, scoring);
      if (outcome !== 'admitted') scoring.overloaded(FULL_CAUSES[outcome]);
    } catch (error) {
      // A body that can't be read must not affect other requests.
      this.options.onFault(error, scoring.requestId);
      scoring.failedUnexpectedly();
    }
  }

  /** An explanation costs more, both of the key's rate and of a worker's time. */
  private explain(scoring: BodyScoring, request: ReadRequest, payer: Admission | undefined): void {
    if (this.scorer.model.explainSettings === undefined)
      return this.refuseBody(scoring, NO_EXPLANATIONS, payer);
    if (payer !== undefined) this.spend(payer, EXPLAIN_TOKENS - HEAD_TOKENS);
    scoring.quality = qualityOf(request);
    const outcome = this.scorer.admitExplained(request, scoring);
    if (outcome !== 'admitted') scoring.overloaded(FULL_CAUSES[outcome]);
  }
}

/** The headers that are read, as bytes, so that the library need not convert them for each request. */
const X_API_KEY = Buffer.from('x-api-key');
const CONTENT_TYPE = Buffer.from('content-type');
const CONTENT_ENCODING = Buffer.from('content-encoding');
const CONTENT_LENGTH = Buffer.from('content-length');
const TRANSFER_ENCODING = Buffer.from('transfer-encoding');
const X_REQUEST_ID = Buffer.from('x-request-id');
const TRACEPARENT = Buffer.from('traceparent');
const CONNECTION = Buffer.from('connection');
const X_DEADLINE_MS = Buffer.from('x-deadline-ms');

/**
 * The bytes that `Content-Length` declares, 0 if it is malformed: the library checks its form only after this
 * code.
 */
function lengthIn(text: string): number {
  const bytes = Number(text);
  return bytes <= Number.MAX_SAFE_INTEGER ? bytes : 0;
}

const DEADLINE_MAX_MS = 600_000;

/** `X-Deadline-Ms`: 1 to 600,000 milliseconds; any other value is ignored. */
function deadlineIn(text: string): number {
  if (text === '' || !/^[1-9][0-9]{0,5}$/.test(text)) return Infinity;
  const ms = Number(text);
  return ms <= DEADLINE_MAX_MS ? ms : Infinity;
}

/** How the end of a body is marked: `length` if it has one; `unknown` if it can't be determined. */
type Framing = 'length' | 'chunked' | 'unknown';

/**
 * The library takes any `Transfer-Encoding` for `chunked`. A proxy before it may read it differently, and see
 * a request where the library sees a body, or the reverse. The library itself refuses it beside a length.
 */
function framingOf(req: HttpRequest, length: string): Framing {
  if (length !== '') return 'length';
  const coding = req.getHeader(TRANSFER_ENCODING);
  if (coding === '') return 'length';
  return coding.toLowerCase() === 'chunked' ? 'chunked' : 'unknown';
}

/**
 * The library ends a connection if its caller sends `close`, or any other word of five letters, but does not
 * announce it; a caller that keeps connections (axios, `node:http` with an agent) would send its next request
 * on a dead one. The library does not recognise a `close` among other options at all.
 */
function connectionEnd(asked: string, framing: Framing): ConnectionEnd {
  if (asked.length === 'close'.length) return 'endsAsAsked';
  if (framing !== 'length') return 'ends';
  if (asked === '') return 'stays';
  return asked.split(',').some((option) => option.trim().toLowerCase() === 'close') ? 'ends' : 'stays';
}

function isHead(req: HttpRequest): boolean {
  return req.getMethod() === 'head';
}

/** One request, a list of requests, or neither. */
type BodyForm = 'one' | 'list' | 'unknown';

/** An absent type counts as JSON; parameters are allowed. */
function formOf(contentType: string): BodyForm {
  if (contentType === JSON_TYPE || contentType === '') return 'one';
  const mediaType = mediaTypeOf(contentType);
  if (mediaType === JSON_TYPE) return 'one';
  return mediaType === NDJSON_TYPE ? 'list' : 'unknown';
}

function isIdentity(contentEncoding: string): boolean {
  return contentEncoding === '' || contentEncoding.trim().toLowerCase() === 'identity';
}
