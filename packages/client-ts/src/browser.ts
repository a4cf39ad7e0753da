import { refuseBrowser } from './place.js';

/** What bundlers put into a web page in place of the client. */
export class AcuityClient {
  constructor() {
    refuseBrowser({ window: true });
  }

  static fromEnvironment(): AcuityClient {
    return new AcuityClient();
  }
}
