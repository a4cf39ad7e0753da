import { DEFAULT_SERIES_LIMITS, LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import type { Measurement, PredictionRequestBody, ScoreRecord, Session } from '#acuity/contract/request.js';
import { dateOf } from '#acuity/base/days.js';
import { loadBundle } from '#acuity/model/bundle.js';
import { createReader, isBodyProblem } from '#acuity/read/read.js';
import { MODEL_FOLDER } from '#bench/paths.js';

/** The shipped model's constants of measurements. */
export const { measured: CONSTANTS } = (await loadBundle(MODEL_FOLDER)).manifest;

const FIRST_DAY = 20_000;
/** Earlier nights, so that the long run is filled and costs as much as after a month. */
const EARLIER_NIGHTS = 30;
const THRESHOLDS = { valence: 0.5, arousal: 0.5 };

const readRequest = createReader(DEFAULT_SERIES_LIMITS);

const MEASUREMENTS: Measurement[] = [
  { score: 'attention', value: 71, reliability: 0.7 },
  { score: 'attention', value: 64, on: dateOf(FIRST_DAY) },
  { score: 'memory', value: 55 },
  { score: 'stress', value: 35 },
  { score: 'valence', value: 'High' },
];

/** The same with five measurements in the history, of the night before. */
export function withMeasuredHistory(request: PredictionRequestBody): PredictionRequestBody {
  return withHistoryField(request, MEASUREMENTS);
}

/** The same request with its past in one field: the scores that it is answered with are the same. */
export function withHistoryField(
  { current_session, past_sessions, past_targets }: PredictionRequestBody,
  measurements: Measurement[] = [],
): PredictionRequestBody {
  const sessions = past_sessions ?? [];
  const targets = past_targets ?? [];
  let history = '';
  let day = FIRST_DAY;
  for (let night = 0; night < EARLIER_NIGHTS; night++) {
    const index = night % Math.max(1, sessions.length);
    history = nextOf(history, day++, sessions[index], targets[index]);
  }
  for (const [index, session] of sessions.entries())
    history = nextOf(
      history,
      day++,
      session,
      targets[index],
      index === sessions.length - 1 ? measurements : [],
    );
  return { current_session, history, night: dateOf(day) };
}

/** The history once the session of `day` has been scored with `target`. */
function nextOf(
  history: string,
  day: number,
  current_session: Session = {},
  target: ScoreRecord | undefined = undefined,
  measurements: Measurement[] = [],
): string {
  const body = JSON.stringify({ current_session, history, night: dateOf(day), measurements });
  const request = readRequest(Buffer.from(body), CONSTANTS);
  if (isBodyProblem(request) || request.history === undefined)
    throw new Error('a payload is no valid request');
  const scores = SCORE_FIELDS.map((field) => target?.[field] ?? 50);
  const chances = LABEL_FIELDS.map((field) => (target?.[field] === 'High' ? 0.6 : 0.4));
  return request.history.text({ scores: Float32Array.of(...scores, ...chances), offset: 0 }, THRESHOLDS);
}
