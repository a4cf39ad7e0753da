import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readAnswer, type Prediction } from './answer.js';
import type { PredictionRequestBody } from './contract.js';
import {
  AcuityError,
  ConnectionError,
  OverloadedError,
  RateLimitedError,
  RefusedError,
  TimeoutError,
  UnexpectedAnswerError,
} from './errors.js';
import { fetchTransport, plainHttpTransport } from './nodeTransports.js';
import { Gate, isTurnGiven, type Held } from './gate.js';
import { fieldWarnings, ProcessWarnings, type FieldWarning } from './fieldNames.js';
import { checkNightOf } from './night.js';
import { refuseBrowser } from './place.js';
import { isOpen, ListAnswer, type Line } from './listAnswer.js';
import {
  listLimits,
  outcomesOf,
  type ListDesk,
  type Outcome,
  type PredictManyOptions,
  type Requests,
} from './lists.js';
import { Patience } from './patience.js';
import { DEFAULT_RETRY, pauseBefore, type RetryOptions } from './retry.js';
import {
  causeOf,
  isConnectionFailure,
  type Incoming,
  type OpenTransport,
  type Outgoing,
  type Transport,
} from './transport.js';
import { checkRequest, unitWarnings, type UnitWarning } from './unitWarnings.js';

export interface AcuityClientOptions {
  /** Base address of the service, for instance `https://scores.example`, without `/predict`. */
  readonly url: string;
  readonly apiKey: string;
  /** Longest wait for the answer of one attempt. Default 10,000. */
  readonly timeoutMs?: number;
  /**
   * Longest time for a whole call, pauses included: no attempt begins later, and a longer wait that the
   * service asks for is not taken. Default 60,000.
   */
  readonly deadlineMs?: number;
  /** Most connections open at once. Default 32. */
  readonly connections?: number;
  readonly retry?: Partial<RetryOptions>;
  /** Called with events, for logs and metrics; they never contain keys or biometric values. */
  readonly hooks?: ClientHooks;
  /**
   * The transport of requests: by default Node's `fetch` or `node:http`; or `undiciTransport` of
   * `acuity-client/undici`, or your own.
   */
  readonly transport?: OpenTransport;
  /**
   * Writes the caller's trace context before each attempt, as OpenTelemetry does: `(carrier) =>
   * propagation.inject(context.active(), carrier)`. Only `traceparent` and `tracestate` are sent. Not needed
   * if an instrumentation of `fetch`, undici or `node:http` already does so.
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
   * A field is about to be ignored, most likely because its name is mistyped; or (with `msg`) it is scored
   * but may be in another unit. Without this hook, `process.emitWarning` is called once for each name.
   */
  onWarning?(warning: FieldWarning | UnitWarning): void;
}

export interface AttemptReport {
  readonly requestId: string;
  /** Counts from 1. */
  readonly attempt: number;
  readonly status: number | undefined;
  readonly durationMs: number;
  readonly requestBytes: number;
}

export interface RetryReport {
  readonly requestId: string;
  /** The attempt that failed. */
  readonly attempt: number;
  readonly status: number | undefined;
  readonly pauseMs: number;
}

export interface PredictOptions {
  /** Your own id for the request, `[A-Za-z0-9._-]{1,128}`; by default one is made. */
  readonly requestId?: string;
  /** Longest wait for the answer of one attempt, in place of the client's. */
  readonly timeoutMs?: number;
  /** Longest time for the whole call, in place of the client's. */
  readonly deadlineMs?: number;
  /** Attempts after the first, in place of the client's. */
  readonly retries?: number;
  /** Aborts the call, pauses between attempts included. */
  readonly signal?: AbortSignal;
}

/** What tests use instead of the network, chance and time. */
export interface ClientParts {
  readonly transport: Transport;
  readonly random: () => number;
  readonly pause: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** Names of the variables that `fromEnvironment` reads. */
export const URL_VARIABLE = 'ACUITY_URL';
export const KEY_VARIABLE = 'ACUITY_API_KEY';

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_DEADLINE_MS = 60_000;
/** The service accepts no longer patience than this. */
const PATIENCE_MAX_MS = 600_000;
const DEFAULT_CONNECTIONS = 32;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const KEY_FORM = /^sk_(demo|live)_[0-9A-Za-z]{38}$/;

/** A connection pool to one service with one key. Create one and reuse it. */
export class AcuityClient {
  readonly #apiKey: string;
  readonly #origin: string;
  readonly #path: string;
  readonly #transport: Transport;
  readonly #retry: RetryOptions;
  readonly #timeoutMs: number;
  readonly #deadlineMs: number;
  readonly #gate = new Gate();
  readonly #hooks: ClientHooks;
  readonly #propagate: AcuityClientOptions['propagate'];
  readonly #parts: Omit<ClientParts, 'transport'>;
  readonly #warnings = new ProcessWarnings();

