/** A point in time: a `Date`, milliseconds since 1970, or ISO 8601 with its offset ("2025-03-01T06:45:00Z"). */
export type Moment = Date | number | string;

/** Milliseconds of a date before 1973 are most likely seconds of a present-day date. */
const SECONDS_SUSPECTED_BELOW = 1e11;
const HAS_OFFSET = /(Z|[+-]\d\d:?\d\d)$/i;

/**
 * Milliseconds since 1970.
 * @param what  names the moment in the message
 * @throws RangeError if it is not a point in time, is in seconds, or is a local time without an offset
 */
export function momentMs(moment: Moment, what: string): number {
  if (typeof moment === 'string' && !HAS_OFFSET.test(moment.trim())) {
    throw new RangeError(
      `${what}: a time without an offset is another moment on every machine; end it with Z or +hh:mm`,
    );
  }
  const ms =
    moment instanceof Date ? moment.getTime() : typeof moment === 'string' ? Date.parse(moment) : moment;
  if (!Number.isFinite(ms)) throw new RangeError(`${what} is not a point in time`);
  if (typeof moment === 'number' && Math.abs(ms) < SECONDS_SUSPECTED_BELOW) {
    throw new RangeError(`${what} looks like seconds since 1970; give milliseconds, or a Date`);
  }
  return ms;
}
