/**
 * The entry for bundlers of web pages, in place of `entry.ts`, with the same names: code that server and page share
 * can be bundled, and what needs a key throws an error that says why.
 */
import { refuseBrowser } from './checks.js';

class OnServers {
  /** @throws Error always: a page must have no key */
  constructor() {
    refuseBrowser({ window: true });
  }

  static fromEnvironment(): OnServers {
    return new OnServers();
  }
}

export { OnServers as AcuityClient, OnServers as History, OnServers as NodeTransport };
export const memoryStorage = OnServers.fromEnvironment;

/** Never thrown on a page; here for `instanceof`. */
export class HistoryContendedError extends Error {}

export * from './errors.js';