  /**
   * @throws Error in a browser
   * @throws TypeError if the address or the key is not valid
   */
  constructor(options: AcuityClientOptions, parts: Partial<ClientParts> = {}) {
    refuseBrowser();
    const { origin, path } = readAddress(options.url, options.allowPlainHttp ?? false);
    const { timeoutMs = DEFAULT_TIMEOUT_MS, connections = DEFAULT_CONNECTIONS } = options;
    this.#apiKey = readKey(options.apiKey);
    this.#origin = origin;
    this.#path = path;
    this.#retry = { ...DEFAULT_RETRY, ...options.retry };
    this.#timeoutMs = timeoutMs;
    this.#deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS;
    this.#hooks = options.hooks ?? {};
    this.#propagate = options.propagate;
    const open = options.transport ?? (origin.startsWith('http:') ? plainHttpTransport : fetchTransport);
    this.#transport = parts.transport ?? open({ origin, connections, connectTimeoutMs: timeoutMs });
    this.#parts = { random: parts.random ?? Math.random, pause: parts.pause ?? pause };
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
    const url = options.url ?? environment[URL_VARIABLE];
    const apiKey = options.apiKey ?? environment[KEY_VARIABLE];
    if (!url) throw new TypeError(`no address: set ${URL_VARIABLE} to the base address of the service`);
    if (!apiKey) throw new TypeError(`no key: set ${KEY_VARIABLE} to the key that the operator issued`);
    return new AcuityClient({ ...options, url, apiKey });
  }

  /**
   * Scores one request; refusals for lack of room (429, 503) and broken connections are tried again.
   * @throws UnitError if a session contradicts itself, RangeError if `night` is in the future: before
   * anything is sent
   * @throws AcuityError of the kind that fits, or the signal's reason
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
      send: (lines, stop, ...told) => this.#sendLines(lines, { ...options, signal: stop }, ...told),
    };
    return outcomesOf(requests, desk, listLimits(options), signal);
  }

  async #sendLines(
    lines: readonly Line[],
    options: PredictOptions,
    told: () => void,
    givesWay: () => boolean,
  ): Promise<void> {
    const call = this.#call(randomUUID(), options);
    await this.#persist(call, async (attempt) => {
      const open = lines.filter(isOpen);
      const outcome = await this.#attempt(call, attempt, new ListAnswer(open, call.requestId, told));
      if (outcome === true || (outcome instanceof RateLimitedError && givesWay())) return true;
      // If the connection breaks after the last line, nothing is lost.
      return open.some(isOpen) || outcome instanceof UnexpectedAnswerError ? outcome : true;
    });
  }

  #encode(request: PredictionRequestBody): string {
    this.#warn(fieldWarnings(request));
    checkRequest(request);
    this.#warn(unitWarnings(request));
    checkNightOf(request);
    return JSON.stringify(request);
  }

  #call(requestId: string, options: PredictOptions): Call {
    const { signal, timeoutMs = this.#timeoutMs, retries = this.#retry.retries } = options;
    const { deadlineMs = this.#deadlineMs } = options;
    return { requestId, signal, timeoutMs, retries, endsMs: performance.now() + deadlineMs };
  }

  /** Makes attempts until one succeeds; throws the error of the last one. */
  async #persist<T>(call: Call, make: (attempt: number) => Promise<T | AcuityError>): Promise<T> {
    const { requestId, signal } = call;
    for (let attempt = 1, failures = 0; ; attempt++) {
      for (let held = this.#held(call); held !== undefined; held = this.#held(call))
        await this.#wait(call, held);
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
   * The service has refused another call of this client for its rate. A call without retries is sent all the
   * same.
   */
  #held({ retries, closing }: Call): Held | undefined {
    return retries > 0 ? this.#gate.holds(closing) : undefined;
  }

  async #wait(call: Call, { leftMs, refusal, closing }: Held): Promise<void> {
    if (performance.now() + leftMs > call.endsMs) throw refusal(call.requestId);
    call.closing = closing;
    // No random part: calls that have waited go before those refused just now, so that none waits for ever.
    await this.#parts.pause(leftMs, call.signal);
  }

