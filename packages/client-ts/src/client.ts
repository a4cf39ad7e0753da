import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readAnswer, type Prediction } from './answer.js';
import { readAddress, readKey, refuseAhead, refuseBrowser } from './checks.js';
import type { PredictionRequestBody } from './contract.js';
import {
  AcuityError,
  ConnectionError,
  RateLimitedError,
  RefusedError,
  TimeoutError,
  UnexpectedAnswerError,
} from './errors.js';
import { warnOfSlips } from './fieldNames.js';
import {
  exchangeOf,
  isOpen,
  listLimits,
  outcomesOf,
  type Line,
  type Outcome,
  type PredictManyOptions,
  type Requests,
} from './lists.js';
import { Patience } from './patience.js';
import { DEFAULT_RETRY, mayPass, pauseBefore, type PredictOptions, type RetryOptions } from './retry.js';
import { causeOf, NodeTransport, type Exchange, type Transport } from './transport.js';
import { VERSION } from './version.js';

export interface AcuityClientOptions {
  /** Base address of the service, for instance `https://scores.example`, without `/predict`. */
  readonly url: string;
  /** The key, or a function that gives it, called before each attempt: a rotated key needs no other client. */
  readonly apiKey: string | (() => string | Promise<string>);
  /** Your own, sent with each request; those of the client itself can't be replaced. */
  readonly headers?: Readonly<Record<string, string>>;
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
  /** Called before each pause, for logs and metrics: another attempt follows. */
  readonly onRetry?: (retry: RetryReport) => void;
  /** Carries the requests, instead of Node's own HTTP client. */
  readonly transport?: Transport;
  /** Allows `http:` to another machine: biometrics and the key then travel in clear. Default false. */
  readonly allowPlainHttp?: boolean;
}

/** Which attempt failed, and how long the pause is; never a key or a biometric value. */
export interface RetryReport {
  readonly requestId: string;
  /** Counts from 1. */
  readonly attempt: number;
  /** Undefined without an answer. */
  readonly status: number | undefined;
  readonly pauseMs: number;
}

/** What a client and its copies share. */
interface Pool {
  readonly transport: Transport;
  readonly underWay: Set<Promise<unknown>>;
  isClosed: boolean;
}

/** What tests use instead of chance and time; a copy gets the pool. */
export interface ClientParts {
  readonly pool?: Pool;
  readonly random: () => number;
  readonly pause: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** The service accepts no longer patience than this. */
const PATIENCE_MAX_MS = 600_000;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** A connection pool to one service with one key. Create one and reuse it. */
export class AcuityClient {
  readonly #options: AcuityClientOptions;
  readonly #apiKey: () => string | Promise<string>;
  readonly #url: string;
  readonly #limits: RetryOptions & { readonly timeoutMs: number; readonly deadlineMs: number };
  readonly #parts: ClientParts;
  readonly #pool: Pool;
  readonly #warned = new Set<string>();

  /**
   * @throws Error in a browser
   * @throws TypeError if the address or the key is not valid
   */
  constructor(options: AcuityClientOptions, parts: Partial<ClientParts> = {}) {
    refuseBrowser();
    const { apiKey, timeoutMs = 10_000, deadlineMs = 60_000, connections = 32 } = options;
    this.#url = readAddress(options.url, options.allowPlainHttp ?? false);
    this.#options = options;
    const key = typeof apiKey === 'string' ? readKey(apiKey) : '';
    this.#apiKey = typeof apiKey === 'string' ? () => key : async () => readKey(await apiKey());
    this.#limits = { timeoutMs, deadlineMs, ...DEFAULT_RETRY, ...options.retry };
    this.#parts = { random: Math.random, pause, ...parts };
    const transport = parts.pool?.transport ?? options.transport ?? new NodeTransport(connections);
    this.#pool = parts.pool ?? { transport, underWay: new Set(), isClosed: false };
  }

