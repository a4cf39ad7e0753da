/** UTC days, counted from 1970-01-01 on, which is day 0. */

export const DAY_MS = 86_400_000;

/** The day of an epoch time in milliseconds. */
export function dayAt(epochMs: number): number {
  return Math.floor(epochMs / DAY_MS);
}

/** A day as ISO 8601 writes it: 2030-01-31. */
export function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, '2030-01-31'.length);
}

/** Whether there is the day with which an ISO 8601 text begins: `Date` turns 31 February into 2 March. */
export function isOnCalendar(text: string): boolean {
  const date = text.slice(0, '2030-01-31'.length);
  const midnight = new Date(date);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date);
}

export function msToNextDay(epochMs: number): number {
  return (dayAt(epochMs) + 1) * DAY_MS - epochMs;
}
