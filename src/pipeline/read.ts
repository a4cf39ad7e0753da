import { Compile } from 'typebox/compile';
import type { BodyProblem } from '../contract/problems.js';
import {
  LiftedRequestSchema,
  PAST_MAX,
  SERIES_FIELDS,
  samplesMax,
  type LiftedRequest,
  type LiftedSession,
  type PredictionRequest,
  type SeriesLimits,
} from '../contract/request.js';
import { readExactly } from './exact.js';
import { Lifter } from './lift.js';

/** Reads one body; the request holds until the next one is read. */
export type RequestReader = (bytes: Uint8Array) => PredictionRequest | BodyProblem;

const liftedCheck = Compile(LiftedRequestSchema);

export function isBodyProblem(outcome: PredictionRequest | BodyProblem): outcome is BodyProblem {
  return 'kind' in outcome;
}

/**
 * The reader of one thread. The fast path only ever says yes: whatever it does not take is read again on the
 * exact path, which decides and words the refusal.
 */
export function createReader(limits: SeriesLimits): RequestReader {
  const samplesOfSession = 2 * limits.daySamplesMax + 2 * limits.nightSamplesMax;
  const lifter = new Lifter((1 + PAST_MAX) * samplesOfSession);
  return (bytes) => readFast(lifter, bytes, limits) ?? readExactly(bytes, limits);
}

/** The request in `bytes`, or undefined where the exact path must look. */
export function readFast(
  lifter: Lifter,
  bytes: Uint8Array,
  limits: SeriesLimits,
): PredictionRequest | undefined {
  const skeleton = lifter.lift(bytes);
  if (skeleton === undefined) return undefined;
  let body: unknown;
  try {
    body = JSON.parse(skeleton);
  } catch {
    return undefined; // the exact path says at which byte
  }
  if (!liftedCheck.Check(body)) return undefined;
  return toRequest(body as LiftedRequest, lifter, limits);
}

function toRequest(
  body: LiftedRequest,
  { samples, bounds }: Lifter,
  limits: SeriesLimits,
): PredictionRequest | undefined {
  const past = body.past_sessions ?? [];
  const plural = body.past_targets ?? undefined;
  const singular = body.past_target ?? undefined;
  if (plural !== undefined && singular !== undefined) return undefined;
  const targets = plural ?? singular ?? [];
  if (past.length !== targets.length) return undefined;
  if (!seriesFit(body.current_session, bounds, limits)) return undefined;
  for (const session of past) if (!seriesFit(session, bounds, limits)) return undefined;
  return { current: body.current_session, past, targets, samples, bounds };
}

function seriesFit(session: LiftedSession, bounds: Int32Array, limits: SeriesLimits): boolean {
  for (const field of SERIES_FIELDS) {
    const series = session[field]?.[0];
    if (series === undefined) continue;
    const length = bounds[2 * series + 1]! - bounds[2 * series]!; // the lifter's own reference
    if (length > samplesMax(field, limits)) return false;
  }
  return true;
}
