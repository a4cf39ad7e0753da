import type { PredictionRequestBody } from './contract.js';

/** One day: it may already be tomorrow somewhere. */
const AHEAD_MAX_MS = 86_400_000;

/**
 * Refuses a night that would become the newest of a history and keep all later ones out: only a clock tells, and
 * the service reads none.
 * @throws RangeError if it is more than a day ahead of this machine's clock
 */
export function refuseAhead({ history, night }: PredictionRequestBody): void {
  if (typeof history !== 'string' || typeof night !== 'string') return;
  if (!(Date.parse(night) - Date.now() > AHEAD_MAX_MS)) return;
  throw new RangeError(
    "the night lies ahead of this machine's clock: give the date of waking, or set the clock",
  );
}
