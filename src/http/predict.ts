import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Clock } from '../base/clock.js';
import type { Authenticator } from '../auth/authenticator.js';
import type { Admission, RateLimiter } from '../auth/rateLimiter.js';
import type { OverloadCause, PlainCause } from '../contract/metrics.js';
import { EXPLAIN_TOKENS } from '../contract/explanation.js';
import type { BodyProblem } from '../contract/problems.js';
import type { RequestReader } from '../reading/read.js';
import { isBodyProblem } from '../reading/read.js';
import { qualityOf } from '../pipeline/quality.js';
import type { ReadRequest } from '../records/request.js';
import type { Scorer } from '../scoring/scorer.js';
import { furtherBlocks, readBody } from './body.js';
import type { BodyBudget, BudgetOutcome } from './bodyBudget.js';
import { DISCARD_BYTES_MAX } from './discard.js';
import { Exchange, type ExchangeContext, type ExchangeObserver } from './exchange.js';
import { RefusalThrottle } from './refusalThrottle.js';
import type { LoopLag } from './lag.js';
import { headerLine, type ConnectionEnd } from './reply.js';
import { RetryAfter } from './retryAfter.js';
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
  /** Least `Retry-After` of an overload, in seconds. */
  readonly retryAfterS: number;
  /** Status of an overload. */
  readonly overloadStatus: number;
  /** Uniform, 0 to 1. */
  readonly random: () => number;
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
const X_DEADLINE_MS = Buffer.from('x-deadline-ms');

const JSON_TYPE = 'application/json';

/**
 * `POST /predict`, from the head of a request to its admission. Each refusal is one line here, in the order of the
 * contract; `Exchange` answers it, and the observer is told how it ended.
 */
export class Predict implements ExchangeContext {
  isDraining = false;
  /** Every request is refused from now on: a worker hangs. */
  isHung = false;
  readonly refusalThrottle: RefusalThrottle;
  private readonly retryAfter: RetryAfter;

  constructor(
    private readonly options: PredictOptions,
    /** Of the model in force: replaced as a whole when another is loaded. */
    public scorer: Scorer,
  ) {
    const { clock, retryAfterS: leastS, random } = options;
    this.refusalThrottle = new RefusalThrottle(clock);
    this.retryAfter = new RetryAfter({ leastS, clock, random });
  }

  get observer(): ExchangeObserver {
    return this.options.observer;
  }

  get overloadProblem(): 'overloaded' | 'overloadedAs429' {
    return this.options.overloadStatus === 429 ? 'overloadedAs429' : 'overloaded';
  }

  /** What is refused because this replica leaves may go to another at once. */
  retryAfterS(): number {
    return this.retryAfter.secondsFor(this.isDraining || this.isHung ? 0 : this.scorer.pending);
  }

  served(): void {
    this.retryAfter.served();
  }

  /** Refuses what comes from now on, at once, and what is held back with it. */
  drain(): void {
    this.isDraining = true;
    this.refusalThrottle.release();
  }

  /** Any path but /predict. */
  notFound(res: HttpResponse, req: HttpRequest): void {
    const length = req.getHeader(CONTENT_LENGTH);
    const framing = framingOf(req, length);
    const exchange = this.open(res, req, framing, isHead(req));
    if (framing === 'unknown') return exchange.refuseFraming('transferEncoding');
    exchange.refuseHead('notFound', lengthIn(length));
  }

  /** Any method but POST on /predict. */
  methodNotAllowed(res: HttpResponse, req: HttpRequest): void {
    const length = req.getHeader(CONTENT_LENGTH);
    const framing = framingOf(req, length);
    const exchange = this.open(res, req, framing, isHead(req));
    if (framing === 'unknown') return exchange.refuseFraming('transferEncoding');
    exchange.refuseHead('methodNotAllowed', lengthIn(length), headerLine('Allow', 'POST'));
  }

  /** POST on /predict: the router looks at path and method, which saves asking for them here. */
  handle(res: HttpResponse, req: HttpRequest): void {
    const { authenticator, rateLimiter, clock, bodyBytesMax } = this.options;
    const length = req.getHeader(CONTENT_LENGTH);
    const framing = framingOf(req, length);
    const exchange = this.open(res, req, framing, false);
    if (framing === 'unknown') return exchange.refuseFraming('transferEncoding');

    const nowMs = clock.nowMs();
    const declaredBytes = lengthIn(length);
    const key = authenticator.identify(req.getHeader(X_API_KEY), nowMs);
    if (key === 'missing') return exchange.refuseHead('keyMissing', declaredBytes);
    if (key === 'invalid') return exchange.refuseHead('keyInvalid', declaredBytes);
    const verdict = rateLimiter.admit(key, nowMs);
    if (verdict.outcome === 'limited') return exchange.limited(verdict, declaredBytes);
    exchange.authenticated(verdict);

    if (!isJson(req.getHeader(CONTENT_TYPE)))
      return this.refuseUnread(exchange, verdict, declaredBytes, 'contentType');
    if (!isIdentity(req.getHeader(CONTENT_ENCODING)))
      return this.refuseUnread(exchange, verdict, declaredBytes, 'contentEncoding');
    if (declaredBytes > DISCARD_BYTES_MAX) return exchange.refuseEndless();
    if (declaredBytes > bodyBytesMax)
      return this.refuseUnread(exchange, verdict, declaredBytes, 'bodyTooLarge');
    const overload = this.overload();
    if (overload !== undefined) {
      this.charge(verdict, declaredBytes);
      return exchange.overloadedAtHead(overload, declaredBytes);
    }
    this.receive(res, exchange, verdict, declaredBytes);
  }

