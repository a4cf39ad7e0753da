import { SERIES_FIELDS, type SeriesField } from '#rules/fields.js';
import type { PredictionRequestBody, Session } from '#acuity/contract/request.js';
import { requestsOf } from '#acuity/load/payloads.js';

/** Few are enough here: a curve shows how cost grows, and its long bodies are made anew for every point. */
const VARIANTS = 4;
const DAY_SAMPLES_MAX = 7_200;
const NIGHT_SAMPLES_MAX = 43_200;

/** Requests without history, `samples` in each of the four series. */
export function bodiesWithSamples(samples: number): string[] {
  return requestsOf('baseline', VARIANTS).map(({ current_session }) =>
    JSON.stringify({ current_session: withSamples(current_session, samples, samples) }),
  );
}

/** Requests with so many past sessions. */
export function bodiesWithPast(sessions: number): string[] {
  return requestsOf('history', VARIANTS).map(({ current_session, past_sessions, past_targets }) =>
    JSON.stringify(
      sessions === 0
        ? { current_session }
        : {
            current_session,
            past_sessions: past_sessions?.slice(-sessions),
            past_targets: past_targets?.slice(-sessions),
          },
    ),
  );
}

/** Requests with full history whose samples have up to so many decimals, zeros at the end left out. */
export function bodiesWithDecimals(decimals: number): string[] {
  return requestsOf('history', VARIANTS).map(({ current_session, past_sessions, past_targets }) =>
    JSON.stringify({
      current_session: withDecimals(current_session, decimals),
      past_sessions: past_sessions?.map((session) => withDecimals(session, decimals)),
      past_targets,
    }),
  );
}

/** Requests with full history that are as long as series allow, and no longer than `bytes`. */
export function bodiesOfBytes(bytes: number): string[] {
  return requestsOf('history', 2).map((request) => longestWithin(request, bytes));
}

/** Searched to within a sixty-fourth: each try words the whole body. */
function longestWithin(request: PredictionRequestBody, bytes: number): string {
  let [shorter, longer] = [1, NIGHT_SAMPLES_MAX + 1];
  while (longer - shorter > Math.max(1, shorter >> 6)) {
    const night = (shorter + longer) >> 1;
    if (Buffer.byteLength(lengthened(request, night)) <= bytes) shorter = night;
    else longer = night;
  }
  return lengthened(request, shorter);
}

function lengthened(
  { current_session, past_sessions, past_targets }: PredictionRequestBody,
  night: number,
): string {
  const longer = (session: Session): Session => withSamples(session, Math.min(night, DAY_SAMPLES_MAX), night);
  return JSON.stringify({
    current_session: longer(current_session),
    past_sessions: past_sessions?.map(longer),
    past_targets,
  });
}

/** The same levels, each sample moved by less than a tenth. */
function withDecimals(session: Session, decimals: number): Session {
  const scale = 10 ** decimals;
  return withSeries(session, (samples) =>
    samples.map((sample, index) => Math.round((sample + ((index % 97) + 1 / 3) / 1000) * scale) / scale),
  );
}

/** The samples of a series over and over, each in thousandths, as devices that compute averages word them. */
function withSamples(session: Session, day: number, night: number): Session {
  return withSeries(session, (samples, field) =>
    Array.from({ length: field.endsWith('night') ? night : day }, (_, index) => {
      const sample = samples[index % samples.length] ?? 0;
      return Math.round((sample + (index % 97) / 1000) * 1000) / 1000;
    }),
  );
}

function withSeries(
  session: Session,
  change: (samples: readonly number[], field: SeriesField) => number[],
): Session {
  const series = SERIES_FIELDS.map((field) => [field, change(session[field] ?? [], field)]);
  return { ...session, ...(Object.fromEntries(series) as Partial<Session>) };
}
