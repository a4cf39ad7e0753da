import { momentMs, type Moment } from '#rules/moment.js';
import { offsetAt, offsetMs } from './zone.js';

const OFFSET = /(?:Z|[+-]\d\d:?\d\d)$/i;

/**
 * The date of waking at a moment: in `zone`, else at the offset of the first of the moments that has one, else in
 * UTC.
 * @throws AdapterError if the zone is unknown
 * @internal
 */
export function wakingDate(woke: Moment, at: Moment, zone: string | undefined): string {
  const wokeMs = momentMs(woke, 'the end of the night');
  const eastMs = zone === undefined ? eastOf(woke) || eastOf(at) : offsetAt(wokeMs, zone);
  return new Date(wokeMs + eastMs).toISOString().slice(0, 10);
}

function eastOf(moment: Moment): number {
  const written = typeof moment === 'string' ? OFFSET.exec(moment.trim()) : null;
  return offsetMs(written?.[0] ?? 'Z') ?? 0;
}
