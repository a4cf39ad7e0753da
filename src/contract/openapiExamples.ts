import { NUMBER_BOUNDS } from '#rules/fields.js';
import type { PredictionRequestBody, ScoreRecord, Session } from './request.js';
import type { PredictionResponse } from './response.js';

/** The examples in the OpenAPI document: short, but each a request that the service scores. */

const session: Session = {
  HR_day_1h: [71, 73, 76, 74, 70, 69, 72, 75, 78, 74, 71, 70],
  RR_day_1h: [15.2, 14.8, 16.1, 15.7, 14.9, 15.4, 16.3, 15.8],
  HR_night: [60, 58, 57, 56, 55, 54, 53, 54, 56, 57, 55, 53, 52, 54, 57, 59],
  RR_night: [14.6, 14.2, 13.9, 14.1, 14.4, 13.8, 13.7, 14.3, 14.9, 14.5],
  sleepTimeSeconds: 26_100,
  deepSleepSeconds: 5_400,
  remSleepSeconds: 6_300,
  lightSleepSeconds: 14_400,
  awakeSleepSeconds: 1_800,
  deepPercentage: 0.21,
  remPercentage: 0.24,
  lightPercentage: 0.55,
  age: 34,
  height_cm: 178,
  weight_kg: 74,
  sex: 'F',
};

const earlierSession: Session = {
  ...session,
  HR_night: [62, 61, 60, 59, 58, 57, 57, 58, 59, 60, 58, 57, 56, 57, 59, 61],
  sleepTimeSeconds: 23_400,
  deepSleepSeconds: 4_200,
  remSleepSeconds: 5_100,
  lightSleepSeconds: 14_100,
  awakeSleepSeconds: 2_700,
  deepPercentage: 0.18,
  remPercentage: 0.22,
  lightPercentage: 0.6,
};

const earlierScores: ScoreRecord = {
  C_SCORE: 48.71,
  attention: 48.2,
  memory: 49.32,
  reasoning: 48.78,
  stress: 51.4,
  valence: 'High',
  arousal: 'Low',
};

export interface RequestExample {
  readonly summary: string;
  readonly value: PredictionRequestBody;
}

/** Requests that are answered with 200. */
export const REQUEST_EXAMPLES = {
  baseline: { summary: 'One session, no history', value: { current_session: session } },
  history: {
    summary: 'With an earlier session and the scores that were returned for it',
    value: { current_session: session, past_sessions: [earlierSession], past_targets: [earlierScores] },
  },
  measured: {
    summary:
      'A percentile of attention and a questionnaire as it was answered, with the history that keeps them',
    value: {
      current_session: session,
      history: '',
      night: '2026-11-21',
      measurements: [
        { score: 'attention', value: 71, on: '2026-11-18', reliability: 0.7 },
        { test: 'pss10', score: 'stress', answers: [2, 2, 2, 3, 3, 1, 3, 2, 1, 2] },
      ],
    },
  },
  sparse: {
    summary: 'A wearable without breathing and sleep stages',
    value: {
      current_session: {
        HR_day_1h: [71, 73, 76, 74, 70, 69, 72, 75, 78, 74, 71, 70],
        RR_day_1h: [],
        HR_night: [60, 58, 57, 56, 55, 54, 53, 54, 56, 57, 55, 53, 52, 54, 57, 59],
        RR_night: [],
        sleepTimeSeconds: 26_100,
        age: 34,
        sex: null,
      },
    },
  },
} as const satisfies Record<string, RequestExample>;

/** A night of each provider, as its recording. */
export function recordingExamples(
  recordings: Readonly<Record<string, object>>,
): Readonly<Record<string, { readonly summary: string; readonly value: object }>> {
  return Object.fromEntries(
    Object.entries(recordings).map(([provider, recording]) => [
      provider,
      {
        summary: `A recording of ${provider}, with the history of the person`,
        value: { current_session: { recording, age: 34, sex: 'F' }, history: '' },
      },
    ]),
  );
}

const scores = {
  C_SCORE: 50.42,
  attention: 50.87,
  memory: 50.11,
  reasoning: 50.13,
  stress: 47.65,
  valence: 'High',
  arousal: 'Low',
} as const;

export interface ResponseExample {
  readonly summary: string;
  readonly value: PredictionResponse;
}

/** Responses to the requests of the same names; those with a recording show the last, all others the first. */
export const RESPONSE_EXAMPLES = {
  baseline: { summary: 'The scores', value: { ...scores, inference_time_ms: 0.21 } },
  measured: {
    summary: 'With measurements in the history: the scores without them beside',
    value: {
      ...scores,
      C_SCORE: 54.21,
      attention: 60.35,
      stress: 42.86,
      inference_time_ms: 0.21,
      unmeasured: scores,
      measured: [{ test: 'pss10', score: 'stress', value: 35.3, on: '2026-11-21' }],
      history: 'acu1.AQ',
    },
  },
  recording: {
    summary: 'To a recording: what was read of it, beside the scores',
    value: {
      ...scores,
      inference_time_ms: 0.21,
      history: 'acu1.AQ',
      recording: {
        at: '2026-03-02T06:30:00.000Z',
        night: '2026-03-02',
        sleep: {
          from: '2026-03-01T22:00:00.000Z',
          to: '2026-03-02T06:00:00.000Z',
          source: null,
          parts: [
            { what: 'sleep.data[0]', from: '2026-03-01T22:00:00.000Z', to: '2026-03-02T06:00:00.000Z' },
          ],
        },
        left: [{ what: 'sleep.data[1]', why: 'a nap: ended within 12 hours of a longer sleep' }],
      },
    },
  },
} as const satisfies Record<string, ResponseExample>;

/** A truncated body, and the byte that the 400 names. */
export const MALFORMED_EXAMPLE = { body: '{"current_session": ', byte: 20 } as const;

/** A request that is refused with 422, and its one finding. */
export const UNPROCESSABLE_EXAMPLE = {
  body: { current_session: { age: NUMBER_BOUNDS.age.maximum + 1 } },
  finding: {
    loc: ['body', 'current_session', 'age'],
    msg: `Input should be less than or equal to ${NUMBER_BOUNDS.age.maximum}`,
    type: 'less_than_equal',
    ctx: { le: NUMBER_BOUNDS.age.maximum },
  },
} as const;

const lineOf = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** A list of three requests, of which the first is scored. */
export const LIST_EXAMPLE = {
  request:
    lineOf(REQUEST_EXAMPLES.baseline.value) +
    `${MALFORMED_EXAMPLE.body}\n` +
    lineOf(UNPROCESSABLE_EXAMPLE.body),
  response:
    lineOf(RESPONSE_EXAMPLES.baseline.value) +
    lineOf({ status: 400, detail: `Malformed JSON at byte ${MALFORMED_EXAMPLE.byte}` }) +
    lineOf({ status: 422, detail: [UNPROCESSABLE_EXAMPLE.finding] }),
} as const;
