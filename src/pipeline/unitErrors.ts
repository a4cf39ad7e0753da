import { FINDINGS_MAX, type Finding } from '../contract/problems.js';
import type { LiftedSession, PredictionRequest, SeriesField } from '../contract/request.js';
import { unitErrorFields, type Samples } from './featurise.js';
import { HEART_RATE, RESPIRATORY_RATE, SeriesSummary, summarise } from './series.js';

/** Breathing in the hundreds is most likely beat-to-beat intervals in milliseconds. */
const INTERVALS_MEDIAN_MIN = 200;
const INTERVALS_MEDIAN_MAX = 3_000;

/** What is wrong with the units of `request`, in the order of the contract. */
export function unitErrors(request: PredictionRequest): Finding[] {
  const found = sessionErrors(request.current, request, ['body', 'current_session']);
  request.past.forEach((session, index) => {
    found.push(...sessionErrors(session, request, ['body', 'past_sessions', index]));
  });
  return found.slice(0, FINDINGS_MAX);
}

function sessionErrors(session: LiftedSession, samples: Samples, loc: Finding['loc']): Finding[] {
  return unitErrorFields(session, samples).map((field) => ({
    loc: [...loc, field],
    msg: message(field, session, samples),
    type: 'unit_error' as const,
  }));
}

function message(field: SeriesField, session: LiftedSession, samples: Samples): string {
  if (field === 'HR_day_1h' || field === 'HR_night') {
    return `Expected beats per minute, ${HEART_RATE.low} to ${HEART_RATE.high}; most samples lie outside`;
  }
  const expected = `Expected breaths per minute, ${RESPIRATORY_RATE.low} to ${RESPIRATORY_RATE.high}`;
  return looksLikeIntervals(session[field]?.[0], samples)
    ? `${expected}; these look like R-R intervals in milliseconds, not respiratory rate`
    : `${expected}; most samples lie outside`;
}

function looksLikeIntervals(series: number | undefined, { samples, bounds }: Samples): boolean {
  if (series === undefined) return false;
  const summary = new SeriesSummary();
  const range = { low: INTERVALS_MEDIAN_MIN, high: INTERVALS_MEDIAN_MAX, binsPerUnit: 0.1 };
  summarise(samples, bounds[2 * series] ?? 0, bounds[2 * series + 1] ?? 0, range, summary);
  return summary.count > summary.implausible;
}
