import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readAnswer, type Prediction } from './answer.js';
import type { PredictionRequestBody } from './contract.js';
import {
  AcuityError,
  ConnectionError,
  RateLimitedError,
  RefusedError,
  TimeoutError,
  UnexpectedAnswerError,
} from './errors.js';
import { fieldWarnings, ProcessWarnings, type FieldWarning } from './fieldNames.js';
import { Gate, isTurnGiven } from './gate.js';
import { ListAnswer, type Line } from './listAnswer.js';
import {
  listLimits,
  outcomesOf,
  type ListDesk,
  type Outcome,
  type PredictManyOptions,
  type Requests,
} from './lists.js';
import { refuseAhead } from './night.js';
import { Patience } from './patience.js';
import { refuseBrowser } from './place.js';
import { mayPass } from './refusals.js';
import { DEFAULT_RETRY, pauseBefore, type PredictOptions, type RetryOptions } from './retry.js';
import { causeOf, isConnectionFailure, NodeTransport, type Incoming, type Transport } from './transport.js';
import { VERSION } from './version.js';

export interface AcuityClientOptions {
  /** Base address of the service, for instance `https://scores.example`, without `/predict`. */
  readonly url: string;
  readonly apiKey: string;
  /** Longest wait for the answer of one attempt. Default 10,000. */
  readonly timeoutMs?: number;
  /**
   * Longest time for a whole call, pauses included: an attempt ends then however its answer trickles, and a longer
   * wait that the service asks for is not taken. Default 60,000.
   */
  readonly deadlineMs?: number;
  /** Most connections open at once. Default 32. */
  readonly connections?: number;
  readonly retry?: Partial<RetryOptions>;
  /** Called with events, for logs and metrics; they never contain keys or biometric values. */
  readonly hooks?: ClientHooks;
  /** Carries the requests, instead of Node's own HTTP client. */
  readonly transport?: Transport;
  /**
   * Writes the caller's trace context before each attempt, as OpenTelemetry does: `(carrier) =>
   * propagation.inject(context.active(), carrier)`. Only `traceparent` and `tracestate` are sent. Not needed
   * if an instrumentation of `node:http` already does so.
   */
  readonly propagate?: (carrier: Record<string, string>) => void;
  /** Allows `http:` to another machine: biometrics and the key then travel in clear. Default false. */
  readonly allowPlainHttp?: boolean;
}

export interface ClientHooks {
  /** An attempt ended with an answer, or without one (`status` undefined). */
  onAttempt?(attempt: AttemptReport): void;
  /** Another attempt follows after a pause. */
  onRetry?(retry: RetryReport): void;
  /**
   * A field is about to be ignored, most likely because its name is mistyped. Without this hook,
   * `process.emitWarning` is called once for each name.
   */
  onWarning?(warning: FieldWarning): void;
}

export interface AttemptReport {
  readonly requestId: string;
  /** Counts from 1. */
  readonly attempt: number;
  readonly status: number | undefined;
  readonly durationMs: number;
  readonly requestBytes: number;
}

/** `attempt` is the one that failed. */
export interface RetryReport extends Pick<AttemptReport, 'requestId' | 'attempt' | 'status'> {
  readonly pauseMs: number;
}

/** What tests use instead of chance and time. */
export interface ClientParts {
  readonly random: () => number;
  readonly pause: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** The service accepts no longer patience than this. */
const PATIENCE_MAX_MS = 600_000;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const KEY_FORM = /^sk_(demo|live)_[0-9A-Za-z]{38}$/;

/** A connection pool to one service with one key. Create one and reuse it. */
export class AcuityClient {
  readonly #apiKey: string;
  readonly #origin: string;
  readonly #url: string;
  readonly #transport: Transport;
  readonly #retry: RetryOptions;
  readonly #timeoutMs: number;
  readonly #deadlineMs: number;
  readonly #gate = new Gate();
  readonly #hooks: ClientHooks;
  readonly #propagate: AcuityClientOptions['propagate'];
  readonly #parts: ClientParts;
  readonly #warnings = new ProcessWarnings();
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosed = false;

