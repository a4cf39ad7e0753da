import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import type {
  Explanation,
  Finding,
  IgnoredMeasurement,
  MeasuredResult,
  ReadRecording,
  ScoreRecord,
} from './contract.js';
import * as errors from './errors.js';
import { textOf, type AnswerHead, type Incoming } from './transport.js';

/** What an answer has under the same name in JSON. */
interface Passed {
  /** Present if it was requested (`explain`) and the service can explain. */
  readonly explanation?: Explanation;
  /** Present if the request had a history; send it with the person's next request. */
  readonly history?: string;
  /** Present if the session had a recording: the night that was found in it, and what was left. */
  readonly recording?: ReadRecording;
  /** Present if the request had raw results of tests: their percentiles. */
  readonly measured?: readonly MeasuredResult[];
  /** Present if measurements count: the scores without them. */
  readonly unmeasured?: ScoreRecord;
}

/** The service's answer for one session. */
export interface Prediction extends Passed {
  readonly scores: ScoreRecord;
  /** Version of the network that gave the scores; store it with them. */
  readonly modelVersion: string;
  readonly requestId: string;
  /** Of the whole answer, if the request was sent in a list. */
  readonly headers: errors.Headers;
  readonly inferenceTimeMs: number;
  /** Present if some measurements came too late to count. */
  readonly measurementsIgnored?: readonly IgnoredMeasurement[];
}

interface Scored extends Passed, ScoreRecord {
  readonly inference_time_ms: number;
  readonly measurements_ignored?: readonly IgnoredMeasurement[];
}

/** Reads the answer to the request `sentId`: its scores, or the error of the kind that fits. */
export async function readAnswer(
  answer: Incoming,
  sentId: string,
): Promise<Prediction | errors.RefusedError> {
  const body = parse(await textOf(answer));
  const isScored = answer.status === 200 && isPrediction(body);
  return isScored ? predictionOf(body, answer, sentId) : refusalOf(answer, body, sentId);
}

/**
 * Reads one line of a list's answer: scores, or the error that the request alone would have met. Undefined if
 * the line is not from the service.
 */
export function readLine(
  line: string,
  head: AnswerHead,
  sentId: string,
): Prediction | errors.RefusedError | undefined {
  const body = parse(line);
  if (isPrediction(body)) return predictionOf(body, head, sentId);
  const { status, detail } = (body ?? {}) as { status?: unknown; detail?: unknown };
  if (typeof status !== 'number' || detail === undefined) return undefined;
  return refusalOf({ ...head, status }, body, sentId);
}

function predictionOf(body: Scored, { headers }: AnswerHead, sentId: string): Prediction {
  const { explanation, history, recording, measured, unmeasured } = body;
  const { measurements_ignored: measurementsIgnored } = body;
  return {
    scores: scoresOf(body),
    inferenceTimeMs: body.inference_time_ms,
    modelVersion: headers['x-model-version'] ?? '',
    requestId: headers['x-request-id'] ?? sentId,
    headers,
    ...(explanation && { explanation }),
    ...(history !== undefined && { history }),
    ...(recording && { recording }),
    ...(measured && { measured }),
    ...(unmeasured && { unmeasured: scoresOf(unmeasured) }),
    ...(measurementsIgnored && { measurementsIgnored }),
  };
}

/** The error of an answer without scores. One without `detail` is not from the service. */
export function refusalOf(head: AnswerHead, body: unknown, sentId: string): errors.RefusedError {
  const detail = (body as { detail?: unknown } | null | undefined)?.detail;
  return errorFor({
    ...head,
    requestId: head.headers['x-request-id'] ?? sentId,
    detail: typeof detail === 'string' ? detail : '',
    findings: Array.isArray(detail) ? detail.filter(isFinding) : [],
    retryAfterS: secondsOf(head.headers['retry-after']),
    limit: limitOf(head.headers['ratelimit'], head.headers['ratelimit-policy']),
  });
}

/** What the policy says of the limit that was reached: "20 in 2 s". */
function limitOf(state = '', policy = ''): string | undefined {
  const name = /^"\w+"/.exec(state)?.[0];
  const [, most, seconds] = new RegExp(`${name};q=(\\d+);w=(\\d+)`).exec(policy) ?? [];
  return most === undefined ? undefined : `${most} in ${seconds} s`;
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // a page of something in between
  }
}

const NAMES = [...SCORE_FIELDS, ...LABEL_FIELDS, 'inference_time_ms'];

function isPrediction(body: unknown): body is Scored {
  if (typeof body !== 'object' || body === null) return false;
  return NAMES.every((name) => name in body);
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

const BY_STATUS: Readonly<Record<number, new (refusal: errors.Refusal) => errors.RefusedError>> = {
  400: errors.MalformedRequestError,
  401: errors.KeyMissingError,
  403: errors.KeyRejectedError,
  404: errors.WrongAddressError,
  405: errors.WrongAddressError,
  413: errors.RequestTooLargeError,
  415: errors.UnsupportedMediaTypeError,
  422: errors.InvalidRequestError,
  429: errors.RateLimitedError,
  500: errors.ServiceError,
  503: errors.OverloadedError,
};

/** The causes of an overload, under either status. */
const OVERLOADED = 'Service overloaded';

/** The error for a refusal. */
export function errorFor(refusal: errors.Refusal): errors.RefusedError {
  if (refusal.findings?.some(({ type }) => type === 'history_invalid'))
    return new errors.HistoryInvalidError(refusal);
  if (refusal.status === 429 && refusal.detail === OVERLOADED) return new errors.OverloadedError(refusal);
  return new (BY_STATUS[refusal.status] ?? errors.UnexpectedAnswerError)(refusal);
}
