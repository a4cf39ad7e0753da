import type { History, Session } from 'acuity-client';
import { fromTerra } from 'acuity-client/adapters';
import type { Quality, Store } from './store.js';

/** The body of a webhook of Terra, as far as it is read here. */
export interface TerraEvent {
  readonly type?: string;
  readonly user?: { readonly user_id?: string; readonly reference_id?: string | null };
}

/** Scores the night of an event and keeps it; says of whom it was. */
export async function scoreEvent(
  event: TerraEvent,
  history: History,
  store: Store,
  zone: string | undefined,
): Promise<string> {
  const person = event.user?.reference_id ?? event.user?.user_id;
  if (typeof person !== 'string' || person === '') throw new RangeError('user: is missing');
  const { at, session } = fromTerra({ sleep: event, ...(zone !== undefined && { zone }) });
  const { scores, modelVersion } = await history.score(person, at, session);
  await store.keep(person, { at, modelVersion, scores, quality: qualityOf(session) });
  return person;
}

/** What the page says of the data, without the data. */
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
