/**
 * The entry for bundlers of web pages, in place of `entry.ts`, with the same names. Everything that needs no key
 * works, so code that server and page share can be bundled; the rest throws an error that says why.
 */
import { refuseBrowser } from './place.js';

const WEB_PAGE = { window: true };

export class AcuityClient {
  /** @throws Error always: a page must have no key */
  constructor() {
    refuseBrowser(WEB_PAGE);
  }

  static fromEnvironment(): AcuityClient {
    return new AcuityClient();
  }
}

/** Throws as the client does, which it would need. */
export class History extends AcuityClient {}

/** @throws Error always: histories belong on the server, as the client does */
export function memoryStorage(): void {
  refuseBrowser(WEB_PAGE);
}

/** Never thrown on a page; here for `instanceof`. */
export class HistoryContendedError extends Error {
  override readonly name = 'HistoryContendedError';
}

export { describeScore } from './describeScore.js';
export {
  AcuityError,
  ConnectionError,
  HistoryInvalidError,
  InvalidRequestError,
  KeyMissingError,
  KeyRejectedError,
  MalformedRequestError,
  OverloadedError,
  RateLimitedError,
  RefusedError,
  RequestTooLargeError,
  ServiceError,
  TimeoutError,
  UnexpectedAnswerError,
  UnsupportedMediaTypeError,
  WrongAddressError,
} from './errors.js';
export { NORMS, percentileOf, pss10Sum, vigilanceSpeed } from './norms.js';
export { SessionBuilder } from '#adapters/sessionBuilder.js';
export { UnitError } from '#adapters/unitChecks.js';
