import { OperatorError } from '../base/operatorError.js';

/** An unknown time zone. */
export class ZoneError extends OperatorError {
  override readonly name = 'ZoneError';
}

const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
const OFFSET = /^([+-])(\d\d):?(\d\d)$/;

export function isUtc(zone: string): boolean {
  return /^(|utc|gmt|z|etc\/utc|etc\/gmt)$/i.test(zone);
}

/**
 * Formats times as ISO 8601 with the offset of `zone` (`Europe/Berlin`, `+02:00`) at that time.
 * @throws ZoneError for an unknown zone
 */
export function printerIn(zone: string): (momentMs: number) => string {
  const offsetAt = offsetsOf(zone);
  return (momentMs) => {
    const offsetMs = offsetAt(momentMs);
    const local = new Date(momentMs + offsetMs).toISOString().slice(0, -1);
    const minutes = Math.round(Math.abs(offsetMs) / MINUTE_MS);
    return `${local}${offsetMs < 0 ? '-' : '+'}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
  };
}

function offsetsOf(zone: string): (momentMs: number) => number {
  const [, sign, hours, minutes] = OFFSET.exec(zone) ?? [];
  if (sign !== undefined) {
    const offsetMs = (60 * Number(hours) + Number(minutes)) * MINUTE_MS * (sign === '-' ? -1 : 1);
    return () => offsetMs;
  }
  const format = formatIn(zone);
  // Zones change on quarters of an hour, and looking an offset up costs more than scoring.
  const known = new Map<number, number>();
  return (momentMs) => {
    const quarter = Math.floor(momentMs / QUARTER_MS);
    let offsetMs = known.get(quarter);
    if (offsetMs === undefined) known.set(quarter, (offsetMs = offsetOf(format, quarter * QUARTER_MS)));
    return offsetMs;
  };
}

function formatIn(zone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  } catch {
    throw new ZoneError(`the zone ${JSON.stringify(zone)} of the times is not known here: make UTC of it`);
  }
}

/** The offset is written as `GMT`, `GMT+02:00` or, for early dates, with seconds. */
function offsetOf(format: Intl.DateTimeFormat, momentMs: number): number {
  const name = format.formatToParts(momentMs).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(name) ?? [];
  return sign === undefined
    ? 0
    : (60 * Number(hours) + Number(minutes)) * MINUTE_MS * (sign === '-' ? -1 : 1);
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
