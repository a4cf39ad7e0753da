import { describeScore, type History, type Prediction, type Session } from 'acuity-client';
import { fromTerra, type Adapted } from 'acuity-client/adapters';
import type { Explained, Quality, Store } from './store.js';
import { SCORES } from './weeks.js';

/** The body of a Terra webhook, as far as it is read here. */
export interface TerraEvent {
  readonly type?: string;
  /** When a recorded event arrived; live ones arrive now. */
  readonly received_at?: string;
  readonly user?: { readonly user_id?: string; readonly reference_id?: string | null };
}

/** Most that one request may carry. */
export const MEASUREMENTS_MAX = 64;

/** The person of an event. */
export function personOf({ user }: TerraEvent): string | undefined {
  const person: unknown = user?.reference_id ?? user?.user_id;
  return typeof person === 'string' && person !== '' ? person : undefined;
}

/** When an event arrived, in ISO 8601. */
export function receivedAt({ received_at: recorded }: TerraEvent): string {
  return recorded ?? new Date().toISOString();
}

/** Scores the night of an event and stores it. */
export async function scoreEvent(
  event: TerraEvent,
  person: string,
  { history, store, zone }: { history: History; store: Store; zone?: string | undefined },
): Promise<void> {
  // Without `at`, a night that arrives days late would count as this morning's.
  const adapted = fromTerra({ sleep: event, at: receivedAt(event), ...(zone !== undefined && { zone }) });
  const { at, night, session } = adapted;
  if (night === null) throw new RangeError('sleep: there is no night in it');
  // A measurement taken after this night waits for a later one; a measurement sent twice replaces itself.
  const taken = await store.measured(person, MEASUREMENTS_MAX);
  const waiting = taken.filter(({ isSent }) => !isSent).map(({ measurement }) => measurement);
  const measurements = waiting.filter(({ on }) => on <= night);
  const prediction = await history.score(person, at, session, { night, measurements, explain: true });
  await store.sent(person, measurements);
  const { scores, modelVersion, unmeasured } = prediction;
  const quality = qualityOf(session);
  const known = { ...(unmeasured !== undefined && { unmeasured }), ...explainedOf(prediction) };
  await store.keep(person, { at, night, modelVersion, scores, ...known, quality, notes: notesOf(adapted) });
}

/** The page's sentences about the scores. */
function explainedOf({ scores, explanation }: Prediction): { explained?: Explained } {
  if (explanation === undefined) return {};
  const ranges = Object.fromEntries(
    SCORES.map(([score]) => [score, explanation.scores[score].repeatability]),
  );
  const moved = SCORES.map(([score]) => ({ score, ...explanation.scores[score] }));
  const notable = moved
    .filter((one) => one.notable)
    .toSorted((one, other) => Math.abs(other.change) - Math.abs(one.change))
    .map(({ score }) => ({ score, sentence: describeScore(scores, explanation, score).sentences[0] }));
  return { explained: { ranges, notable } };
}

/** The page's notes on how a night was put together. */
function notesOf({ sleep, left }: Adapted): string[] {
  const parts = sleep?.parts.length ?? 0;
  const joined = parts > 1 ? [`put together of ${parts} sleeps, the time between them awake`] : [];
  return [...joined, ...left.map(({ what, why }) => `${what} was left: ${why}`)];
}

/** The page's description of the data, without the data. */
export function qualityOf(session: Session): Quality {
  const level = (series: readonly number[] | null | undefined) =>
    series === undefined || series === null || series.length === 0
      ? 'missing'
      : series.length === 1
        ? 'average'
        : 'series';
  const hasStages = session.deepPercentage !== undefined;
  return {
    heart: level(session.HR_night),
    breath: level(session.RR_night),
    sleep: hasStages ? 'stages' : session.sleepTimeSeconds === undefined ? 'missing' : 'sum',
  };
}
