import type { Explanation, Finding, Measurement, ScoreRecord } from './contract.js';
import { errorFor, type RefusedError } from './errors.js';
import type { AnswerHead, Incoming } from './transport.js';

/** The service's answer for one session. */
export interface Prediction {
  readonly scores: ScoreRecord;
  /** Version of the network that gave the scores; store it with them. */
  readonly modelVersion: string;
  readonly requestId: string;
  readonly inferenceTimeMs: number;
  /** Present if it was requested (`explain`) and the service can explain. */
  readonly explanation?: Explanation;
  /** Present if the request had a history; send it with the person's next request. */
  readonly history?: string;
  /** Present if measurements count: the scores without them. */
  readonly unmeasured?: ScoreRecord;
  /** Present if some measurements came too late to count. */
  readonly measurementsIgnored?: readonly IgnoredMeasurement[];
}

/** A measurement older than the newest that the history no longer keeps one by one. */
export interface IgnoredMeasurement {
  readonly score: Measurement['score'];
  readonly on: string;
}

/** Reads the answer to the request `sentId`: its scores, or the error of the kind that fits. */
export function readAnswer(answer: Incoming, sentId: string): Prediction | RefusedError {
  const body = parse(answer.text);
  if (answer.status === 200 && isPrediction(body)) return predictionOf(body, answer, sentId);
  return refusalOf(answer.status, body, answer, sentId);
}

/** The error of an answer without scores. */
export function readRefusal(answer: Incoming, sentId: string): RefusedError {
  return refusalOf(answer.status, parse(answer.text), answer, sentId);
}

/**
 * Reads one line of a list's answer: scores, or the error that the request alone would have met. Undefined if
 * the line is not from the service.
 */
export function readLine(
  line: string,
  head: AnswerHead,
  sentId: string,
): Prediction | RefusedError | undefined {
  const body = parse(line);
  if (isPrediction(body)) return predictionOf(body, head, sentId);
  if (typeof body !== 'object' || body === null || !('status' in body) || !('detail' in body))
    return undefined;
  return typeof body.status === 'number' ? refusalOf(body.status, body, head, sentId) : undefined;
}

function predictionOf(body: Scored, head: AnswerHead, sentId: string): Prediction {
  const { inference_time_ms: inferenceTimeMs, explanation, history, unmeasured } = body;
  const { measurements_ignored: measurementsIgnored } = body;
  return {
    scores: scoresOf(body),
    inferenceTimeMs,
    requestId: head.header('x-request-id') ?? sentId,
    modelVersion: head.header('x-model-version') ?? '',
    ...(explanation !== undefined && { explanation }),
    ...(history !== undefined && { history }),
    ...(unmeasured !== undefined && { unmeasured: scoresOf(unmeasured) }),
    ...(measurementsIgnored !== undefined && { measurementsIgnored }),
  };
}

function refusalOf(status: number, body: unknown, head: AnswerHead, sentId: string): RefusedError {
  const detail = (body as { detail?: unknown } | null | undefined)?.detail;
  // An answer without detail is not from the service; a proxy's 503 is retried all the same.
  return errorFor({
    status,
    detail: typeof detail === 'string' ? detail : '',
    findings: Array.isArray(detail) ? detail.filter(isFinding) : [],
    requestId: head.header('x-request-id') ?? sentId,
    retryAfterS: secondsOf(head.header('retry-after')),
    rateLimit: head.header('ratelimit'),
    limit: limitOf(head.header('ratelimit'), head.header('ratelimit-policy')),
  });
}

/** What the policy says of the limit that was reached: "20 in 2 s". */
function limitOf(state = '', policy = ''): string | undefined {
  const name = /^"\w+"/.exec(state)?.[0];
  const [, most, seconds] = new RegExp(`${name};q=(\\d+);w=(\\d+)`).exec(policy) ?? [];
  return most === undefined ? undefined : `${most} in ${seconds} s`;
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

/** Ignore other fields, which a later version of the service may add to the scores. */
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
