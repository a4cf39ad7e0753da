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
} from './errors.js';
import { fetchTransport, plainHttpTransport } from './nodeTransports.js';
import { Gate, isTurnGiven, type Held } from './gate.js';
import { fieldWarnings, ProcessWarnings, type FieldWarning } from './fieldNames.js';
import { checkNightOf } from './night.js';
import { refuseBrowser } from './place.js';
import { DEFAULT_RETRY, pauseBefore, type RetryOptions } from './retry.js';
import {
  codeOf,
  isConnectionFailure,
  type Incoming,
  type OpenTransport,
  type Transport,
} from './transport.js';
import { checkRequest } from './unitChecks.js';

export interface AcuityClientOptions {
  /** Base address of the service, as `https://scores.example`, without `/predict`. */
  readonly url: string;
  readonly apiKey: string;
  /** Longest wait for the answer of one attempt. Default 10,000. */
  readonly timeoutMs?: number;
  /**
   * Longest time for a whole call, pauses included: no attempt is begun later, and what the service asks to wait beyond
   * it is not waited for. Default 60,000.
   */
  readonly deadlineMs?: number;
  /** Most connections open at once. Default 32. */
  readonly connections?: number;
  readonly retry?: Partial<RetryOptions>;
  /** Told of what happens, for logs and metrics; never of keys or biometric values. */
  readonly hooks?: ClientHooks;
  /** How requests travel: by Node's `fetch` or `node:http`, or `undiciTransport` of `acuity-client/undici`, or your own. */
  readonly transport?: OpenTransport;
  /**
   * Writes the caller's trace context, before each attempt, as OpenTelemetry does:
   * `(carrier) => propagation.inject(context.active(), carrier)`. `traceparent` and `tracestate` are sent, nothing
   * else of it. Not needed where an instrumentation of `fetch`, undici or `node:http` does so already.
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
  /** A field is about to be ignored, and most likely mistyped. Without it, `process.emitWarning`, once for each name. */
  onWarning?(warning: FieldWarning): void;
}

export interface AttemptReport {
  readonly requestId: string;
  /** From 1 on. */
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
  /** Your own id for the request, `[A-Za-z0-9._-]{1,128}`; one is made where it is absent. */
  readonly requestId?: string;
  /** Longest wait for the answer of one attempt, in place of the client's. */
  readonly timeoutMs?: number;
  /** Longest time for the whole call, in place of the client's. */
  readonly deadlineMs?: number;
  /** Attempts after the first, in place of the client's. */
  readonly retries?: number;
  /** Gives the request up, pauses between attempts included. */
  readonly signal?: AbortSignal;
}

