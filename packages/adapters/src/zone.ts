import { AdapterError } from './adapterError.js';

/** Day, time and an optional offset; Apple Health writes spaces between them. */
const TIME =
  /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d)?(\.\d+)?(?:\s*([Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d))?$/;
const DAY_MS = 86_400_000;
/** No watch records other years. */
const LAST_MS = Date.UTC(2150, 0, 1);

/** A time as it was written. @internal */
export interface Written {
  /** The local time, read as if it were UTC; undefined if there is no such time, as on 30 February. */
  readonly clockMs: number | undefined;
  /** "Z", "+01:00"; undefined if there is none. */
  readonly offset: string | undefined;
}

/** Undefined if the text is no time at all. @internal */
export function writtenTime(text: string): Written | undefined {
  const found = TIME.exec(text);
  if (found === null) return undefined;
  const [, day, minute, second = ':00', fraction = '', offset] = found;
  const ms = Date.parse(`${day}T${minute}${second}${fraction}Z`);
  // Date.parse goes on to the next day for 24:00 and to March for 30 February.
  const isReal =
    ms >= 0 && ms < LAST_MS && new Date(ms).toISOString().startsWith(`${day}T${minute}${second}`);
  return { clockMs: isReal ? ms : undefined, offset };
}

/**
 * Milliseconds since 1970 of a local time.
 * @param clock  the local time, read as if it were UTC
 * @param zone  an offset ("+01:00", "Z") or a name ("Europe/Berlin")
 * @throws AdapterError if the zone is unknown
 * @internal
 */
export function localMs(clock: number, zone: string): number {
  const offset = offsetMs(zone);
  if (offset !== undefined) return clock - offset;
  // Of an hour that the clocks run through twice, the first; of one that they skip, as if they had not.
  const [before, after] = [clock - offsetAt(clock - DAY_MS, zone), clock - offsetAt(clock + DAY_MS, zone)];
  if (clock - offsetAt(before, zone) === before) return before;
  return clock - offsetAt(after, zone) === after ? after : before;
}

/** Milliseconds east of UTC; undefined if it is no offset. @internal */
export function offsetMs(zone: string): number | undefined {
  if (typeof zone !== 'string') return undefined;
  if (zone.toUpperCase() === 'Z') return 0;
  const found = /^([+-])([01]\d|2[0-3]):?([0-5]\d)$/.exec(zone);
  if (found === null) return undefined;
  const minutes = Number(found[2]) * 60 + Number(found[3]);
  return (found[1] === '-' ? -minutes : minutes) * 60_000;
}

/**
 * How far `zone` is east of UTC at a moment, in milliseconds.
 * @throws AdapterError as above
 * @internal
 */
export function offsetAt(ms: number, zone: string): number {
  const fixed = offsetMs(zone);
  if (fixed !== undefined) return fixed;
  const part = Object.fromEntries(
    formatOf(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  // Some versions of Node take "+01" for a name.
  if (typeof zone === 'string' && /^[a-z]/i.test(zone)) {
    try {
      return new Intl.DateTimeFormat('en-GB', {
        timeZone: zone,
        year: 'numeric',
        month: '2-digit',
        day: '2-digit',
        hour: '2-digit',
        minute: '2-digit',
        second: '2-digit',
        hourCycle: 'h23',
      });
    } catch {
      // Said below, without the value.
    }
  }
  throw new AdapterError(
    ['zone'],
    'there is no such time zone; give an offset, as +01:00, or a name, as Europe/Berlin',
  );
}
