import type { Finding } from './contract.js';

/**
 * The base of all errors that leave a request without scores. No message contains a key or a biometric value.
 */
export class AcuityError extends Error {
  override readonly name: string = 'AcuityError';

  constructor(
    message: string,
    /** The id under which the service's log knows the request. */
    readonly requestId: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * No answer within the time-out. It is unknown whether the service scored the request; scoring changes
 * nothing there.
 */
export class TimeoutError extends AcuityError {
  override readonly name = 'TimeoutError';
}

/** The connection could not be made, or broke before the answer. */
export class ConnectionError extends AcuityError {
  override readonly name = 'ConnectionError';
}

/** The content of a refusal. */
export interface Refusal {
  readonly status: number;
  /** The answer's `detail`; empty if it is not text. */
  readonly detail: string;
  readonly findings: readonly Finding[];
  readonly requestId: string;
  /** Seconds from `Retry-After`. */
  readonly retryAfterS: number | undefined;
  /** `RateLimit`: which limit was reached. */
  readonly rateLimit: string | undefined;
  /** `RateLimit-Policy`: how much that limit allows, such as "20 in 2 s". */
  readonly limit?: string | undefined;
}

/** The service answered, but not with scores. */
export class RefusedError extends AcuityError {
  override readonly name: string = 'RefusedError';
  readonly status: number;
  readonly detail: string;

  constructor(remedy: string, { status, detail, requestId }: Refusal) {
    super(`${status}${detail === '' ? '' : ` ${detail}`}: ${remedy}`, requestId);
    this.status = status;
    this.detail = detail;
  }
}

/**
 * 400: the body that arrived is not JSON. With this client, something between it and the service has changed
 * it.
 */
export class MalformedRequestError extends RefusedError {
  override readonly name = 'MalformedRequestError';
  constructor(refusal: Refusal) {
    super('the body was not JSON when it arrived; look at what stands in between', refusal);
  }
}

/** 401: the key did not arrive. */
export class KeyMissingError extends RefusedError {
  override readonly name = 'KeyMissingError';
  constructor(refusal: Refusal) {
    super('the key did not arrive; does a proxy take the header X-API-Key out?', refusal);
  }
}

/** 403: the key is not accepted. */
export class KeyRejectedError extends RefusedError {
  override readonly name = 'KeyRejectedError';
  constructor(refusal: Refusal) {
    super('the key is unknown, expired or revoked; ask the operator to renew or replace it', refusal);
  }
}

/** 404 or 405: the address leads to another server, or has a wrong prefix. */
export class WrongAddressError extends RefusedError {
  override readonly name = 'WrongAddressError';
  constructor(refusal: Refusal) {
    super('no scoring service at this address; give the base address, without /predict', refusal);
  }
}

/** 413: the request is longer than the operator allows. */
export class RequestTooLargeError extends RefusedError {
  override readonly name = 'RequestTooLargeError';
  constructor(refusal: Refusal) {
    super('send fewer samples', refusal);
  }
}

/** 415: the headers did not arrive as they were sent. */
export class UnsupportedMediaTypeError extends RefusedError {
  override readonly name = 'UnsupportedMediaTypeError';
  constructor(refusal: Refusal) {
    super(
      'the headers were changed on the way, or the body compressed; or, of a list, the service is older than this client',
      refusal,
    );
  }
}

/** 422: the request is JSON but not valid; `findings` say where and why. */
export class InvalidRequestError extends RefusedError {
  override readonly name: string = 'InvalidRequestError';
  readonly findings: readonly Finding[];
  constructor(refusal: Refusal, remedy = '') {
    const found = refusal.findings.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');
    super(`${found}${remedy}`, refusal);
    this.findings = refusal.findings;
  }
}

/** 422 for a history that differs from the one the service gave, or is of another version. */
export class HistoryInvalidError extends InvalidRequestError {
  override readonly name = 'HistoryInvalidError';
  constructor(refusal: Refusal) {
    super(
      refusal,
      '; restore what was stored of the person, or forget them: their next night begins a history',
    );
  }
}

/** 429: the key's rate or its daily quota is used up. */
export class RateLimitedError extends RefusedError {
  override readonly name = 'RateLimitedError';
  /** Seconds until another attempt may succeed. */
  readonly retryAfterS: number | undefined;
  /** The limit that was reached, as the header `RateLimit` has it. */
  readonly rateLimit: string | undefined;
  /** How much the limit allows, such as "20 in 2 s"; undefined if the service did not say. */
  readonly limit: string | undefined;
  constructor(refusal: Refusal) {
    const allowed = refusal.limit === undefined ? '' : `the key has ${refusal.limit}; `;
    super(`${allowed}try again in ${refusal.retryAfterS ?? 'some'} s, or ask for a higher limit`, refusal);
    this.retryAfterS = refusal.retryAfterS;
    this.rateLimit = refusal.rateLimit;
    this.limit = refusal.limit;
  }
}

/** 503, or 429 if the operator has configured that: overloaded, or stopping. */
export class OverloadedError extends RefusedError {
  override readonly name = 'OverloadedError';
  readonly retryAfterS: number | undefined;
  constructor(refusal: Refusal) {
    super('the service stayed overloaded through every attempt', refusal);
    this.retryAfterS = refusal.retryAfterS;
  }
}

/** 500: an error inside the service. */
export class ServiceError extends RefusedError {
  override readonly name = 'ServiceError';
  constructor(refusal: Refusal) {
    super(`tell the operator the request id ${refusal.requestId}`, refusal);
  }
}

/** An answer that did not come from the service, but most likely from a proxy before it. */
export class UnexpectedAnswerError extends RefusedError {
  override readonly name = 'UnexpectedAnswerError';
  constructor(refusal: Refusal) {
    super('not an answer of this service; something else stands in front of it', refusal);
  }
}

const BY_STATUS: Readonly<Record<number, new (refusal: Refusal) => RefusedError>> = {
  400: MalformedRequestError,
  401: KeyMissingError,
  403: KeyRejectedError,
  404: WrongAddressError,
  405: WrongAddressError,
  413: RequestTooLargeError,
  415: UnsupportedMediaTypeError,
  422: InvalidRequestError,
  429: RateLimitedError,
  500: ServiceError,
  503: OverloadedError,
};

/** The causes of an overload, under either status. */
const OVERLOADED = 'Service overloaded';

/** The error for a refusal. */
export function errorFor(refusal: Refusal): RefusedError {
  if (refusal.findings.some(({ type }) => type === 'history_invalid'))
    return new HistoryInvalidError(refusal);
  if (refusal.status === 429 && refusal.detail === OVERLOADED) return new OverloadedError(refusal);
  return new (BY_STATUS[refusal.status] ?? UnexpectedAnswerError)(refusal);
}
