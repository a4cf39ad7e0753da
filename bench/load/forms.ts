import { PAST_MAX, SERIES_FIELDS } from '#rules/fields.js';
import type { PredictionRequestBody, Session } from '#acuity/contract/request.js';
import { requestsOf } from '#acuity/tune/load/payloads.js';
import { withHistoryField, withMeasuredHistory } from './historyField.js';

/** A payload as real callers write it: not always rounded, compact and complete. */
export interface Form {
  readonly name: string;
  /** Whether only the service reads it: other servers have no histories. */
  readonly isOurs?: boolean;
  /** One body per text, for the same people in each form. */
  texts(variants: number): readonly string[];
}

/** 1 Hz, over an hour and over eight of them. */
const HOUR_SAMPLES = 3_600;
const NIGHT_SAMPLES = 28_800;
const GAP_EVERY = 20;

/** In table order; the others are compared with the first row. */
export const FORMS: readonly Form[] = [
  ofSamples('tenths', (sample) => sample),
  ofSamples('14 decimals, as of means', mean),
  ofSamples('17 digits, as of means', longMean),
  ofSamples('tenths, one in 20 a gap', gapOr),
  ofRequests('scalars and scores of 17 digits', withLongScalars),
  {
    name: 'pretty-printed, indent of 2',
    texts: (variants) => requestsOf('history', variants).map((request) => JSON.stringify(request, null, 2)),
  },
  ofRequests('unknown fields', withUnknown),
  { ...ofRequests('the past in one field', withHistoryField), isOurs: true },
  { ...ofRequests('the past in one field, with measurements', withMeasuredHistory), isOurs: true },
  ofRequests('one session at 1 Hz', ({ current_session }) => ({
    current_session: atOneHertz(current_session),
  })),
];

function ofRequests(name: string, change: (request: PredictionRequestBody) => object): Form {
  return {
    name,
    texts: (variants) => requestsOf('history', variants).map((request) => JSON.stringify(change(request))),
  };
}

function ofSamples(name: string, change: (sample: number, index: number) => number): Form {
  return ofRequests(name, (request) =>
    withSessions(request, (session) => {
      const changed = SERIES_FIELDS.map((field) => [field, session[field]?.map(change)]);
      return { ...session, ...(Object.fromEntries(changed) as Partial<Session>) };
    }),
  );
}

function withSessions(request: PredictionRequestBody, change: (session: Session) => object): object {
  const past_sessions = request.past_sessions?.slice(-PAST_MAX).map(change);
  return { ...request, current_session: change(request.current_session), past_sessions };
}

/** Near the sample, with as many digits as a mean over three has. */
function mean(sample: number, index: number): number {
  return sample + ((index % 97) + 1 / 3) / 1000;
}

const DIGITS_MAX = 17;
/** The distance of two neighbouring float64, relative to their size. */
const STEP = 2 ** -52;

/** The nearest float64 above such a mean that takes 17 digits: nothing shorter reads back as the same number. */
function longMean(sample: number, index: number): number {
  let value = mean(sample, index);
  for (let step = 0; step < 64 && digitsOf(value) < DIGITS_MAX; step++) value += value * STEP;
  return value;
}

function digitsOf(value: number): number {
  return String(value).replace(/^0\.0*|[-.]/g, '').length;
}

/** A gap is −1 and 0 in turn. */
function gapOr(sample: number, index: number): number {
  if (index % GAP_EVERY !== 7) return sample;
  return index % (2 * GAP_EVERY) === 7 ? -1 : 0;
}

function withLongScalars(request: PredictionRequestBody): object {
  const long = (value: unknown): unknown =>
    typeof value === 'number' && value % 1 !== 0 ? longMean(value, 3) : value;
  const changed = (record: object): object =>
    Object.fromEntries(Object.entries(record).map(([field, value]) => [field, long(value)]));
  const past_targets = request.past_targets?.map(changed);
  return { ...withSessions(request, changed), past_targets };
}

function withUnknown(request: PredictionRequestBody): object {
  const more = { source: 'a "device"', device: { model: 'x', tags: ['a', 'b', 1.5, null], on: true } };
  return { client: more, ...withSessions(request, (session) => ({ ...more, ...session, note: null })) };
}

function atOneHertz(session: Session): Session {
  const repeated = (samples: readonly number[] = [], length: number): number[] =>
    Array.from({ length }, (_, index) => samples[index % samples.length] ?? 0);
  return {
    ...session,
    HR_day_1h: repeated(session.HR_day_1h ?? [], HOUR_SAMPLES),
    RR_day_1h: repeated(session.RR_day_1h ?? [], HOUR_SAMPLES),
    HR_night: repeated(session.HR_night ?? [], NIGHT_SAMPLES),
    RR_night: repeated(session.RR_night ?? [], NIGHT_SAMPLES),
  };
}
