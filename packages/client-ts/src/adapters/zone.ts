/** Day, time and, where there is one, offset; Apple Health writes spaces between them. @internal */
export const TIME = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:\s*([Zz]|[+-]\d\d:?\d\d))?$/;
const DAY_MS = 86_400_000;

/**
 * Milliseconds since 1970 of a local time.
 * @param clock  the local time, read as if it were UTC
 * @param zone  an offset ("+01:00", "Z") or a name ("Europe/Berlin")
 * @throws RangeError where there is no such zone
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

/** East of UTC, in milliseconds; undefined where it is no offset. @internal */
export function offsetMs(zone: string): number | undefined {
  if (zone.toUpperCase() === 'Z') return 0;
  const found = /^([+-])(\d\d):?(\d\d)$/.exec(zone);
  if (found === null) return undefined;
  const minutes = Number(found[2]) * 60 + Number(found[3]);
  return (found[1] === '-' ? -minutes : minutes) * 60_000;
}

function offsetAt(ms: number, zone: string): number {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  const part = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000;
}