  /**
   * @throws Error in a browser
   * @throws TypeError if the address or the key is not valid
   */
  constructor(options: AcuityClientOptions, parts: Partial<ClientParts> = {}) {
    refuseBrowser();
    const { timeoutMs = 10_000, deadlineMs = 60_000, connections = 32 } = options;
    this.#url = readAddress(options.url, options.allowPlainHttp ?? false);
    this.#origin = new URL(this.#url).origin;
    this.#apiKey = readKey(options.apiKey);
    this.#retry = { ...DEFAULT_RETRY, ...options.retry };
    this.#timeoutMs = timeoutMs;
    this.#deadlineMs = deadlineMs;
    this.#hooks = options.hooks ?? {};
    this.#propagate = options.propagate;
    this.#transport = options.transport ?? new NodeTransport(connections);
    this.#parts = { random: Math.random, pause, ...parts };
  }

  /**
   * Creates a client with the address and the key from the given environment, by default the process's own:
   * `ACUITY_URL` and `ACUITY_API_KEY`.
   * @throws TypeError if one of them is absent
   */
  static fromEnvironment(
    environment: Readonly<Record<string, string | undefined>>,
    options: Partial<AcuityClientOptions> = {},
  ): AcuityClient {
    const { url = environment['ACUITY_URL'], apiKey = environment['ACUITY_API_KEY'] } = options;
    if (!url) throw new TypeError('no address: set ACUITY_URL to the base address of the service');
    if (!apiKey) throw new TypeError('no key: set ACUITY_API_KEY to the key that the operator issued');
    return new AcuityClient({ ...options, url, apiKey });
  }

  /**
   * Scores one request; refusals for lack of room (429, 503), a proxy's 502 and 504, and broken connections are
   * tried again.
   * @throws AcuityError of the kind that fits, or the signal's reason; RangeError if `night` is in the future
   */
  async predict(request: PredictionRequestBody, options: PredictOptions = {}): Promise<Prediction> {
    const requestId = options.requestId ?? randomUUID();
    if (!REQUEST_ID.test(requestId)) throw new TypeError('a request id is 1 to 128 of A-Z a-z 0-9 . _ -');
    const exchange: Exchange<Prediction> = {
      contentType: 'application/json',
      body: this.#encode(request),
      read: (answer) => readAnswer(answer, requestId),
    };
    const call = this.#call(requestId, options);
    return this.#persist(call, (attempt) => this.#attempt(call, attempt, exchange));
  }

  /**
   * Scores any number of requests, many in each list that is sent, and yields one outcome per request in the
   * order of the input: an error of one request stops no other. Requests are read from the input as outcomes
   * are taken; the input must not wait for outcomes.
   *
   * The iteration throws errors that every further list would meet too (401, 403, 404, 415, and a 429 that
   * outlasts the deadline) and errors of the input, after the outcomes of the requests before; or the
   * signal's reason. Send the requests without an outcome again.
   * @throws RangeError if an option is out of range
   */
  predictMany(
    requests: Requests<PredictionRequestBody>,
    options?: PredictManyOptions,
  ): AsyncGenerator<Outcome<number>, void, undefined>;
  predictMany<Key>(
    requests: Requests<readonly [key: Key, request: PredictionRequestBody]>,
    options?: PredictManyOptions,
  ): AsyncGenerator<Outcome<Key>, void, undefined>;
  predictMany(
    requests: Requests<unknown>,
    { signal, ...options }: PredictManyOptions = {},
  ): AsyncGenerator<Outcome<unknown>, void, undefined> {
    const desk: ListDesk = {
      encode: (request) => this.#encode(request),
      send: (lines, stop, givesWay) => this.#sendLines(lines, { ...options, signal: stop }, givesWay),
    };
    return outcomesOf(requests, desk, listLimits(options), signal);
  }

