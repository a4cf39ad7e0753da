import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Clock } from '../base/clock.js';
import type { Authenticator } from '../auth/authenticator.js';
import type { Admission, RateLimiter } from '../auth/rateLimiter.js';
import type { OverloadCause, PlainCause } from '../contract/metrics.js';
import { EXPLAIN_TOKENS } from '../contract/explanation.js';
import type { BodyProblem } from '../contract/problems.js';
import type { RequestReader } from '../pipeline/read.js';
import { isBodyProblem } from '../pipeline/read.js';
import { qualityOf } from '../pipeline/quality.js';
import type { ReadRequest } from '../records/request.js';
import type { Scorer } from '../scoring/scorer.js';
import { furtherBlocks, readBody } from './body.js';
import type { BodyBudget, BudgetOutcome } from './bodyBudget.js';
import { Exchange, type ExchangeContext, type ExchangeObserver } from './exchange.js';
import { HeldRefusals } from './heldRefusals.js';
import type { LoopLag } from './lag.js';
import { headerLine, type ConnectionEnd } from './reply.js';
import type { RequestMetrics } from './requestMetrics.js';

export interface PredictOptions {
  readonly authenticator: Pick<Authenticator, 'identify'>;
  readonly rateLimiter: Pick<RateLimiter, 'admit' | 'spend'>;
  readonly readRequest: RequestReader;
  readonly observer: ExchangeObserver;
  readonly metrics: RequestMetrics;
  readonly clock: Clock;
  readonly requestId: (given: string) => string;
  readonly budget: BodyBudget;
  readonly lag: LoopLag;
  /** Above this lateness of the event loop, requests are refused at their headers. */
  readonly lagMaxMs: number;
  readonly bodyBytesMax: number;
  /** Reports an unexpected error; the caller gets 500. */
  onFault(error: unknown, requestId: string): void;
  readonly retryAfterS: number;
}

/** The headers that are looked at: as bytes, which the library need not convert for each request. */
const X_API_KEY = Buffer.from('x-api-key');
const CONTENT_TYPE = Buffer.from('content-type');
const CONTENT_ENCODING = Buffer.from('content-encoding');
const CONTENT_LENGTH = Buffer.from('content-length');
const TRANSFER_ENCODING = Buffer.from('transfer-encoding');
const X_REQUEST_ID = Buffer.from('x-request-id');
const TRACEPARENT = Buffer.from('traceparent');
const CONNECTION = Buffer.from('connection');

/** After a 413, so much of a body that still arrives is read and thrown away. */
const DISCARD_BYTES_MAX = 64 * 1024 * 1024;
const JSON_TYPE = 'application/json';

/**
 * `POST /predict`, from the head of a request to its admission. Each refusal is one line here, in the order of the
 * contract; `Exchange` answers it, and the observer is told how it ended.
 */
export class Predict implements ExchangeContext {
  isDraining = false;
  /** Every request is refused from now on: a worker hangs. */
  isHung = false;
  readonly heldRefusals: HeldRefusals;

  constructor(
    private readonly options: PredictOptions,
    /** Of the model in force: replaced as a whole when another is loaded. */
    public scorer: Scorer,
  ) {
    this.heldRefusals = new HeldRefusals(options.clock);
  }

  get observer(): ExchangeObserver {
    return this.options.observer;
  }

  get retryAfterS(): number {
    return this.options.retryAfterS;
  }

  /** Refuses what comes from now on, at once, and what is held back with it. */
  drain(): void {
    this.isDraining = true;
    this.heldRefusals.release();
  }

  /** Any path but /predict. */
  notFound(res: HttpResponse, req: HttpRequest): void {
    const exchange = this.open(res, req, isHead(req));
    if (hasUnknownCoding(req, req.getHeader(CONTENT_LENGTH)))
      return exchange.refuseFraming('transferEncoding');
    exchange.refuseHead('notFound', bodyBytesOf(req));
  }

  /** Any method but POST on /predict. */
  methodNotAllowed(res: HttpResponse, req: HttpRequest): void {
    const exchange = this.open(res, req, isHead(req));
    if (hasUnknownCoding(req, req.getHeader(CONTENT_LENGTH)))
      return exchange.refuseFraming('transferEncoding');
    exchange.refuseHead('methodNotAllowed', bodyBytesOf(req), headerLine('Allow', 'POST'));
  }

