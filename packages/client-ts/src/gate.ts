import { RateLimitedError, type AcuityError } from './errors.js';

/** A refusal for the key's rate that says when to ask again. */
export interface TurnGiven extends RateLimitedError {
  readonly retryAfterS: number;
}

/** Such a refusal does not count as a failure; the call waits its turn. */
export function isTurnGiven(error: AcuityError): error is TurnGiven {
  return error instanceof RateLimitedError && error.retryAfterS !== undefined;
}

/** Why a call is not sent. */
export interface Held {
  readonly leftMs: number;
  readonly closing: number;
  /** The refusal that the service would give to the call with this id. */
  refusal(requestId: string): RateLimitedError;
}

/**
 * Closed while the key's rate is used up: every other call of the client would be refused like the one that
 * was.
 */
export class Gate {
  #opensMs = 0;
  #closing = 0;
  #last: TurnGiven | undefined;

  /** @returns the number of this closing; the refused call waits for it by itself */
  close(refused: TurnGiven): number {
    this.#opensMs = Math.max(this.#opensMs, performance.now() + refused.retryAfterS * 1000);
    this.#last = refused;
    return ++this.#closing;
  }

  /** `waited`: the last closing that the call has waited for; undefined if the call may be sent. */
  holds(waited: number | undefined): Held | undefined {
    const leftMs = this.#opensMs - performance.now();
    const [closing, last] = [this.#closing, this.#last];
    if (last === undefined || leftMs <= 0 || closing === waited) return undefined;
    return { leftMs, closing, refusal: (id) => last.of(id, Math.ceil(leftMs / 1000)) };
  }
}
