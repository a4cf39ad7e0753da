import { AdapterError } from './adapterError.js';

/** Times as providers write them, and the offsets of zones. */

/** @internal */
export const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000];
/** Day, time and an optional offset; Apple Health writes spaces between them. */
const TIME =
  /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: *(?:[Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d))?$/;
/** A longer text is no time. */
const TIME_LENGTH_MAX = 64;
const DATE_LENGTH = 10;
/** No watch records other years: before 1973 a time is most likely of a clock that was never set. */
export const FIRST_MS = 1e11;
export const LAST_MS = Date.UTC(2150, 0, 1);

/** Two digits as a number; reading a day's samples is mostly this. */
function twoAt(text: string, at: number): number {
  return (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
}

/** A time as it was written. @internal */
export interface Written {
  /** The local time, read as if it were UTC; undefined if there is no such time, as on 30 February. */
  readonly clockMs: number | undefined;
  /** "Z", "+01:00"; undefined if there is none. */
  readonly offset: string | undefined;
}

/** Undefined if the text is no time at all. @internal */
export function writtenTime(text: string): Written | undefined {
  // Without groups, whose texts would be garbage: there are hundreds of thousands of times.
  if (text.length > TIME_LENGTH_MAX || !TIME.test(text)) return undefined;
  const [month, day, hour, minute] = [twoAt(text, 5), twoAt(text, 8), twoAt(text, 11), twoAt(text, 14)];
  const year = twoAt(text, 0) * 100 + twoAt(text, 2);
  const second = text[16] === ':' ? twoAt(text, 17) : 0;
  const ms = Date.UTC(year, month - 1, day, hour, minute, second);
  // Date.UTC goes on: from 30 February to March, from 24:00 to the next day.
  const isDay = month >= 1 && month <= 12 && day >= 1 && (day <= 28 || new Date(ms).getUTCDate() === day);
  const isReal = isDay && hour < 24 && minute < 60 && second < 60 && ms >= FIRST_MS && ms < LAST_MS;
  const fraction = text[19] === '.' ? /\.(\d{1,3})/.exec(text)?.[1] : undefined;
  const thousandths = fraction === undefined ? 0 : Number(fraction.padEnd(3, '0'));
  return { clockMs: isReal ? ms + thousandths : undefined, offset: offsetOf(text) };
}

/** The end of a time. */
function offsetOf(time: string): string | undefined {
  const last = time.at(-1);
  if (last === 'Z' || last === 'z') return 'Z';
  const sign = Math.max(time.lastIndexOf('+'), time.lastIndexOf('-'));
  return sign < DATE_LENGTH ? undefined : time.slice(sign);
}

/**
 * Milliseconds since 1970 of a local time.
 * @param clock  the local time, read as if it were UTC
 * @param zone  an offset ("+01:00", "Z") or a name ("Europe/Berlin")
 * @throws AdapterError if the zone is unknown
 * @internal
 */
export function localMs(clock: number, zone: string): number {
  const place = ZONES.of(zone);
  if (typeof place === 'number') return clock - place;
  // Of an hour that the clocks run through twice, the first; of one that they skip, as if they had not.
  const before = clock - place.offsetAt(clock - DAY_MS);
  const after = clock - place.offsetAt(clock + DAY_MS);
  if (before === after || clock - place.offsetAt(before) === before) return before;
  return clock - place.offsetAt(after) === after ? after : before;
}

/** Milliseconds east of UTC; undefined if it is no offset. @internal */
export function offsetMs(zone: string): number | undefined {
  if (typeof zone !== 'string') return undefined;
  if (zone.toUpperCase() === 'Z') return 0;
  const found = /^([+-])([01]\d|2[0-3]):?([0-5]\d)$/.exec(zone);
  if (found === null) return undefined;
  const minutes = Number(found[2]) * 60 + Number(found[3]);
  return (found[1] === '-' ? -minutes : minutes) * MINUTE_MS;
}

/**
 * How far `zone` is east of UTC at a moment, in milliseconds.
 * @throws AdapterError as above
 * @internal
 */
export function offsetAt(ms: number, zone: string): number {
  const place = ZONES.of(zone);
  return typeof place === 'number' ? place : place.offsetAt(ms);
}

/** In so long a time no zone changes its offset twice: the shortest break of summer time, of Ramadan, was four weeks. */
const SPAN_MS = 16 * DAY_MS;
const FIRST_SPAN = Math.floor(FIRST_MS / SPAN_MS);
const SPANS = Math.ceil(LAST_MS / SPAN_MS) - FIRST_SPAN;
/** Minutes that are not known yet: no zone is that far west, and no span that long. */
const UNKNOWN = 0x7fff;

/**
 * A named zone. To ask Intl takes microseconds, so it is asked once for the beginning of each span, and once for the
 * change within one: all that can be asked of a zone are sixteen kilobytes, and are kept.
 */
class Zone {
  /** Offsets at the beginnings of spans, in minutes. */
  private readonly east = new Int16Array(SPANS + 1).fill(UNKNOWN);
  /** Minutes from the beginning of a span to the first of the new offset. */
  private readonly changes = new Int16Array(SPANS).fill(UNKNOWN);

  constructor(private readonly clock: Intl.DateTimeFormat) {}

  offsetAt(ms: number): number {
    const span = Math.floor(ms / SPAN_MS) - FIRST_SPAN;
    if (!(span >= 0 && span < SPANS)) return this.read(Math.floor(ms / MINUTE_MS) * MINUTE_MS) * MINUTE_MS;
    const [before, after] = [this.eastOf(span), this.eastOf(span + 1)];
    if (before === after) return before * MINUTE_MS;
    const fromMs = (span + FIRST_SPAN) * SPAN_MS;
    return (ms < fromMs + this.changeOf(span, fromMs, before) * MINUTE_MS ? before : after) * MINUTE_MS;
  }

  private eastOf(span: number): number {
    const known = this.east[span] ?? UNKNOWN;
    return known === UNKNOWN ? (this.east[span] = this.read((span + FIRST_SPAN) * SPAN_MS)) : known;
  }

  /** Since 1973 offsets change on whole minutes. */
  private changeOf(span: number, fromMs: number, before: number): number {
    const known = this.changes[span] ?? UNKNOWN;
    if (known !== UNKNOWN) return known;
    let [low, high] = [0, SPAN_MS / MINUTE_MS];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.read(fromMs + middle * MINUTE_MS) === before) low = middle;
      else high = middle;
    }
    return (this.changes[span] = high);
  }

  /** @param ms  on a whole minute; @returns the offset in minutes */
  private read(ms: number): number {
    const [day = 0, month = 0, year = 0, hour = 0, minute = 0] =
      this.clock.format(ms).match(/\d+/g)?.map(Number) ?? [];
    return (Date.UTC(year, month - 1, day, hour, minute) - ms) / MINUTE_MS;
  }
}

/** The zones that were asked for: as many as there are, of fifty kilobytes each. */
class Zones {
  private readonly byName = new Map<string, Zone>();
  private lastName = 'Z';
  private last: Zone | number = 0;

  /** A fixed offset, or a zone. Thousands of times ask for the same one after the other. */
  of(name: string): Zone | number {
    if (name !== this.lastName) this.last = offsetMs(name) ?? this.named(name);
    this.lastName = name;
    return this.last;
  }

  private named(name: string): Zone {
    // Some versions of Node take "+01" for a name.
    if (typeof name !== 'string' || !/^[a-z][\w/+-]{1,60}$/i.test(name)) throw noZone();
    const key = name.toLowerCase();
    const zone = this.byName.get(key) ?? new Zone(clockOf(key));
    this.byName.set(key, zone);
    return zone;
  }
}

const ZONES = new Zones();

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const two = '2-digit';
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone, year: 'numeric', month: two, day: two, hour: two, minute: two, hourCycle: 'h23' }); // prettier-ignore
  } catch {
    throw noZone(); // without the value
  }
}

function noZone(): AdapterError {
  return new AdapterError(
    ['zone'],
    'there is no such time zone; give an offset, as +01:00, or a name, as Europe/Berlin',
  );
}
