import type { Finding, History, Prediction } from 'acuity-client';
import type { Store } from './store.js';

/** The body of a Terra webhook, as far as it is read here: the service reads the rest. */
export interface TerraEvent {
  readonly type?: string;
  /** When a recorded event arrived; live ones arrive now. */
  readonly received_at?: string;
  readonly user?: { readonly user_id?: string; readonly reference_id?: string | null };
}

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
  const prediction = await history.score(person, { recording }, { explain: true });
  const { scores, modelVersion } = prediction;
  const night = prediction.recording?.night ?? at.slice(0, 10);
  store.keep(person, { night, modelVersion, scores, notes: notesOf(prediction) });
}

/** Where a finding is, as the provider's documentation would write it, and what it says: `sleep.data[0].id: is missing`. */
export function sentenceOf({ loc, msg }: Finding): string {
  const [, , , ...path] = loc;
  return `${path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')}: ${msg}`.slice(
    1,
  );
}

/** The service's sentences about notable scores, and what the night was made of. */
function notesOf({ explanation, recording }: Prediction): string[] {
  const scores = explanation === undefined ? [] : Object.values(explanation.scores);
  const notable = scores.flatMap((score) => (score.notable ? [score.text] : []));
  const missing = explanation?.quality.missing ?? [];
  const parts = recording?.sleep?.parts.length ?? 0;
  return [
    ...notable,
    ...(missing.length > 0 ? [`Missing: ${missing.join(', ')}.`] : []),
    ...(parts > 1 ? [`Put together of ${parts} sleeps, the time between them awake.`] : []),
    ...(recording?.left ?? []).map(({ what, why }) => `${what} was left: ${why}.`),
  ];
}
