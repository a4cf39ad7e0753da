import { RateLimitedError, type AcuityError, type Refusal } from './errors.js';

/** A refusal for the key's rate that says when to ask again. */
export interface TurnGiven extends RateLimitedError {
  readonly retryAfterS: number;
}

/** Such a refusal is no failure: it gives the call a turn. */
export function isTurnGiven(error: AcuityError): error is TurnGiven {
  return error instanceof RateLimitedError && error.retryAfterS !== undefined;
}

/** What keeps a call from being sent. */
export interface Held {
  readonly leftMs: number;
  readonly closing: number;
  /** What the service would say to the call of this id. */
  refusal(requestId: string): RateLimitedError;
}

/**
 * Closed while the service has nothing left for the key: the rate is the key's, so what one call was refused for, every
 * other call of the client would be refused for too.
 */
export class Gate {
  #opensMs = 0;
  #closing = 0;
  #detail = '';
  #rateLimit: string | undefined;

  /** @returns the number of this closing: the call that was refused waits for it by itself */
  close({ retryAfterS, detail, rateLimit }: TurnGiven): number {
    this.#opensMs = Math.max(this.#opensMs, performance.now() + retryAfterS * 1000);
    this.#detail = detail;
    this.#rateLimit = rateLimit;
    return ++this.#closing;
  }

  /** `waited`: the last closing that the call has waited for; undefined where it may be sent. */
  holds(waited: number | undefined): Held | undefined {
    const leftMs = this.#opensMs - performance.now();
    const closing = this.#closing;
    if (leftMs <= 0 || closing === waited) return undefined;
    return {
      leftMs,
      closing,
      refusal: (requestId) => {
        const refusal: Refusal = {
          status: 429,
          requestId,
          detail: this.#detail,
          findings: [],
          retryAfterS: Math.ceil(leftMs / 1000),
          rateLimit: this.#rateLimit,
        };
        return new RateLimitedError(refusal);
      },
    };
  }
}
