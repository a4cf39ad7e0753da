import { FEATURE_COUNT, TARGET_COUNT } from '#acuity/contract/features.js';
import {
  DEFAULT_SERIES_LIMITS,
  PAST_MAX,
  SERIES_FIELDS,
  type PredictionRequestBody,
  type Session,
  type SessionFrame,
} from '#acuity/contract/request.js';
import { featurisePast, featuriseSession, type PastRows } from '#acuity/pipeline/featurise.js';
import { WasmParser, LAYOUT, hasUnitError, type PredictionRequest } from '#acuity/pipeline/wasmParser.js';
import { writeScalars, writeTarget } from '#acuity/pipeline/records.js';

/** What one request feeds to the network. */
export interface ModelInput {
  readonly session: Float32Array;
  readonly past: PastRows | undefined;
}

const parser = new WasmParser(DEFAULT_SERIES_LIMITS);

/** The features of a request that was parsed and validated already; undefined where a series is in another unit. */
export function modelInputOf(body: PredictionRequestBody): ModelInput | undefined {
  const past = body.past_sessions ?? [];
  const targets = body.past_targets ?? body.past_target ?? [];
  const request = parser.blank(past.length);
  [body.current_session, ...past].forEach((session, index) => writeSession(session, request, index));
  targets.forEach((target, index) => writeTarget(target, request.targets, index * LAYOUT.TARGET_LENGTH));
  return hasUnitError(request) ? undefined : inputOf(request);
}

/** The features of a request in the form of the service's own readers. */
export function inputOf(request: PredictionRequest): ModelInput {
  const session = new Float32Array(FEATURE_COUNT);
  featuriseSession(request, 0, session, 0);
  if (request.pastCount === 0) return { session, past: undefined };
  const past: PastRows = {
    past: new Float32Array(PAST_MAX * FEATURE_COUNT),
    targets: new Float32Array(PAST_MAX * TARGET_COUNT),
    present: new Float32Array(PAST_MAX),
  };
  featurisePast(request, past, 0);
  return { session, past };
}

function writeSession(session: Session, request: PredictionRequest, index: number): void {
  writeScalars(session as SessionFrame, request.records, index * LAYOUT.RECORD_LENGTH);
  for (const field of SERIES_FIELDS) {
    const values = session[field];
    if (values !== null && values !== undefined) parser.summarise(values, field, index);
  }
}