  /** POST on /predict: the router looks at path and method, which saves asking for them here. */
  handle(res: HttpResponse, req: HttpRequest): void {
    const { authenticator, rateLimiter, clock, bodyBytesMax } = this.options;
    const exchange = this.open(res, req, false);
    const length = req.getHeader(CONTENT_LENGTH);
    if (hasUnknownCoding(req, length)) return exchange.refuseFraming('transferEncoding');

    const nowMs = clock.nowMs();
    const key = authenticator.identify(req.getHeader(X_API_KEY), nowMs);
    if (key === 'missing') return exchange.refuseHead('keyMissing', bodyBytesOf(req));
    if (key === 'invalid') return exchange.refuseHead('keyInvalid', bodyBytesOf(req));
    const verdict = rateLimiter.admit(key, nowMs);
    if (verdict.outcome === 'limited') return exchange.limited(verdict, bodyBytesOf(req));
    exchange.authenticated(verdict);

    if (!isJson(req.getHeader(CONTENT_TYPE))) return this.refuseUnread(exchange, verdict, req, 'contentType');
    if (!isIdentity(req.getHeader(CONTENT_ENCODING)))
      return this.refuseUnread(exchange, verdict, req, 'contentEncoding');
    const declaredBytes = lengthIn(length);
    if (declaredBytes > bodyBytesMax) return this.refuseTooLarge(exchange, verdict, declaredBytes);
    const overload = this.overload();
    if (overload !== undefined) {
      this.charge(verdict, declaredBytes);
      return exchange.overloaded(overload, declaredBytes || bodyBytesOf(req));
    }
    this.receive(res, exchange, verdict, declaredBytes);
  }

  private open(res: HttpResponse, req: HttpRequest, isHead: boolean): Exchange {
    const { requestId, clock } = this.options;
    return new Exchange(res, this, {
      requestId: requestId(req.getHeader(X_REQUEST_ID)),
      traceparent: req.getHeader(TRACEPARENT),
      startedMs: clock.monotonicMs(),
      isHead,
      connection: connectionEnd(req.getHeader(CONNECTION)),
    });
  }

  /** The body is not looked at, but what is sent of it takes time all the same. */
  private refuseUnread(exchange: Exchange, admission: Admission, req: HttpRequest, cause: PlainCause): void {
    const bodyBytes = bodyBytesOf(req);
    this.charge(admission, bodyBytes);
    exchange.refuseHead(cause, bodyBytes);
  }

  /** A body of declared length is discarded behind the answer; one longer than `DISCARD_BYTES_MAX` ends the connection. */
  private refuseTooLarge(exchange: Exchange, admission: Admission, declaredBytes: number): void {
    if (declaredBytes > DISCARD_BYTES_MAX) return this.refuseWhileReceiving(exchange, admission);
    this.charge(admission, declaredBytes);
    exchange.refuseHead('bodyTooLarge', declaredBytes);
  }

  private refuseWhileReceiving(exchange: Exchange, admission: Admission): void {
    exchange.refuseWhileReceiving('bodyTooLarge', DISCARD_BYTES_MAX, (blocks) =>
      this.spend(admission, blocks),
    );
  }

  /** The request was charged with one token; a longer body costs more, whatever becomes of it. */
  private charge(admission: Admission, bodyBytes: number): void {
    const blocks = furtherBlocks(Math.min(bodyBytes, DISCARD_BYTES_MAX));
    if (blocks > 0) this.spend(admission, blocks);
  }

  private spend(admission: Admission, blocks: number): void {
    const { rateLimiter, clock } = this.options;
    rateLimiter.spend(admission, blocks, clock.nowMs());
  }

  private receive(res: HttpResponse, exchange: Exchange, admission: Admission, declaredBytes: number): void {
    const { bodyBytesMax, budget } = this.options;
    const stop = readBody(
      res,
      { declaredBytes, bytesMax: bodyBytesMax, budget, holder: admission.key.keyIndex },
      {
        complete: (bytes) => this.score(exchange, admission, bytes),
        tooLarge: () => this.refuseWhileReceiving(exchange, admission),
        overBudget: (outcome) => exchange.overloaded(BUDGET_CAUSES[outcome], declaredBytes),
        moreBlocks: (blocks) => this.spend(admission, blocks),
      },
    );
    res.onAborted(() => {
      stop();
      exchange.abort();
    });
  }