/** What tests put in the place of the network, chance and time. */
export interface ClientParts {
  readonly transport: Transport;
  readonly random: () => number;
  readonly pause: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** Names of the variables that `fromEnvironment` looks for. */
export const URL_VARIABLE = 'ACUITY_URL';
export const KEY_VARIABLE = 'ACUITY_API_KEY';

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_DEADLINE_MS = 60_000;
/** The service takes no longer patience than this. */
const PATIENCE_MAX_MS = 600_000;
const DEFAULT_CONNECTIONS = 32;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const KEY_FORM = /^sk_(demo|live)_[0-9A-Za-z]{38}$/;

/** A connection pool to one service with one key. Make one and keep it. */
export class AcuityClient {
  readonly #apiKey: string;
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
   * @throws TypeError where the address or the key can't be one
   */
  constructor(options: AcuityClientOptions, parts: Partial<ClientParts> = {}) {
    refuseBrowser();
    const { origin, path } = readAddress(options.url, options.allowPlainHttp ?? false);
    const { timeoutMs = DEFAULT_TIMEOUT_MS, connections = DEFAULT_CONNECTIONS } = options;
    this.#apiKey = readKey(options.apiKey);
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
   * A client with the address and the key from the environment that is given, the process's own as a rule:
   * `ACUITY_URL` and `ACUITY_API_KEY`.
   * @throws TypeError where one of them is absent
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
   * Scores one request; refusals for want of room (429, 503) and broken connections are tried again.
   * @throws UnitError where a session contradicts itself, RangeError where `night` lies ahead: before anything is sent
   * @throws AcuityError of the kind that fits, or the signal's reason
   */
  async predict(request: PredictionRequestBody, options: PredictOptions = {}): Promise<Prediction> {
    const requestId = options.requestId ?? randomUUID();
    if (!REQUEST_ID.test(requestId)) throw new TypeError('a request id is 1 to 128 of A-Z a-z 0-9 . _ -');
    this.#warn(request);
    checkRequest(request);
    checkNightOf(request);
    const { signal, timeoutMs = this.#timeoutMs, retries = this.#retry.retries } = options;
    const { deadlineMs = this.#deadlineMs } = options;
    const endsMs = performance.now() + deadlineMs;
    const call: Call = { requestId, body: JSON.stringify(request), signal, timeoutMs, retries, endsMs };
    for (let attempt = 1, failures = 0; ; attempt++) {
      for (let held = this.#held(call); held !== undefined; held = this.#held(call))
        await this.#wait(call, held);
      const outcome = await this.#attempt(call, attempt);
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

  /** The service has refused another call of this client for its rate; a call that wants no retries finds out by itself. */
  #held({ retries, closing }: Call): Held | undefined {
    return retries > 0 ? this.#gate.holds(closing) : undefined;
  }

  async #wait(call: Call, { leftMs, refusal, closing }: Held): Promise<void> {
    if (performance.now() + leftMs > call.endsMs) throw refusal(call.requestId);
    call.closing = closing;
    // No random part: those who have waited go before those who were refused just now, so that none waits for ever.
    await this.#parts.pause(leftMs, call.signal);
  }

  /** Finishes what is under way and closes the connections. */
  close(): Promise<void> {
    return this.#transport.close();
  }

  #warn(request: PredictionRequestBody): void {
    for (const warning of fieldWarnings(request)) {
      if (this.#hooks.onWarning === undefined) this.#warnings.tell(warning);
      else this.#hooks.onWarning(warning);
    }
  }

  /** One way there and back. Throws only what no further attempt could mend. */
  async #attempt(call: Call, attempt: number): Promise<Prediction | AcuityError> {
    const { requestId, body, signal, timeoutMs } = call;
    const startedMs = performance.now();
    const report = (status: number | undefined): void =>
      this.#hooks.onAttempt?.({
        requestId,
        attempt,
        status,
        durationMs: performance.now() - startedMs,
        requestBytes: Buffer.byteLength(body),
      });
    const timeout = AbortSignal.timeout(timeoutMs);
    let answer: Incoming;
    try {
      const either = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
      const headers = this.#headers(requestId, timeoutMs);
      answer = await this.#transport.send({ path: this.#path, headers, body, signal: either });
    } catch (error) {
      report(undefined);
      signal?.throwIfAborted();
      if (timeout.aborted) return new TimeoutError(`no answer within ${timeoutMs} ms`, requestId);
      if (!isConnectionFailure(error)) throw error;
      return new ConnectionError(`no connection: ${codeOf(error) ?? 'unknown cause'}`, requestId, {
        cause: error,
      });
    }
    report(answer.status);
    return readAnswer(answer, requestId);
  }

  #headers(requestId: string, timeoutMs: number): Record<string, string> {
    return {
      ...traceHeaders(this.#propagate),
      'x-api-key': this.#apiKey,
      'content-type': 'application/json',
      'x-request-id': requestId,
      // The service need not score what is no longer waited for.
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

/** What `propagate` wrote for a trace; baggage and all else stay with the caller. */
function traceHeaders(propagate: AcuityClientOptions['propagate']): Record<string, string> {
  if (propagate === undefined) return {};
  const carrier: Record<string, string> = {};
  propagate(carrier);
  const found: Record<string, string> = {};
  for (const name of TRACE_HEADERS) if (carrier[name] !== undefined) found[name] = carrier[name];
  return found;
}

interface Call {
  readonly requestId: string;
  readonly body: string;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly retries: number;
  /** When no further attempt is begun, as `performance.now` tells it. */
  readonly endsMs: number;
  /** Of the gate: the last one that this call has waited for. */
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
