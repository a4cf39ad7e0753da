import { PAST_MAX } from '#rules/fields.js';
import type { Measurement, PredictionRequestBody, ScoreRecord, Session } from './contract.js';
import { dated } from './night.js';

/** An entry of the list, of at most five, that an earlier version of the client stored for each person. */
export interface FormerEntry {
  /** The moment that was scored, in ISO 8601 with Z. */
  readonly at: string;
  /** The date on which the person woke, if it was given. */
  readonly night?: string;
  readonly modelVersion: string;
  readonly session: Session;
  readonly scores: ScoreRecord;
}

/** The session to score. */
export interface Asked {
  readonly atMs: number;
  readonly night: string | undefined;
  readonly session: Session;
  readonly measurements: readonly Measurement[];
  readonly explain: boolean;
}

/** The fields that are sent with a session, besides its past. @internal */
export function requestOf({
  session,
  night,
  measurements,
  explain,
}: Omit<Asked, 'atMs'>): PredictionRequestBody {
  const taken = measurements.length > 0 && { measurements: [...measurements] };
  return { current_session: session, ...dated(night), ...taken, ...(explain && { explain }) };
}

/** Two sessions less than this apart belong to one night, if their nights are not known. */
const SAME_NIGHT_MS = 18 * 3_600_000;

/** The list that the earlier client stored, as text or parsed; undefined if `stored` is no such list. @internal */
export function formerEntries(stored: unknown): readonly FormerEntry[] | undefined {
  const entries: unknown = typeof stored === 'string' && stored.startsWith('[') ? parsed(stored) : stored;
  return Array.isArray(entries) ? (entries as FormerEntry[]) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // damaged: the service refuses it
  }
}

/**
 * Begins a history with the entries before the current session as its past, and returns the answer to the session,
 * with the history to store. If a night comes late, the entries after it are scored into the history again.
 * @internal
 */
export async function moveOver<Answer extends { readonly history: string }>(
  former: readonly FormerEntry[],
  asked: Asked,
  predict: (request: PredictionRequestBody) => Promise<Answer>,
): Promise<Answer> {
  const entries = former.toSorted(inOrder);
  const past = entries.filter((entry) => distance(entry, asked) < 0).slice(-PAST_MAX);
  const answer = await predict({
    ...requestOf(asked),
    history: '',
    ...(past.length > 0 && {
      past_sessions: past.map((entry) => entry.session),
      past_targets: past.map((entry) => entry.scores),
    }),
  });
  let { history } = answer;
  for (const later of entries.filter((entry) => distance(entry, asked) > 0)) {
    ({ history } = await predict({ current_session: later.session, history, ...dated(later.night) }));
  }
  return { ...answer, history };
}

/** Below 0 if `entry` is of an earlier night, 0 if it is of the same. */
function distance(entry: FormerEntry, { atMs, night }: Asked): number {
  if (entry.night !== undefined && night !== undefined) return compare(entry.night, night);
  const apartMs = Date.parse(entry.at) - atMs;
  return Math.abs(apartMs) < SAME_NIGHT_MS ? 0 : apartMs;
}

/** Compares by nights if both have one, else by moments: both are texts that sort. */
function inOrder(a: FormerEntry, b: FormerEntry): number {
  return compare(a.night ?? a.at, b.night ?? b.at) || compare(a.at, b.at);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
