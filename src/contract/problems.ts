/** The closed catalogue of refusals. */
import type { StructureBounds } from '#rules/structure.js';

/** The closed catalogue: every response of this service except a 200 is one of these. */
export interface Problem {
  readonly status: number;
  readonly detail: string;
  /** The caller's remedy; printed in `docs/ERRORS.md`. */
  readonly remedy: string;
}

export const PROBLEMS = {
  notFound: {
    status: 404,
    detail: 'Not Found',
    remedy: 'The only path is /predict, without a trailing slash.',
  },
  methodNotAllowed: {
    status: 405,
    detail: 'Method Not Allowed',
    remedy: 'Use POST.',
  },
  keyMissing: {
    status: 401,
    detail: 'Invalid or missing API key',
    remedy: 'Send the key in the header X-API-Key.',
  },
  keyInvalid: {
    status: 403,
    detail: 'Invalid or missing API key',
    remedy: 'The key is mistyped, unknown, expired or revoked: ask the operator for a new or renewed one.',
  },
  rateLimited: {
    status: 429,
    detail: 'Rate limit exceeded',
    remedy: 'Wait for the seconds in Retry-After; the RateLimit header says which limit was reached.',
  },
  transferEncoding: {
    status: 400,
    detail: 'Transfer-Encoding must be chunked',
    remedy: 'Send the body with a Content-Length, or with Transfer-Encoding: chunked and no other coding.',
  },
  contentType: {
    status: 415,
    detail: 'Content-Type must be application/json',
    remedy: 'Send JSON and say so, or leave the header out; a list of requests is application/x-ndjson.',
  },
  contentEncoding: {
    status: 415,
    detail: 'Content-Encoding is not supported',
    remedy: 'Send the body uncompressed.',
  },
  bodyTooLarge: {
    status: 413,
    detail: 'Request body too large',
    remedy: 'Send fewer or shorter series; the limit is ACUITY_BODY_MAX_BYTES.',
  },
  overloaded: {
    status: 503,
    detail: 'Service overloaded',
    remedy: 'Try again after the seconds in Retry-After, with growing pauses.',
  },
  overloadedAs429: {
    status: 429,
    detail: 'Service overloaded',
    remedy: 'Try again after the seconds in Retry-After, with growing pauses.',
  },
  internal: {
    status: 500,
    detail: 'Internal Server Error',
    remedy: 'Report the X-Request-Id to the operator; the cause is in the log.',
  },
} as const satisfies Record<string, Problem>;

export type ProblemName = keyof typeof PROBLEMS;

/** The kinds of findings in a 422; the texts never contain an input value. */
export const FINDING_TYPES = [
  'missing',
  'object_type',
  'list_type',
  'number_type',
  'bool_type',
  'string_type',
  'date_type',
  'int_type',
  'literal_error',
  'greater_than_equal',
  'less_than_equal',
  'too_long',
  'too_short',
  'finite_number',
  'history_invalid',
  'recording_invalid',
  'unit_error',
  'value_error',
] as const;
export type FindingType = (typeof FINDING_TYPES)[number];

/** One entry of a 422: where (from "body" on), what, and its kind. */
export interface Finding {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: FindingType;
  /** Numbers of ours, never the caller's, for programs: the bound that was passed. */
  readonly ctx?: Readonly<Record<string, number>>;
}

/** The name of a bound in `ctx`, and the words before it. A finding of these kinds is never without its number. */
const BOUNDS = {
  greater_than_equal: ['ge', 'Input should be greater than or equal to'],
  less_than_equal: ['le', 'Input should be less than or equal to'],
  too_long: ['max_length', 'List should have at most'],
  too_short: ['min_length', 'List should have at least'],
} as const satisfies Partial<Record<FindingType, readonly [string, string]>>;
export type BoundType = keyof typeof BOUNDS;

/** `things`: what the bound counts. */
export function boundFinding(loc: Finding['loc'], type: BoundType, bound: number, things = ''): Finding {
  const [name, words] = BOUNDS[type];
  return { loc, msg: `${words} ${bound}${things && ` ${things}`}`, type, ctx: { [name]: bound } };
}

/** The finding about a value that is nested too deep, or has too many parts; `bounds` by their names in `ctx`. */
export function structureFinding(loc: Finding['loc'], msg: string, bounds: StructureBounds): Finding {
  const { levelsMax, bracketsMax, stringsMax } = bounds;
  const ctx = { max_levels: levelsMax, max_brackets: bracketsMax, max_strings: stringsMax };
  return { loc, msg, type: 'too_long', ctx };
}

/** A 422 names at most this many findings. */
export const FINDINGS_MAX = 8;

/** A body that cannot be scored: not JSON (400) or not valid under the contract (422). */
export type BodyProblem = {
  /** As in `ReadRequest`, if there are any. */
  readonly slowNumbers?: number;
} & (
  | { readonly kind: 'malformed'; readonly byte: number }
  | {
      readonly kind: 'unprocessable';
      readonly findings: readonly Finding[];
      /** Number of measurements in the body, if there are any: reading them costs. */
      readonly newMeasurements?: number;
    }
);

export const MALFORMED = { status: 400 } as const;
export const UNPROCESSABLE = { status: 422 } as const;

/** The body of a 400. */
export function malformedBody(byte: number): string {
  return JSON.stringify({ detail: `Malformed JSON at byte ${byte}` });
}

/** The body of a 422. */
export function unprocessableBody(findings: readonly Finding[]): string {
  return JSON.stringify({ detail: findings.slice(0, FINDINGS_MAX) });
}

/** Status and body of a response. */
export type Refused = Pick<Problem, 'status'> & { readonly body: string };

/** The answer to a body that cannot be scored. */
export function bodyRefusal(problem: BodyProblem): Refused {
  return problem.kind === 'malformed'
    ? { ...MALFORMED, body: malformedBody(problem.byte) }
    : { ...UNPROCESSABLE, body: unprocessableBody(problem.findings) };
}

/** A line of the answer to a list, for a line whose answer alone would be `body`. */
export function lineBody(status: number, body: string): string {
  return `{"status":${status},${body.slice(1)}`;
}

/** The answer to each problem in the catalogue, made once. */
const PREPARED = Object.fromEntries(
  Object.entries(PROBLEMS).map(([name, { status, detail }]) => [
    name,
    { status, body: JSON.stringify({ detail }) },
  ]),
) as Readonly<Record<ProblemName, Refused>>;

/** The answer of every other refusal. */
export function problemAnswer(name: ProblemName): Refused {
  return PREPARED[name];
}
