/** Dates of nights, as they stand in requests, and as days since 1970. */
import { DAY_MS } from '../../base/days.js';

const FIRST_YEAR = 1970;
const LAST_YEAR = 2149;

export const NIGHT_LENGTH = '2026-11-21'.length;
/** The latest possible night. */
export const LAST_DAY = Date.UTC(LAST_YEAR, 11, 31) / DAY_MS;

/** Days since 1970 of a date such as `2026-11-21`, in the years 1970 to 2149; undefined for an invalid date. */
export function dayOf(date: string): number | undefined {
  if (date.length !== NIGHT_LENGTH || date[4] !== '-' || date[7] !== '-') return undefined;
  const year = digits(date, 0, 4);
  const month = digits(date, 5, 7);
  const day = digits(date, 8, 10);
  // False for non-digits (NaN), too.
  if (!(year >= FIRST_YEAR && year <= LAST_YEAR)) return undefined;
  const ms = Date.UTC(year, month - 1, day);
  // A day or month that there is not leads into another month.
  return new Date(ms).getUTCMonth() === month - 1 ? ms / DAY_MS : undefined;
}

/** The number in `text` from `start` to before `end`; NaN for anything but digits. */
function digits(text: string, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return NaN;
    value = 10 * value + digit;
  }
  return value;
}
