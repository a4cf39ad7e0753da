import type { Explanation, Finding, History, Prediction } from 'acuity-client';
import type { Explained, Quality, Store } from './store.js';
import { SCORES } from './weeks.js';

/** The body of a Terra webhook, as far as it is read here: the service reads the rest. */
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
  const at = receivedAt(event);
  const recording = { provider: 'terra' as const, sleep: event, at, ...(zone !== undefined && { zone }) };
  // A measurement must not be later than its night, which only the service knows: it waits for the next day's event.
  const taken = await store.measured(person, MEASUREMENTS_MAX);
  const waiting = taken.filter(({ isSent }) => !isSent).map(({ measurement }) => measurement);
  const measurements = waiting.filter(({ on }) => on < at.slice(0, 10));
  const prediction = await history.score(person, { recording }, { measurements, explain: true });
  await store.sent(person, measurements);
  const { scores, modelVersion, unmeasured, explanation } = prediction;
  await store.keep(person, {
    at,
    night: prediction.recording?.night ?? at.slice(0, 10),
    modelVersion,
    scores,
    ...(unmeasured && { unmeasured }),
    ...(explanation && { explained: explainedOf(explanation), quality: qualityOf(explanation) }),
    notes: notesOf(prediction),
  });
}

/** Where a finding is, as the provider's documentation would write it, and what it says: `sleep.data[0].id: is missing`. */
export function sentenceOf({ loc, msg }: Finding): string {
  const [, , , ...path] = loc;
  return `${path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')}: ${msg}`.slice(
    1,
  );
}

/** The page's sentences about the scores. */
function explainedOf({ scores }: Explanation): Explained {
  const all = SCORES.map(([score]) => ({ score, ...scores[score] }));
  const notable = all
    .filter((one) => one.notable)
    .toSorted((one, other) => Math.abs(other.change) - Math.abs(one.change))
    .map(({ score, text }) => ({ score, sentence: `${text.split('. ')[0]}.` }));
  return { ranges: Object.fromEntries(all.map((one) => [one.score, one.repeatability])), notable };
}

/** The page's notes on how a night was put together. */
function notesOf({ recording }: Prediction): string[] {
  const parts = recording?.sleep?.parts.length ?? 0;
  const joined = parts > 1 ? [`put together of ${parts} sleeps, the time between them awake`] : [];
  return [...joined, ...(recording?.left ?? []).map(({ what, why }) => `${what} was left: ${why}`)];
}

/** The page's description of the data, without the data. */
function qualityOf({ quality: { missing, series } }: Explanation): Quality {
  const level = (name: string) => {
    const samples = series[name]?.samples ?? 0;
    return samples === 0 ? 'missing' : samples === 1 ? 'average' : 'series';
  };
  const has = (name: string) => !missing.includes(name);
  const sleep = has('deepPercentage') ? 'stages' : has('sleepTimeSeconds') ? 'sum' : 'missing';
  return { heart: level('HR_night'), breath: level('RR_night'), sleep };
}