  private open(res: HttpResponse, req: HttpRequest, framing: Framing, isHead: boolean): Exchange {
    const { requestId, clock } = this.options;
    return new Exchange(res, this, {
      requestId: requestId(req.getHeader(X_REQUEST_ID)),
      traceparent: req.getHeader(TRACEPARENT),
      startedMs: clock.monotonicMs(),
      patienceMs: patienceIn(req.getHeader(X_DEADLINE_MS)),
      isHead,
      isChunked: framing === 'chunked',
      connection: connectionEnd(req.getHeader(CONNECTION), framing),
    });
  }

  /** The body is not looked at, but what is sent of it takes time all the same. */
  private refuseUnread(
    exchange: Exchange,
    admission: Admission,
    declaredBytes: number,
    cause: PlainCause,
  ): void {
    this.charge(admission, declaredBytes);
    exchange.refuseHead(cause, declaredBytes);
  }

  /** The request was charged with one token; a longer body costs more, whatever becomes of it. */
  private charge(admission: Admission, declaredBytes: number): void {
    const blocks = furtherBlocks(Math.min(declaredBytes, DISCARD_BYTES_MAX));
    if (blocks > 0) this.spend(admission, blocks);
  }

  spend(admission: Admission, tokens: number): void {
    const { rateLimiter, clock } = this.options;
    rateLimiter.spend(admission, tokens, clock.nowMs());
  }

  private receive(res: HttpResponse, exchange: Exchange, admission: Admission, declaredBytes: number): void {
    const { bodyBytesMax, budget } = this.options;
    const stop = readBody(
      res,
      { declaredBytes, bytesMax: bodyBytesMax, budget, holder: admission.key.keyIndex },
      {
        complete: (bytes) => this.score(exchange, admission, bytes),
        tooLarge: (come) => exchange.tooLarge(come),
        overBudget: (outcome, come) =>
          exchange.overloadedWhileReceiving(BUDGET_CAUSES[outcome], come, declaredBytes),
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
    if (exchange.expiresMs <= exchange.receivedMs) return exchange.overloaded('deadline');
    const overload = this.overload();
    if (overload !== undefined) return exchange.overloaded(overload);
    try {
      const request = readRequest(bytes, this.scorer.model.measured);
      if (isBodyProblem(request)) return this.refuseBody(exchange, request);
      metrics.understood(request);
      if (request.history !== undefined) exchange.carryOn(request.history);
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
    if (this.scorer.model.explainSettings === undefined) return this.refuseBody(exchange, NO_EXPLANATIONS);
    this.spend(admission, EXPLAIN_TOKENS - 1);
    exchange.explainWith(qualityOf(request));
    const outcome = this.scorer.admitExplained(request, exchange);
    if (outcome === 'saturated') exchange.overloaded('queueFull');
    else if (outcome === 'shareFull') exchange.overloaded('explainedOfKey');
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
    return this.scorer.makeRoom() ? undefined : 'queueFull';
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

/** The bytes that `Content-Length` declares. The library looks at its form only behind us: what is none is 0. */
function lengthIn(text: string): number {
  const bytes = Number(text);
  return bytes <= Number.MAX_SAFE_INTEGER ? bytes : 0;
}

const PATIENCE_MAX_MS = 600_000;

/** `X-Deadline-Ms`: 1 to 600,000 milliseconds; what is no such number is ignored. */
function patienceIn(text: string): number {
  if (text === '' || !/^[1-9][0-9]{0,5}$/.test(text)) return Infinity;
  const ms = Number(text);
  return ms <= PATIENCE_MAX_MS ? ms : Infinity;
}

/** How the end of a body is told: by its length, where there is one; `unknown`: we can't say. */
type Framing = 'length' | 'chunked' | 'unknown';

/**
 * The library takes any `Transfer-Encoding` for `chunked`. What is in front of us may take it for something else,
 * and see a request in what we take for a body, or the reverse. Beside a length the library refuses it itself.
 */
function framingOf(req: HttpRequest, length: string): Framing {
  if (length !== '') return 'length';
  const coding = req.getHeader(TRANSFER_ENCODING);
  if (coding === '') return 'length';
  return coding.toLowerCase() === 'chunked' ? 'chunked' : 'unknown';
}

/**
 * The library ends a connection whose caller says `close`, or anything else of five letters, but does not say so; a
 * caller that keeps connections (axios, `node:http` with an agent) would send its next request on a dead one. A `close`
 * among other options it does not see at all.
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

/** Absent counts as JSON; parameters are allowed. */
function isJson(contentType: string): boolean {
  if (contentType === JSON_TYPE || contentType === '') return true;
  return contentType.split(';', 1)[0]?.trim().toLowerCase() === JSON_TYPE;
}

function isIdentity(contentEncoding: string): boolean {
  return contentEncoding === '' || contentEncoding.trim().toLowerCase() === 'identity';
}
