import { checkSession, numbersOf } from '#adapters/unitChecks.js';
import { NIGHT_SERIES, SHORT_SLEEP_MESSAGE, isShortBesideNight } from '#rules/contradictions.js';
import type { PredictionRequestBody, Session } from './contract.js';

/** A field that may be in another unit than the service expects. The request is scored unchanged. */
export interface UnitWarning {
  /** The place of the field, as in the findings of a 422: from "body" on. */
  readonly loc: readonly (string | number)[];
  readonly name: string;
  /** Names the likely cause, never a value. */
  readonly msg: string;
}

/**
 * Checks a whole request for contradictions; leaves anything that is not a session to the service.
 * @throws UnitError if the fields of a session can't all be in the units that they have
 * @internal
 */
export function checkRequest({ current_session: current, past_sessions: past }: PredictionRequestBody): void {
  checkSession(current, 'current_session');
  if (!Array.isArray(past)) return;
  past.forEach((session, index) => checkSession(session, `past_sessions[${index}]`));
}

/**
 * Sessions whose sleep is far shorter than the series of its night suggest: possible, and scored.
 * @internal
 */
export function unitWarnings({
  current_session: current,
  past_sessions: past,
}: PredictionRequestBody): UnitWarning[] {
  const earlier = Array.isArray(past) ? past.map((session, index) => [session, 'past_sessions', index]) : [];
  const sessions = [[current, 'current_session'], ...earlier] as [Session | null, ...(string | number)[]][];
  return sessions.flatMap(([session, ...place]) => {
    if (typeof session !== 'object' || session === null) return [];
    const samples = NIGHT_SERIES.map((field) => session[field]?.length ?? 0);
    if (!isShortBesideNight(numbersOf(session), Math.max(...samples))) return [];
    return [{ loc: ['body', ...place], name: 'sleepTimeSeconds', msg: SHORT_SLEEP_MESSAGE }];
  });
}
