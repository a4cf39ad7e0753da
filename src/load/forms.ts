import { PAST_MAX, SERIES_FIELDS, type PredictionRequestBody, type Session } from '../contract/request.js';
import { requestsOf } from './payloads.js';

/** The history payload as callers write it: what they send is not always rounded, compact and whole. */
export interface Form {
  readonly name: string;
  /** Texts of one body each, the same people in each form. */
  texts(variants: number): readonly string[];
}

type Samples = (samples: readonly number[]) => readonly number[];

/** 1 Hz, over an hour and over eight of them. */
const HOUR_SAMPLES = 3_600;
const NIGHT_SAMPLES = 28_800;
const GAP_EVERY = 20;

/** In the order of a table, whose first row the others are compared with. */
export const FORMS: readonly Form[] = [
  formOf('tenths', (samples) => samples),
  formOf('whole numbers', (samples) => samples.map(Math.round)),
  formOf('three decimals', (samples) => samples.map((sample, index) => thousandth(sample, index))),
  formOf('14 decimals, as of means', (samples) => samples.map(mean)),
  formOf('tenths, one in 20 a gap', (samples) =>
    samples.map((sample, index) => (index % GAP_EVERY === 7 ? -(index & 1) : sample)),
  ),
  formOf('14 decimals, one in 20 a gap', (samples) =>
    samples.map((sample, index) => (index % GAP_EVERY === 7 ? -(index & 1) : mean(sample, index))),
  ),
  {
    name: 'scalars and scores of 17 digits',
    texts: (variants) =>
      requestsOf('history', variants).map((request) => JSON.stringify(withLongScalars(request))),
  },
  {
    name: 'pretty-printed, indent of 2',
    texts: (variants) => requestsOf('history', variants).map((request) => JSON.stringify(request, null, 2)),
  },
  {
    name: 'unknown fields',
    texts: (variants) =>
      requestsOf('history', variants).map((request) => JSON.stringify(withUnknown(request))),
  },
  {
    name: 'no breathing series',
    texts: (variants) =>
      requestsOf('history', variants).map((request) => JSON.stringify(withoutBreathing(request))),
  },
  formOf('one average a series', (samples) => samples.slice(0, 1).map(mean)),
  {
    name: 'one session at 1 Hz',
    texts: (variants) =>
      requestsOf('baseline', variants).map(({ current_session }) =>
        JSON.stringify({ current_session: atOneHertz(current_session) }),
      ),
  },
];

function formOf(name: string, samples: Samples): Form {
  return {
    name,
    texts: (variants) =>
      requestsOf('history', variants).map((request) =>
        JSON.stringify(withSessions(request, (session) => withSamples(session, samples))),
      ),
  };
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

function thousandth(sample: number, index: number): number {
  return Math.round((sample + (index % 97) / 1000) * 1000) / 1000;
}

function withLongScalars(request: PredictionRequestBody): object {
  const long = (value: unknown): unknown =>
    typeof value === 'number' && value % 1 !== 0 ? mean(value, 3) : value;
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