  /** A copy with other options, on the same connections: closing one closes both. */
  withOptions(options: Partial<Omit<AcuityClientOptions, 'connections' | 'transport'>>): AcuityClient {
    const retry = { ...this.#options.retry, ...options.retry };
    return new AcuityClient({ ...this.#options, ...options, retry }, { ...this.#parts, pool: this.#pool });
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
   * Scores one request; 408, 429, every 5xx but 501 and 505, time-outs and broken connections are tried again.
   * @throws AcuityError of the kind that fits, or the signal's reason; RangeError if `night` is in the future
   */
  async predict(request: PredictionRequestBody, options: PredictOptions = {}): Promise<Prediction> {
    const requestId = options.requestId ?? randomUUID();
    if (!REQUEST_ID.test(requestId)) throw new TypeError('a request id is 1 to 128 of A-Z a-z 0-9 . _ -');
    const exchange: Exchange<Prediction> = {
      body: this.#encode(request),
      read: (answer) => readAnswer(answer, requestId),
    };
    const call = this.#call(requestId, options);
    return this.#persist(call, () => this.#attempt(call, exchange));
  }

  /**
   * Scores any number of requests, many in each list, one list after the other, and yields one outcome per request in
   * the order of the input: an error of one request stops no other. Requests are read from the input as outcomes are
   * taken, no more than one list holds.
   *
   * The iteration throws errors that every further list would meet too (401, 403, 404, 415, and a 429 that
   * outlasts the deadline) and errors of the input, after the outcomes of the requests before; or the
   * signal's reason. Send the requests without an outcome again.
   * @throws RangeError if an option is out of range
   */
  predictMany<Key = number>(
    requests: Requests<PredictionRequestBody> | Requests<readonly [key: Key, request: PredictionRequestBody]>,
    options: PredictManyOptions = {},
  ): AsyncGenerator<Outcome<Key>, void, undefined> {
    const desk = {
      encode: (request: PredictionRequestBody) => this.#encode(request),
      send: (lines: readonly Line[]) => this.#sendLines(lines, options),
    };
    return outcomesOf<Key>(requests, desk, listLimits(options), options.signal);
  }

  /** Sends lines until each is settled. */
  async #sendLines(lines: readonly Line[], options: PredictOptions): Promise<void> {
    const call = this.#call(randomUUID(), options);
    await this.#persist(call, async () => {
      const open = lines.filter(isOpen);
      const outcome = await this.#attempt(call, exchangeOf(open, call.requestId));
      // If the connection breaks after the last line, nothing is lost.
      return open.some(isOpen) || outcome instanceof UnexpectedAnswerError ? outcome : true;
    });
  }

  #encode(request: PredictionRequestBody): string {
    warnOfSlips(request, this.#warned);
    refuseAhead(request);
    return JSON.stringify(request);
  }

  #call(requestId: string, options: PredictOptions): Call {
    const { signal, timeoutMs = this.#limits.timeoutMs, deadlineMs = this.#limits.deadlineMs } = options;
    const retry = { ...this.#limits, retries: options.retries ?? this.#limits.retries };
    const headers = lowered({ ...this.#options.headers, ...options.headers });
    return { requestId, headers, signal, timeoutMs, retry, endsMs: performance.now() + deadlineMs };
  }

  #persist<T>(call: Call, make: () => Promise<T | AcuityError>): Promise<T> {
    if (this.#pool.isClosed) throw new TypeError('the client is closed');
    const outcome = this.#attempts(call, make);
    const settled = outcome.catch(() => undefined);
    this.#pool.underWay.add(settled);
    void settled.then(() => this.#pool.underWay.delete(settled));
    return outcome;
  }

  /** Makes attempts until one succeeds; throws the error of the last one. */
  async #attempts<T>(call: Call, make: () => Promise<T | AcuityError>): Promise<T> {
    const { requestId, signal } = call;
    for (let attempt = 1, failures = 0; ; attempt++) {
      const outcome = await make();
      if (!(outcome instanceof AcuityError)) return outcome;
      const { status, retryAfterS }: Partial<RefusedError> = outcome instanceof RefusedError ? outcome : {};
      // A refusal for the key's rate that says when to ask again is no failure: the call waits its turn.
      const isTurnGiven = outcome instanceof RateLimitedError && retryAfterS !== undefined;
      if (!isTurnGiven) failures++;
      const pauseMs = pauseBefore(Math.max(1, failures), call.retry, this.#parts.random, retryAfterS);
      const isOver = pauseMs === undefined || performance.now() + pauseMs > call.endsMs;
      if (!mayPass(outcome) || isOver) throw outcome;
      this.#options.onRetry?.({ requestId, attempt, status, pauseMs });
      await this.#parts.pause(pauseMs, signal);
    }
  }

  /** Finishes the calls in flight and closes the connections. */
  async close(): Promise<void> {
    this.#pool.isClosed = true;
    await Promise.all(this.#pool.underWay);
    await this.#pool.transport.close();
  }

  /** One request and its answer. Throws only errors that no further attempt could fix. */
  async #attempt<T>(call: Call, { body, isList, read }: Exchange<T>): Promise<T | AcuityError> {
    const { requestId, signal, timeoutMs, endsMs } = call;
    const patienceMs = Math.min(timeoutMs, endsMs - performance.now(), PATIENCE_MAX_MS);
    const patience = new Patience(timeoutMs, endsMs, signal);
    try {
      const key = this.#apiKey();
      const headers = {
        ...call.headers,
        'x-api-key': typeof key === 'string' ? key : await key,
        'content-type': isList ? 'application/x-ndjson' : 'application/json',
        'user-agent': `acuity-client-ts/${VERSION}`,
        'x-request-id': requestId,
        // The service need not score requests that the caller no longer waits for.
        'x-deadline-ms': String(Math.max(1, Math.ceil(patienceMs))),
      };
      patience.signal.throwIfAborted(); // the key may have taken a while
      const answer = await this.#pool.transport.send({
        url: this.#url,
        headers,
        body,
        signal: patience.signal,
      });
      const isRenewed = answer.status === 200 && isList;
      return await read(isRenewed ? { ...answer, body: patience.renewedBy(answer.body) } : answer);
    } catch (error) {
      signal?.throwIfAborted();
      const { origin } = new URL(this.#url);
      if (patience.over !== '') return new TimeoutError(`${origin}: ${patience.over}`, requestId);
      if (error instanceof AcuityError) return error;
      const failure = causeOf(error);
      if (failure === undefined) throw error;
      return new ConnectionError(`${origin}: ${failure}`, requestId, { cause: error });
    } finally {
      patience.end();
    }
  }
}

interface Call {
  readonly requestId: string;
  /** The caller's own. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly retry: RetryOptions;
  /** After this no further attempt begins, on the clock of `performance.now`. */
  readonly endsMs: number;
}

function lowered(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Rejects with the caller's own reason, not the timer's. */
const pause: ClientParts['pause'] = (ms, signal) =>
  sleep(ms, undefined, signal && { signal }).finally(() => signal?.throwIfAborted());
