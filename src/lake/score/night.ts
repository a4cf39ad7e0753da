/** The night of a row, from its column of time. */
import { momentMs } from '#rules/moment.js';
import { offsetAt } from '#adapters/zone.js';
import { dateOf, dayAt } from '../../base/days.js';
import { OperatorError } from '../../base/errors.js';
import { LAST_DAY, NIGHT_LENGTH, dayOf } from '../../night/history/night.js';

/** Numbers from here on are milliseconds since 1970: 1973. */
const MILLISECONDS_FROM = 1e11;

/** A time zone as databases print it after a time: `2025-01-01 07:00:00+00`. */
const OFFSET_IN_HOURS = /(?<=:\d\d(\.\d+)?)[+-]\d\d$/;
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
const WHAT = 'the moment of this row';

/**
 * The night of a row, in days since 1970, or what is wrong with it. It is the date as written, in any zone; a number
 * is a day since 1970 or the number of a night, a date such as `20261121`, or milliseconds since 1970 (in UTC).
 */
export function nightOf(order: unknown): number | string {
  if (typeof order === 'number') return nightOfNumber(order);
  if (typeof order !== 'string') return `${WHAT} is missing`;
  const date = dayOf(order);
  if (date !== undefined) return date;
  const text = order.trim();
  if (NUMBER.test(text)) return nightOfNumber(Number(text));
  if (text.length > NIGHT_LENGTH) {
    const problem = problemOf(text);
    if (problem !== undefined) return problem;
  }
  const night = dayOf(text.slice(0, NIGHT_LENGTH));
  return night ?? `${WHAT} has no date of the years 1970 to 2149 in front, written as 2026-11-21`;
}

function nightOfNumber(order: number): number | string {
  const isMoment = order >= MILLISECONDS_FROM;
  const night = isMoment ? dayAt(order) : (dayOf(writtenDate(order)) ?? order);
  if (Number.isInteger(night) && night >= 0 && night <= LAST_DAY) return night;
  return `${WHAT} is a number that is no night: give days from 0 to ${LAST_DAY}, dates as 20261121, or milliseconds since 1970, not seconds, micro- or nanoseconds`;
}

/** `20261121` as `2026-11-21`. */
function writtenDate(order: number): string {
  return order >= 1e7 && order < 1e8 ? String(order).replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3') : '';
}

function problemOf(text: string): string | undefined {
  try {
    momentMs(text.replace(OFFSET_IN_HOURS, '$&:00'), WHAT);
    return undefined;
  } catch (error) {
    return error instanceof RangeError ? error.message : `${WHAT} is not a point in time`;
  }
}

/** Formats times as dates in `zone` (`Europe/Berlin`, `+02:00`). @throws OperatorError for an unknown zone */
export function dateIn(zone: string): (momentMs: number) => string {
  const name = /^(|gmt)$/i.test(zone) ? 'UTC' : zone;
  try {
    offsetAt(0, name);
  } catch {
    throw new OperatorError(
      `the zone ${JSON.stringify(zone)} of the times is not known here: make UTC of it`,
    );
  }
  return (momentMs) => dateOf(dayAt(momentMs + offsetAt(momentMs, name)));
}
