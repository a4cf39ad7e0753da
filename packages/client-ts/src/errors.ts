import type { Finding } from './contract.js';

/** The base of all errors that leave a request without scores. No message contains a key or a biometric value. */
export class AcuityError extends Error {
  override readonly name: string = 'AcuityError';
  /** Of the answer; undefined without one. */
  readonly status: number | undefined;

  constructor(
    message: string,
    /** The id under which the service's log knows the request. */
    readonly requestId: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** In an outcome of `predictMany`: the request could not be sent; `cause` is what `predict` would have thrown. */
export class UnsentError extends AcuityError {
  override readonly name = 'UnsentError';
}

/** No answer within the time-out. Whether the service scored the request is unknown; scoring changes nothing. */
export class TimeoutError extends AcuityError {
  override readonly name = 'TimeoutError';
}

/** The connection could not be made, or broke before the answer. */
export class ConnectionError extends AcuityError {
  override readonly name = 'ConnectionError';
}

/** Headers of an answer by their lower-case names, such as `ratelimit` and `server-timing`. */
export type Headers = Readonly<Record<string, string>>;

/** The content of a refusal. */
export interface Refusal {
  readonly requestId: string;
  readonly status: number;
  /** The answer's `detail`; empty if it is not text. */
  readonly detail: string;
  readonly findings?: readonly Finding[];
  /** Seconds from `Retry-After`. */
  readonly retryAfterS: number | undefined;
  /** `RateLimit-Policy`: how much the limit that was reached allows, such as "20 in 2 s". */
  readonly limit?: string | undefined;
  readonly headers: Headers;
}

/** The service answered, but not with scores. */
export class RefusedError extends AcuityError {
  override readonly name: string = 'RefusedError';
  /** What the caller can do. */
  protected static readonly remedy: string = '';
  override readonly status: number;
  readonly detail: string;
  /** Seconds until another attempt may succeed, if the answer says so. */
  readonly retryAfterS: number | undefined;
  /** `RateLimit`: the limit that was reached. */
  readonly rateLimit: string | undefined;
  readonly headers: Headers;

  constructor(refusal: Refusal, remedy = new.target.remedy) {
    const { status, detail, requestId, retryAfterS, headers } = refusal;
    super(`${status}${detail === '' ? '' : ` ${detail}`}: ${remedy}`, requestId);
    this.status = status;
    this.detail = detail;
    this.retryAfterS = retryAfterS;
    this.rateLimit = headers['ratelimit'];
    this.headers = headers;
  }
}

/** 400: the body that arrived is not JSON, because something between the client and the service changed it. */
export class MalformedRequestError extends RefusedError {
  override readonly name = 'MalformedRequestError';
  protected static override readonly remedy =
    'the body was not JSON when it arrived; look at what stands in between';
}

/** 401: the key did not arrive. */
export class KeyMissingError extends RefusedError {
  override readonly name = 'KeyMissingError';
  protected static override readonly remedy =
    'the key did not arrive; does a proxy take the header X-API-Key out?';
}

/** 403: the key is not accepted. */
export class KeyRejectedError extends RefusedError {
  override readonly name = 'KeyRejectedError';
  protected static override readonly remedy =
    'the key is unknown, expired or revoked; ask the operator to renew or replace it';
}

/** 404 or 405: the address leads to another server, or has a wrong prefix. */
export class WrongAddressError extends RefusedError {
  override readonly name = 'WrongAddressError';
  protected static override readonly remedy =
    'no scoring service at this address; give the base address, without /predict';
}

/** 413: the request is longer than the operator allows. */
export class RequestTooLargeError extends RefusedError {
  override readonly name = 'RequestTooLargeError';
  protected static override readonly remedy = 'send fewer samples';
}

/** 415: the headers did not arrive as they were sent. */
export class UnsupportedMediaTypeError extends RefusedError {
  override readonly name = 'UnsupportedMediaTypeError';
  protected static override readonly remedy =
    'the headers were changed on the way, or the body compressed; or, of a list, the service is older than this client';
}

/** 422: the request is JSON but not valid; `findings` say where and why. */
export class InvalidRequestError extends RefusedError {
  override readonly name: string = 'InvalidRequestError';
  readonly findings: readonly Finding[];

  constructor(refusal: Refusal) {
    const { findings = [] } = refusal;
    const found = findings.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');
    super(refusal, found + new.target.remedy);
    this.findings = findings;
  }
}

/** 422 for a history that differs from the one the service gave, or is of another version. */
export class HistoryInvalidError extends InvalidRequestError {
  override readonly name = 'HistoryInvalidError';
  protected static override readonly remedy =
    '; restore what was stored of the person, or forget them: their next night begins a history';
}

/** 429: the key's rate or its daily quota is used up. */
export class RateLimitedError extends RefusedError {
  override readonly name = 'RateLimitedError';
  /** How much the limit allows, such as "20 in 2 s"; undefined if the service did not say. */
  readonly limit: string | undefined;

  constructor(refusal: Refusal) {
    const allowed = refusal.limit === undefined ? '' : `the key has ${refusal.limit}; `;
    super(refusal, `${allowed}try again in ${refusal.retryAfterS ?? 'some'} s, or ask for a higher limit`);
    this.limit = refusal.limit;
  }
}

/** 503, or 429 if the operator has configured that: overloaded, or stopping. */
export class OverloadedError extends RefusedError {
  override readonly name = 'OverloadedError';
  protected static override readonly remedy = 'the service is overloaded or stopping; try again later';
}

/** 500: an error inside the service. */
export class ServiceError extends RefusedError {
  override readonly name = 'ServiceError';
  constructor(refusal: Refusal) {
    super(refusal, `tell the operator the request id ${refusal.requestId}`);
  }
}

/** An answer that did not come from the service, but most likely from a proxy before it. */
export class UnexpectedAnswerError extends RefusedError {
  override readonly name = 'UnexpectedAnswerError';
  protected static override readonly remedy =
    'not an answer of this service; something else stands in front of it';
}
