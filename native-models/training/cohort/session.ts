import { SERIES_FIELDS } from '#rules/fields.js';
import type { Session } from '#acuity/contract/request.js';
import type { Recording } from './sensor.js';

/** The recording as a caller puts it into a request. */
export function sessionOf({ session, samples, bounds }: Recording): Session {
  const written: Session = {};
  Object.assign(written, session);
  for (const field of SERIES_FIELDS) {
    const k = session[field]?.[0];
    const [start, end] = k === undefined ? [0, 0] : [bounds[2 * k] ?? 0, bounds[2 * k + 1] ?? 0];
    written[field] = Array.from(samples.subarray(start, end), (value) => Math.round(value * 10) / 10);
  }
  return written;
}
