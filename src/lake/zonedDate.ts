import { OperatorError } from '../base/operatorError.js';

/** An unknown time zone. */
export class ZoneError extends OperatorError {
  override readonly name = 'ZoneError';
}

/** Zones change on quarters of an hour, and looking a date up costs more than scoring. */
const QUARTER_MS = 15 * 60_000;

/** Formats times as dates in `zone` (`Europe/Berlin`, `+02:00`). @throws ZoneError for an unknown zone */
export function dateIn(zone: string): (momentMs: number) => string {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? [];
  if (sign !== undefined) {
    const shiftMs = (60 * Number(hours) + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
    return (momentMs) => new Date(momentMs + shiftMs).toISOString().slice(0, 10);
  }
  const format = formatIn(/^(|z|gmt|utc)$/i.test(zone) ? 'UTC' : zone);
  const known = new Map<number, string>();
  return (momentMs) => {
    const quarter = Math.floor(momentMs / QUARTER_MS);
    let date = known.get(quarter);
    if (date === undefined) known.set(quarter, (date = format.format(quarter * QUARTER_MS)));
    return date;
  };
}

/** Swedish dates are ISO 8601. */
function formatIn(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('sv-SE', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  } catch {
    throw new ZoneError(
      `the zone ${JSON.stringify(timeZone)} of the times is not known here: make UTC of it`,
    );
  }
}
