import { PAST_MAX, SERIES_FIELDS } from '#rules/fields.js';
import type { PredictionRequestBody, Session } from '#acuity/contract/request.js';
import { requestsOf, type PayloadName } from '#acuity/load/payloads.js';
import { withHistoryField, withMeasuredHistory } from './historyField.js';

/** A payload as real callers write it: not always rounded, compact and complete. */
export interface Form {
  /** For commands, short. */
  readonly id: string;
  readonly name: string;
  /** Whether only the service reads it: other servers have no histories. */
  readonly isOurs?: boolean;
  /** One body per text, for the same people in each form. */
  texts(variants: number, payload?: PayloadName): readonly string[];
}

type Samples = (samples: readonly number[]) => readonly number[];

/** 1 Hz, over an hour and over eight of them. */
const HOUR_SAMPLES = 3_600;
const NIGHT_SAMPLES = 28_800;
const GAP_EVERY = 20;

/** In table order; the others are compared with the first row. */
export const FORMS: readonly Form[] = [
  ofSamples('tenths', 'tenths', (samples) => samples),
  ofSamples('whole', 'whole numbers', (samples) => samples.map(Math.round)),
  ofSamples('thousandths', 'three decimals', (samples) => samples.map(thousandth)),
  ofSamples('means-14', '14 decimals, as of means', (samples) => samples.map(mean)),
  ofSamples('means-17', '17 digits, as of means', (samples) => samples.map(longMean)),
  ofSamples('gaps', 'tenths, one in 20 a gap', (samples) => samples.map(gapOr)),
  ofSamples('means-14-gaps', '14 decimals, one in 20 a gap', (samples) =>
    samples.map((sample, index) => gapOr(mean(sample, index), index)),
  ),
  ofRequests('scalars-17', 'scalars and scores of 17 digits', withLongScalars),
  {
    id: 'pretty',
    name: 'pretty-printed, indent of 2',
    texts: (variants, payload = 'history') =>
      requestsOf(payload, variants).map((request) => JSON.stringify(request, null, 2)),
  },
  ofRequests('unknown', 'unknown fields', withUnknown),
  { ...ofRequests('field', 'the past in one field', withHistoryField), isOurs: true },
  {
    ...ofRequests('measured', 'the past in one field, with measurements', withMeasuredHistory),
    isOurs: true,
  },
  ofRequests('no-breathing', 'no breathing series', withoutBreathing),
  ofSamples('averages', 'one average a series', (samples) => samples.slice(0, 1).map(mean)),
  ofRequests('1hz', 'one session at 1 Hz', ({ current_session }) => ({
    current_session: atOneHertz(current_session),
  })),
];

function ofRequests(id: string, name: string, change: (request: PredictionRequestBody) => object): Form {
  return {
    id,
    name,
    texts: (variants, payload = 'history') =>
      requestsOf(payload, variants).map((request) => JSON.stringify(change(request))),
  };
}

function ofSamples(id: string, name: string, samples: Samples): Form {
  return ofRequests(id, name, (request) => withSessions(request, (session) => withSamples(session, samples)));
}

function withSessions(request: PredictionRequestBody, change: (session: Session) => object): object {
  const past_sessions = request.past_sessions?.slice(-PAST_MAX).map(change);
  return { ...request, current_session: change(request.current_session), past_sessions };
}

function withSamples(session: Session, samples: Samples): Session {
  const changed = SERIES_FIELDS.map((field) => [field, samples(session[field] ?? [])]);
  return { ...session, ...(Object.fromEntries(changed) as Partial<Session>) };
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

function thousandth(sample: number, index: number): number {
  return Math.round((sample + (index % 97) / 1000) * 1000) / 1000;
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

function withoutBreathing(request: PredictionRequestBody): object {
  return withSessions(request, (session) => ({
    ...session,
    RR_day_1h: undefined,
    RR_night: undefined,
  }));
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
