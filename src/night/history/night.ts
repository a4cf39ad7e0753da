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
  if (!(year >= FIRST_YEAR && month >= 1 && month <= MONTHS && day >= 1)) return undefined;
  const index = MONTHS * (year - FIRST_YEAR) + month - 1;
  const night = FIRST_DAYS[index]! + day - 1; // NaN beyond the last year
  return night < FIRST_DAYS[index + 1]! ? night : undefined;
}

const MONTHS = 12;
/** The first day of each month, and of the one after the last. */
const FIRST_DAYS = Float64Array.from(
  { length: MONTHS * (LAST_YEAR - FIRST_YEAR + 1) + 1 },
  (_, month) => Date.UTC(FIRST_YEAR, month) / DAY_MS,
);

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