  async #sendLines(lines: readonly Line[], options: PredictOptions, givesWay: () => boolean): Promise<void> {
    const call = this.#call(randomUUID(), options);
    await this.#persist(call, async (attempt) => {
      const open = lines.filter(({ isOpen }) => isOpen);
      const outcome = await this.#attempt(call, attempt, new ListAnswer(open, call.requestId));
      if (outcome === true || (outcome instanceof RateLimitedError && givesWay())) return true;
      // If the connection breaks after the last line, nothing is lost.
      const isLost = open.some(({ isOpen }) => isOpen);
      return isLost || outcome instanceof UnexpectedAnswerError ? outcome : true;
    });
  }

  #encode(request: PredictionRequestBody): string {
    for (const warning of fieldWarnings(request)) {
      if (this.#hooks.onWarning === undefined) this.#warnings.tell(warning);
      else this.#hooks.onWarning(warning);
    }
    refuseAhead(request);
    return JSON.stringify(request);
  }

  #call(requestId: string, options: PredictOptions): Call {
    const { signal, timeoutMs = this.#timeoutMs, retries = this.#retry.retries } = options;
    const { deadlineMs = this.#deadlineMs } = options;
    return { requestId, signal, timeoutMs, retries, endsMs: performance.now() + deadlineMs };
  }

  #persist<T>(call: Call, make: (attempt: number) => Promise<T | AcuityError>): Promise<T> {
    if (this.#isClosed) throw new TypeError('the client is closed');
    const outcome = this.#attempts(call, make);
    const settled = outcome.catch(() => undefined);
    this.#underWay.add(settled);
    void settled.then(() => this.#underWay.delete(settled));
    return outcome;
  }

  /** Makes attempts until one succeeds; throws the error of the last one. */
  async #attempts<T>(call: Call, make: (attempt: number) => Promise<T | AcuityError>): Promise<T> {
    const { requestId, signal } = call;
    for (let attempt = 1, failures = 0; ; attempt++) {
      await this.#turn(call);
      const outcome = await make(attempt);
      if (!(outcome instanceof AcuityError)) return outcome;
      const status = outcome instanceof RefusedError ? outcome.status : undefined;
      if (!isTurnGiven(outcome)) failures++;
      const pauseMs = this.#pauseAfter(outcome, call, Math.max(1, failures));
      if (pauseMs === undefined) throw outcome;
      if (isTurnGiven(outcome)) call.closing = this.#gate.close(outcome);
      this.#hooks.onRetry?.({ requestId, attempt, status, pauseMs });
      await this.#parts.pause(pauseMs, signal);
    }
  }

  /**
   * Waits while the key's rate is used up, as another call of this client was told. A call without retries is sent
   * all the same.
   */
  async #turn(call: Call): Promise<void> {
    for (
      let held = this.#gate.holds(call.closing);
      held !== undefined;
      held = this.#gate.holds(call.closing)
    ) {
      if (call.retries === 0) return;
      if (performance.now() + held.leftMs > call.endsMs) throw held.refusal(call.requestId);
      call.closing = held.closing;
      // No random part: calls that have waited go before those refused just now, so that none waits for ever.
      await this.#parts.pause(held.leftMs, call.signal);
    }
  }

  /** Finishes the calls in flight and closes the connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#underWay);
    await this.#transport.close();
  }

  /** One request and its answer. Throws only errors that no further attempt could fix. */
  async #attempt<T>(call: Call, attempt: number, exchange: Exchange<T>): Promise<T | AcuityError> {
    const { requestId, signal, timeoutMs, endsMs } = call;
    const { contentType, body, read } = exchange;
    const startedMs = performance.now();
    const report = (status: number | undefined): void =>
      this.#hooks.onAttempt?.({
        requestId,
        attempt,
        status,
        durationMs: performance.now() - startedMs,
        requestBytes: Buffer.byteLength(body),
      });
    const patience = new Patience(timeoutMs, endsMs, signal);
    try {
      const headers = this.#headers(requestId, Math.min(timeoutMs, endsMs - startedMs), contentType);
      const answer = await this.#transport.send({ url: this.#url, headers, body, signal: patience.signal });
      const isList = answer.status === 200 && exchange.isList;
      const outcome = await read(isList ? { ...answer, body: patience.renewedBy(answer.body) } : answer);
      report(answer.status);
      return outcome;
    } catch (error) {
      report(undefined);
      signal?.throwIfAborted();
      if (patience.over !== '') return new TimeoutError(`${this.#origin}: ${patience.over}`, requestId);
      if (error instanceof AcuityError) return error;
      if (!isConnectionFailure(error)) throw error;
      return new ConnectionError(`${this.#origin}: ${causeOf(error)}`, requestId, { cause: error });
    } finally {
      patience.end();
    }
  }

  #headers(requestId: string, patienceMs: number, contentType: string): Record<string, string> {
    return {
      ...traceHeaders(this.#propagate),
      'x-api-key': this.#apiKey,
      'content-type': contentType,
      'user-agent': `acuity-client-ts/${VERSION}`,
      'x-request-id': requestId,
      // The service need not score requests that the caller no longer waits for.
      'x-deadline-ms': String(Math.max(1, Math.min(PATIENCE_MAX_MS, Math.ceil(patienceMs)))),
    };
  }

  #pauseAfter(error: AcuityError, { retries, endsMs }: Call, attempt: number): number | undefined {
    if (!mayPass(error)) return undefined;
    const retryAfterS = error instanceof RefusedError ? error.retryAfterS : undefined;
    const pauseMs = pauseBefore({ attempt, retryAfterS }, { ...this.#retry, retries }, this.#parts.random);
    return pauseMs !== undefined && performance.now() + pauseMs > endsMs ? undefined : pauseMs;
  }
}

