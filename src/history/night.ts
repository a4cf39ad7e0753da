const DAY_MS = 86_400_000;
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
  const isDate = year >= FIRST_YEAR && year <= LAST_YEAR && day >= 1 && day <= daysOf(month, year);
  return isDate ? Date.UTC(year, month - 1, day) / DAY_MS : undefined;
}

export function dateOf(day: number): string {
  const date = new Date(day * DAY_MS);
  return `${date.getUTCFullYear()}-${twoDigits(date.getUTCMonth() + 1)}-${twoDigits(date.getUTCDate())}`;
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value);
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

/** NaN for an invalid month. */
function daysOf(month: number, year: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return month >= 1 && month <= 12 ? (SHORT_MONTHS.has(month) ? 30 : 31) : NaN;
}

const SHORT_MONTHS = new Set([4, 6, 9, 11]);

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}
