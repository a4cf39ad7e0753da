import { PAST_MAX } from '#rules/fields.js';
import { HISTORY_SESSIONS, type History } from './history.js';

/**
 * Makes room in `history` for a session of `night` (days since 1970; NaN: undated, which is appended). Sessions that
 * have to leave do so before the past is read; so if the session is scored again with the resulting history, it has
 * the same past.
 */
export function makePlace(history: History, night: number): Place {
  const latest = history.latestDay;
  if (night - latest > GAP_DAYS_MAX) history.forgetNights();
  let index = indexOf(history, night);
  const isTooOld = (index === 0 && history.count > 0) || latest - night > PAST_DAYS_MAX;
  if (isTooOld) return placeAt(index, false);
  if (index > 0 && history.days[index - 1] === night) return placeAt(index - 1, true);
  for (let other = 0; other < history.count;) {
    if (night - history.days[other]! > PAST_DAYS_MAX) {
      history.retire(other);
      if (other < index) index--;
    } else other++; // other < count
  }
  if (history.count === HISTORY_SESSIONS) {
    history.retire(0);
    index--;
  }
  history.open(index);
  return placeAt(index, true);
}

/** A session this many days older than the newest goes to the long run. */
const PAST_DAYS_MAX = 60;
/** After this many days without a night a history starts anew, keeping only its measurements. */
const GAP_DAYS_MAX = 180;

/** The place of the current session in a history. */
export interface Place {
  /** Its index, open to be written; if it is not kept, the index it would have. */
  readonly index: number;
  /** Index of the first session of its past, which ends before `index`. */
  readonly first: number;
  /** False for a night too old for the history, which stays unchanged. */
  readonly isKept: boolean;
}

/** After the newest session that is undated or not later. */
function indexOf({ count, days }: History, night: number): number {
  let index = count;
  while (index > 0 && days[index - 1]! > night) index--; // false if either is undated
  return index;
}

function placeAt(index: number, isKept: boolean): Place {
  return { index, first: Math.max(0, index - PAST_MAX), isKept };
}