  /** The whole body is there: from here to the batch everything happens in this turn of the event loop. */
  private score(exchange: Exchange, admission: Admission, bytes: Uint8Array): void {
    const { clock, metrics, readRequest } = this.options;
    exchange.received(bytes.length, clock.monotonicMs());
    metrics.received(bytes.length);
    const overload = this.overload();
    if (overload !== undefined) return exchange.overloaded(overload);
    try {
      const request = readRequest(bytes);
      if (isBodyProblem(request)) return this.refuseBody(exchange, request);
      metrics.understood(request);
      if (request.explain) return this.explain(exchange, admission, request);
      if (this.scorer.admit(request, exchange) === 'saturated') exchange.overloaded('queueFull');
    } catch (error) {
      // One body that we can't read must not take the requests of others down.
      this.options.onFault(error, exchange.requestId);
      exchange.failedUnexpectedly();
    }
  }

  /** What is asked for costs more: of the key's rate, and of a worker. */
  private explain(exchange: Exchange, admission: Admission, request: ReadRequest): void {
    if (this.scorer.model.explains === undefined) return this.refuseBody(exchange, NO_EXPLANATIONS);
    this.spend(admission, EXPLAIN_TOKENS - 1);
    exchange.explains(qualityOf(request));
    if (this.scorer.admitExplained(request, exchange) === 'saturated') exchange.overloaded('queueFull');
  }

  private refuseBody(exchange: Exchange, problem: BodyProblem): void {
    if (problem.kind === 'unprocessable') this.options.metrics.found(problem.findings);
    exchange.refuseBody(problem);
  }

  /** Why no request can be taken now; undefined where one can. */
  private overload(): OverloadCause | undefined {
    const { lag, lagMaxMs, budget } = this.options;
    if (this.isHung) return 'hung';
    if (this.isDraining) return 'draining';
    if (lag.ms > lagMaxMs) return 'loopLag';
    if (budget.isExhausted) return 'bodiesFull';
    return this.scorer.hasRoom() ? undefined : 'queueFull';
  }
}

/** The model in force has no graph for it. */
const NO_EXPLANATIONS: BodyProblem = {
  kind: 'unprocessable',
  findings: [
    { loc: ['body', 'explain'], msg: 'The model in force can not explain its scores', type: 'value_error' },
  ],
};

const BUDGET_CAUSES = { full: 'bodiesFull', shareFull: 'bodiesOfKey' } as const satisfies Record<
  Exclude<BudgetOutcome, 'taken'>,
  OverloadCause
>;

/** What a body of no declared length may come to, for the purpose of holding its refusal back. */
const UNDECLARED_BYTES = 4 * 1024 * 1024;

/** The bytes that `Content-Length` declares. The library looks at its form only behind us: what is none is 0. */
function lengthIn(text: string): number {
  const bytes = Number(text);
  return bytes <= Number.MAX_SAFE_INTEGER ? bytes : 0;
}

/** Bytes that still come behind the head of a request that is refused there. */
function bodyBytesOf(req: HttpRequest): number {
  const declared = req.getHeader(CONTENT_LENGTH);
  if (declared !== '') return lengthIn(declared);
  return req.getHeader(TRANSFER_ENCODING) === '' ? 0 : UNDECLARED_BYTES;
}

/**
 * The library takes any `Transfer-Encoding` for `chunked`. What is in front of us may take it for something else,
 * and see a request in what we take for a body, or the reverse. Beside a length the library refuses it itself.
 */
function hasUnknownCoding(req: HttpRequest, length: string): boolean {
  if (length !== '') return false;
  const coding = req.getHeader(TRANSFER_ENCODING);
  return coding !== '' && coding.toLowerCase() !== 'chunked';
}

/**
 * The library ends a connection whose caller says `close`, or anything else of five letters, but does not say so; a
 * caller that keeps connections (axios, `node:http` with an agent) would send its next request on a dead one. A `close`
 * among other options it does not see at all.
 */
function connectionEnd(asked: string): ConnectionEnd {
  if (asked === '') return 'stays';
  if (asked.length === 'close'.length) return 'endsAsAsked';
  return asked.split(',').some((option) => option.trim().toLowerCase() === 'close') ? 'ends' : 'stays';
}

function isHead(req: HttpRequest): boolean {
  return req.getMethod() === 'head';
}

/** Absent counts as JSON; parameters are allowed. */
function isJson(contentType: string): boolean {
  if (contentType === JSON_TYPE || contentType === '') return true;
  return contentType.split(';', 1)[0]?.trim().toLowerCase() === JSON_TYPE;
}

function isIdentity(contentEncoding: string): boolean {
  return contentEncoding === '' || contentEncoding.trim().toLowerCase() === 'identity';
}