/** The trace context that `propagate` wrote; baggage and all else stay with the caller. */
function traceHeaders(propagate: AcuityClientOptions['propagate']): Record<string, string> {
  const carrier: Record<string, string> = {};
  propagate?.(carrier);
  const { traceparent, tracestate } = carrier;
  return {
    ...(traceparent !== undefined && { traceparent }),
    ...(tracestate !== undefined && { tracestate }),
  };
}

/** What an attempt sends, and how its answer is read. */
interface Exchange<T> {
  readonly contentType: string;
  readonly body: string;
  /** Its answer may take long, as long as it goes on. */
  readonly isList?: true;
  readonly read: (answer: Incoming) => Promise<T | AcuityError>;
}

interface Call {
  readonly requestId: string;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly retries: number;
  /** After this no further attempt begins, on the clock of `performance.now`. */
  readonly endsMs: number;
  /** The gate's last closing that this call has waited for. */
  closing?: number;
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted(); // the caller's own reason, not the timer's
    throw error;
  }
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** The URL of the endpoint below the given address. */
function readAddress(url: string, allowPlainHttp: boolean): string {
  const base = URL.canParse(url) ? new URL(url) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol)) {
    throw new TypeError('the address must be an http or https URL');
  }
  if (base.username !== '' || base.search !== '' || base.hash !== '') {
    throw new TypeError('the address must have no user, query or fragment');
  }
  if (base.protocol === 'http:' && !LOOPBACK.test(base.hostname) && !allowPlainHttp) {
    throw new TypeError(
      'http to another machine carries the key and biometrics in clear: use https, or allowPlainHttp',
    );
  }
  const prefix = base.pathname.replace(/\/+$/, '');
  if (prefix.endsWith('/predict')) throw new TypeError('give the base address, without /predict');
  return `${base.origin}${prefix}/predict`;
}

function readKey(key: string): string {
  const trimmed = key.trim();
  if (!KEY_FORM.test(trimmed)) {
    throw new TypeError('the key must be whole: sk_demo_ or sk_live_ and 38 letters and digits');
  }
  return trimmed;
}
