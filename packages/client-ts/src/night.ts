import type { Measurement, PredictionRequestBody } from './contract.js';

const DAY_MS = 86_400_000;

/**
 * The date of waking as it is sent; undefined if there is none.
 * @throws RangeError if it is no date or in the future
 * @internal
 */
export function checkNight(night: string | null | undefined): string | undefined {
  if (night === undefined || night === null) return undefined;
  if (!isDate(night)) throw new RangeError('the night is a date, as 2026-11-21: that of waking');
  refuseAhead(night, NIGHT);
  return night;
}

/**
 * @throws RangeError if the day of a measurement is no date or in the future
 * @internal
 */
export function checkMeasured(measurements: readonly Measurement[]): void {
  for (const { on } of measurements) {
    if (on === undefined || on === null) continue;
    if (!isDate(on)) throw new RangeError('the day of a measurement (on) is a date, as 2026-11-10');
    refuseAhead(on, MEASUREMENT);
  }
}

function isDate(text: string): boolean {
  const ms = Date.parse(text);
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

/** The night of a request, if it has one. @internal */
export function dated(night: string | undefined): { night?: string } {
  return night === undefined ? {} : { night };
}

/**
 * Refuses dates that would put the newest night of a history, or a measurement, into the future.
 * @throws RangeError if a date is more than a day ahead of this machine's clock
 * @internal
 */
export function checkNightOf({ history, night, measurements }: PredictionRequestBody): void {
  if (typeof history !== 'string') return;
  if (typeof night === 'string') refuseAhead(night, NIGHT);
  if (!Array.isArray(measurements)) return;
  for (const measurement of measurements) {
    if (typeof measurement?.on === 'string') refuseAhead(measurement.on, MEASUREMENT);
  }
}

const NIGHT = ['the night', 'the date of waking'] as const;
const MEASUREMENT = ['a measurement', 'the day on which it was taken'] as const;

/** One day: it may already be tomorrow somewhere. */
function refuseAhead(date: string, [what, remedy]: readonly [string, string]): void {
  if (Date.parse(date) - Date.now() <= DAY_MS || Number.isNaN(Date.parse(date))) return;
  throw new RangeError(`${what} lies ahead of this machine's clock: give ${remedy}, or set the clock`);
}
