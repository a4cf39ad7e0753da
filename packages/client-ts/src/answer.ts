import type { Explanation, Finding, Measurement, ScoreRecord } from './contract.js';
import { errorFor, type AcuityError } from './errors.js';
import type { Incoming } from './transport.js';

/** What the service said of one session. */
export interface Prediction {
  readonly scores: ScoreRecord;
  /** Version of the network that gave them; keep it beside them. */
  readonly modelVersion: string;
  readonly requestId: string;
  readonly inferenceTimeMs: number;
  /** There where it was asked for (`explain`) and the service can explain. */
  readonly explanation?: Explanation;
  /** There where the request had one: what the person's next request sends. */
  readonly history?: string;
  /** There where measurements count: the scores without them. */
  readonly unmeasured?: ScoreRecord;
  /** There where some came too late to count. */
  readonly measurementsIgnored?: readonly IgnoredMeasurement[];
}

/** A measurement older than the newest that the history no longer keeps one by one. */
export interface IgnoredMeasurement {
  readonly score: Measurement['score'];
  readonly on: string;
}

/** What the service answered to the request `sentId`: its scores, or the error of the kind that fits. */
export function readAnswer(answer: Incoming, sentId: string): Prediction | AcuityError {
  const requestId = answer.header('x-request-id') ?? sentId;
  const body = parse(answer.text);
  if (answer.status === 200 && isPrediction(body)) {
    const { inference_time_ms: inferenceTimeMs, explanation, history, unmeasured } = body;
    const { measurements_ignored: measurementsIgnored } = body;
    const modelVersion = answer.header('x-model-version') ?? '';
    return {
      scores: scoresOf(body),
      inferenceTimeMs,
      requestId,
      modelVersion,
      ...(explanation !== undefined && { explanation }),
      ...(history !== undefined && { history }),
      ...(unmeasured !== undefined && { unmeasured: scoresOf(unmeasured) }),
      ...(measurementsIgnored !== undefined && { measurementsIgnored }),
    };
  }
  const detail = (body as { detail?: unknown } | null | undefined)?.detail;
  // What has no detail is not of the service: a proxy's 503 is tried again all the same.
  return errorFor({
    status: answer.status,
    detail: typeof detail === 'string' ? detail : '',
    findings: Array.isArray(detail) ? detail.filter(isFinding) : [],
    requestId,
    retryAfterS: secondsOf(answer.header('retry-after')),
    rateLimit: answer.header('ratelimit'),
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // a page of something in between
  }
}

type Scored = ScoreRecord & {
  readonly inference_time_ms: number;
  readonly explanation?: Explanation;
  readonly history?: string;
  readonly unmeasured?: ScoreRecord;
  readonly measurements_ignored?: readonly IgnoredMeasurement[];
};

const SCORES = ['C_SCORE', 'attention', 'memory', 'reasoning', 'stress', 'valence', 'arousal'] as const;

function isPrediction(body: unknown): body is Scored {
  if (typeof body !== 'object' || body === null) return false;
  return [...SCORES, 'inference_time_ms'].every((name) => name in body);
}

/** What else a service of tomorrow may say beside the scores is none of them. */
function scoresOf(said: ScoreRecord): ScoreRecord {
  const { C_SCORE, attention, memory, reasoning, stress, valence, arousal } = said;
  return { C_SCORE, attention, memory, reasoning, stress, valence, arousal };
}

function isFinding(finding: unknown): finding is Finding {
  if (typeof finding !== 'object' || finding === null) return false;
  return 'loc' in finding && Array.isArray(finding.loc) && 'msg' in finding;
}

/** `Retry-After` is a number of seconds or a date; anything else counts as absent. */
function secondsOf(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter);
  const untilMs = Date.parse(retryAfter) - Date.now();
  return Number.isNaN(untilMs) ? undefined : Math.max(0, untilMs / 1000);
}
