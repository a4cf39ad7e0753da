import {
  ConnectionError,
  HistoryInvalidError,
  InvalidRequestError,
  KeyMissingError,
  KeyRejectedError,
  MalformedRequestError,
  OverloadedError,
  RateLimitedError,
  RequestTooLargeError,
  ServiceError,
  UnexpectedAnswerError,
  UnsupportedMediaTypeError,
  WrongAddressError,
  type AcuityError,
  type Refusal,
  type RefusedError,
} from './errors.js';
import { isTooLong } from './transport.js';

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

/** What a proxy answers where the service did not, or not in time. */
const OF_PROXIES: ReadonlySet<number> = new Set([502, 504]);

/** Whether the same request may have another outcome soon. */
export function mayPass(error: AcuityError): boolean {
  if (error instanceof UnexpectedAnswerError) return OF_PROXIES.has(error.status);
  if (isTooLong(error)) return false;
  return [RateLimitedError, OverloadedError, ConnectionError].some((kind) => error instanceof kind);
}
