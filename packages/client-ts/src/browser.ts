/**
 * The entry for bundlers of web pages, in place of `entry.ts`, with the same names: code that server and page share
 * can be bundled, and what needs a key throws an error that says why.
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

export class History extends AcuityClient {}

export class NodeTransport extends AcuityClient {}

export function memoryStorage(): void {
  refuseBrowser(WEB_PAGE);
}

/** Never thrown on a page; here for `instanceof`. */
export class HistoryContendedError extends Error {}

export * from './errors.js';