  /** Finishes the calls in flight and closes the connections. */
  close(): Promise<void> {
    return this.#transport.close();
  }

  #warn(warnings: readonly (FieldWarning | UnitWarning)[]): void {
    for (const warning of warnings) {
      if (this.#hooks.onWarning === undefined) this.#warnings.tell(warning);
      else this.#hooks.onWarning(warning);
    }
  }

  /** One request and its answer. Throws only errors that no further attempt could fix. */
  async #attempt<T>(call: Call, attempt: number, exchange: Exchange<T>): Promise<T | AcuityError> {
    const { requestId, signal, timeoutMs } = call;
    const { contentType, body, onText, read } = exchange;
    const startedMs = performance.now();
    const report = (status: number | undefined): void =>
      this.#hooks.onAttempt?.({
        requestId,
        attempt,
        status,
        durationMs: performance.now() - startedMs,
        requestBytes: Buffer.byteLength(body),
      });
    const patience = new Patience(timeoutMs, signal);
    let answer: Incoming;
    try {
      const headers = this.#headers(requestId, timeoutMs, contentType);
      const sending = { path: this.#path, headers, body, signal: patience.signal };
      answer = await this.#transport.send(
        onText === undefined ? sending : { ...sending, onText: patience.renewedBy(onText) },
      );
    } catch (error) {
      report(undefined);
      signal?.throwIfAborted();
      if (patience.isOver)
        return new TimeoutError(`${this.#origin}: no answer within ${timeoutMs} ms`, requestId);
      if (error instanceof AcuityError) return error;
      if (!isConnectionFailure(error)) throw error;
      return new ConnectionError(`${this.#origin}: ${causeOf(error)}`, requestId, { cause: error });
    } finally {
      patience.end();
    }
    report(answer.status);
    return read(answer);
  }

  #headers(requestId: string, timeoutMs: number, contentType: string): Record<string, string> {
    return {
      ...traceHeaders(this.#propagate),
      'x-api-key': this.#apiKey,
      'content-type': contentType,
      'x-request-id': requestId,
      // The service need not score requests that the caller no longer waits for.
      'x-deadline-ms': String(Math.max(1, Math.min(PATIENCE_MAX_MS, Math.ceil(timeoutMs)))),
    };
  }

  #pauseAfter(error: AcuityError, { retries, endsMs }: Call, attempt: number): number | undefined {
    const isPassing =
      error instanceof RateLimitedError ||
      error instanceof OverloadedError ||
      error instanceof ConnectionError;
    if (!isPassing) return undefined;
    const retryAfterS = error instanceof ConnectionError ? undefined : error.retryAfterS;
    const pauseMs = pauseBefore({ attempt, retryAfterS }, { ...this.#retry, retries }, this.#parts.random);
    return pauseMs !== undefined && performance.now() + pauseMs > endsMs ? undefined : pauseMs;
  }
}

const TRACE_HEADERS = ['traceparent', 'tracestate'] as const;

/** The trace context that `propagate` wrote; baggage and all else stay with the caller. */
function traceHeaders(propagate: AcuityClientOptions['propagate']): Record<string, string> {
  if (propagate === undefined) return {};
  const carrier: Record<string, string> = {};
  propagate(carrier);
  const found: Record<string, string> = {};
  for (const name of TRACE_HEADERS) if (carrier[name] !== undefined) found[name] = carrier[name];
  return found;
}

/** What an attempt sends, and how its answer is read. */
interface Exchange<T> {
  readonly contentType: string;
  readonly body: string;
  readonly onText?: Outgoing['onText'];
  readonly read: (answer: Incoming) => T | AcuityError;
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

function readAddress(url: string, allowPlainHttp: boolean): { origin: string; path: string } {
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
  return { origin: base.origin, path: `${prefix}/predict` };
}

function readKey(key: string): string {
  const trimmed = key.trim();
  if (!KEY_FORM.test(trimmed)) {
    throw new TypeError('the key must be whole: sk_demo_ or sk_live_ and 38 letters and digits');
  }
  return trimmed;
}
