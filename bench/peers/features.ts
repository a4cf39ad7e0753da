import { isHeartRate, sleepContradictions } from '#rules/contradictions.js';
import { FEATURE_COUNT, TARGET_COUNT } from '#acuity/contract/features.js';
import {
  DEFAULT_SERIES_LIMITS,
  PAST_MAX,
  SERIES_ALIASES,
  SERIES_FIELDS,
  type SeriesAlias,
  type SeriesField,
} from '#rules/fields.js';
import type { PredictionRequestBody, Session } from '#acuity/contract/request.js';
import { featurisePast, featuriseRecord, type PastRows } from '#acuity/night/featurise.js';
import { isUnitError } from '#acuity/read/unitErrors.js';
import { LAYOUT } from '#acuity/night/layout.js';
import type { PredictionRequest } from '#acuity/night/request.js';
import { WasmParser } from '#acuity/read/wasmParser.js';
import { writeScalars, writeTarget } from '#acuity/night/places.js';

/** The rows that one request feeds to the network. */
export interface ModelInput {
  readonly session: Float32Array;
  readonly past: PastRows | undefined;
}

const parser = new WasmParser(DEFAULT_SERIES_LIMITS);

/** The features of a request already parsed and validated; undefined if something is in another unit. */
export function modelInputOf(body: PredictionRequestBody): ModelInput | undefined {
  const past = body.past_sessions ?? [];
  const targets = body.past_targets ?? body.past_target ?? [];
  const request = parser.blank(past.length);
  const sessions = [body.current_session, ...past];
  sessions.forEach((session, index) => writeSession(session, request, index));
  targets.forEach((target, index) => writeTarget(target, request.targets, index * LAYOUT.TARGET_LENGTH));
  if (sessions.some((_, index) => SERIES_FIELDS.some((field) => isUnitError(request, index, field))))
    return undefined;
  return sessions.some(isContradictory) ? undefined : inputOf(request);
}

/** The features of a request in the form of the service's own readers. */
export function inputOf(request: PredictionRequest): ModelInput {
  const session = new Float32Array(FEATURE_COUNT);
  featuriseRecord(request.records, 0, session, 0);
  if (request.pastCount === 0) return { session, past: undefined };
  const past: PastRows = {
    past: new Float32Array(PAST_MAX * FEATURE_COUNT),
    targets: new Float32Array(PAST_MAX * TARGET_COUNT),
    present: new Float32Array(PAST_MAX),
  };
  featurisePast(request, past, 0);
  return { session, past };
}

function isContradictory(session: Session): boolean {
  const isHeart = (['RR_day_1h', 'RR_night'] as const).some((field) =>
    isHeartRate(seriesOf(session, field) ?? []),
  );
  return isHeart || sleepContradictions(session).length > 0;
}

function writeSession(session: Session, request: PredictionRequest, index: number): void {
  writeScalars(session, request.records, index * LAYOUT.RECORD_LENGTH);
  for (const field of SERIES_FIELDS) {
    const values = seriesOf(session, field);
    if (values !== null && values !== undefined) parser.summarise(values, field, index);
  }
}

/** Under either of its names. */
function seriesOf(session: Session, field: SeriesField): readonly number[] | null | undefined {
  const alias = SERIES_ALIASES[field as keyof typeof SERIES_ALIASES] as SeriesAlias | undefined;
  const values = session[field];
  const isGiven = values !== null && values !== undefined && values.length > 0;
  return isGiven || alias === undefined ? values : (session[alias] ?? values);
}
