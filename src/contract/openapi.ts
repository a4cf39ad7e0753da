/** The OpenAPI document of the public listener. */
import { isDeepStrictEqual } from 'node:util';
import Type from 'typebox';
import { NDJSON_TYPE } from './mediaTypes.js';
import { codeSamples } from './codeSamples.js';
import {
  LIST_EXAMPLE,
  MALFORMED_EXAMPLE,
  REQUEST_EXAMPLES,
  RESPONSE_EXAMPLES,
  UNPROCESSABLE_EXAMPLE,
  recordingExamples,
} from './openapiExamples.js';
import {
  FINDINGS_MAX,
  FINDING_TYPES,
  MALFORMED,
  PROBLEMS,
  UNPROCESSABLE,
  malformedBody,
  type ProblemName,
} from './problems.js';
import { DEFAULT_SERIES_LIMITS, type SeriesLimits } from '#rules/fields.js';
import { LINES_MAX, RECORDING_BOUNDS, STRUCTURE_BOUNDS } from '#rules/structure.js';
import {
  MeasuredLabelSchema,
  MeasuredScoreSchema,
  ScoreRecordSchema,
  requestSchema,
  sessionSchema,
} from './request.js';
import { PredictionResponseSchema } from './response.js';
import { MEASURED_RULES, REQUEST_RULES, SESSION_RULES } from './together.js';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = Readonly<Record<string, Json>>;

export interface OpenapiOptions {
  /** Version of the service. */
  readonly version: string;
  /** Name and version of a network, as in `X-Model-Version`: that of the examples. */
  readonly model: string;
  readonly limits?: SeriesLimits;
  /** Examples of recordings, by provider. */
  readonly recordings?: Readonly<Record<string, JsonObject>>;
}

/** The OpenAPI 3.1 document of the public listener, generated from the schemas that validate requests. */
export function openapiDocument({
  version,
  model,
  limits = DEFAULT_SERIES_LIMITS,
  recordings = {},
}: OpenapiOptions): JsonObject {
  return {
    openapi: '3.1.0',
    info: {
      title: 'acuity',
      version,
      summary: 'Cognitive and emotional scores from heart rate, breathing and sleep',
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      {
        url: '{base_url}',
        description: 'Where the operator runs the service',
        variables: { base_url: { default: 'http://127.0.0.1:8080', description: 'Public listener' } },
      },
    ],
    tags: [{ name: 'scoring', description: 'The one endpoint.' }],
    security: [{ apiKey: [] }],
    paths: { '/predict': { post: predictOperation(recordings) } },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description:
            '`sk_demo_…` or `sk_live_…`, from the operator. Keep it on servers: never in an app, a web page, ' +
            'a public repository or a log.',
        },
      },
      headers: headerObjects(model),
      schemas: forGenerators(schemas(limits)) as JsonObject,
    },
  };
}

const INTRODUCTION = `Takes one person's biometrics of the night and of the last hour, and returns scores from a neural network. \
The service stores nothing. With up to five earlier sessions and their scores, or with a \`history\`, it compares the \
person with their own baseline.

A series that is mostly implausible is refused with \`unit_error\`, and so is a \
session whose fields contradict each other: sleep stages, one or all, in minutes beside seconds; a whole night in \
minutes or hours; shares of sleep on two scales, or that add up to more than the whole; heart rate in place of \
breathing. Fields that are not described here are ignored.

A body has at most ${STRUCTURE_BOUNDS.levelsMax} levels of nesting, ${STRUCTURE_BOUNDS.bracketsMax} objects and \
arrays, and ${STRUCTURE_BOUNDS.stringsMax} strings, keys included; beyond that it is refused with one \`too_long\` \
at \`["body"]\`. A \`recording\` has bounds of its own: ${RECORDING_BOUNDS.bracketsMax} objects and arrays, \
${RECORDING_BOUNDS.stringsMax} strings, and ${RECORDING_BOUNDS.scalarsMax} values (numbers, strings that are no keys, \
\`true\`, \`false\` and \`null\`).

Any other path answers 404, any other method 405 with \`Allow: POST\`.

One request may carry many, as \`${NDJSON_TYPE}\`: one in each line. The answer has a line for each.

The scores are no diagnosis, and this is not a medical device.`;

/** Short, since any field may be absent. */
const SAMPLE_REQUEST = {
  current_session: {
    HR_night: [60, 58, 57, 55, 54, 53, 55, 57, 54, 52, 55, 59],
    RR_night: [14.6, 14.2, 13.9, 14.4, 13.8, 14.5],
    sleepTimeSeconds: 26_100,
    age: 34,
    sex: 'F' as const,
  },
};

function predictOperation(recordings: Readonly<Record<string, JsonObject>>): JsonObject {
  const examples = { ...REQUEST_EXAMPLES, ...recordingExamples(recordings) };
  return {
    operationId: 'predict',
    summary: 'Score one session',
    description:
      'Every field of a session may be absent or `null`; more complete data gives more accurate scores. Scoring ' +
      'changes nothing, so a request may be repeated.',
    tags: ['scoring'],
    'x-codeSamples': plain(codeSamples(SAMPLE_REQUEST)),
    parameters: [
      {
        name: 'X-Request-Id',
        in: 'header',
        required: false,
        description:
          'Your own id for this request, for both sides’ logs; if it is absent or does not match ' +
          '`[A-Za-z0-9._-]{1,128}`, the service makes one.',
        schema: { type: 'string' },
        example: 'c0ffee-42',
      },
      {
        name: 'X-Deadline-Ms',
        in: 'header',
        required: false,
        description:
          'How long you wait for this answer, in milliseconds: a request that waits longer is refused instead of ' +
          'scored. The shorter of this and the operator’s deadline applies; any other value is ignored.',
        schema: { type: 'integer', minimum: 1, maximum: 600_000 },
        example: 800,
      },
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: ref('PredictionRequest'), examples: plain(examples) },
        [NDJSON_TYPE]: {
          schema: {
            type: 'string',
            description:
              `A list: a \`PredictionRequest\` in each line, ${LINES_MAX} at most, and no more than the key’s burst or half ` +
              'of the queue can hold; beyond that it is refused with one `too_long` at `["body"]`, whose `ctx.max_length` ' +
              'fits. Each line costs what it costs alone. Empty lines are skipped.',
          },
          example: LIST_EXAMPLE.request,
        },
      },
    },
    responses: {
      '200': {
        description: 'The scores.',
        headers: headers('X-Request-Id', 'X-Model-Version', 'Server-Timing'),
        content: {
          'application/json': {
            schema: ref('PredictionResponse'),
            examples: plain(RESPONSE_EXAMPLES),
          },
          [NDJSON_TYPE]: {
            schema: {
              type: 'string',
              description:
                'A `PredictionResponse` or a `LineProblem` for each line of the list, in its order: no line depends on ' +
                'another.',
            },
            example: LIST_EXAMPLE.response,
          },
        },
      },
      '400': {
        description:
          'The body is not JSON (RFC 8259, UTF-8, no byte order mark). N is the first byte that is wrong.',
        headers: headers('X-Request-Id'),
        content: {
          'application/json': {
            schema: ref('Problem'),
            example: JSON.parse(malformedBody(MALFORMED_EXAMPLE.byte)) as Json,
          },
        },
      },
      '422': {
        description:
          'The JSON is not a request. `loc` says where; `type` is fixed, `msg` is for people. Your values are never ' +
          'repeated.',
        headers: headers('X-Request-Id'),
        content: {
          'application/json': {
            schema: ref('Unprocessable'),
            example: plain({ detail: [UNPROCESSABLE_EXAMPLE.finding] }),
          },
        },
      },
      ...problemResponses(),
    },
  };
}

/** The responses of the fixed problems: those with the same status share one. */
const PROBLEM_RESPONSES: readonly (readonly [
  when: string,
  names: readonly ProblemName[],
  headers: HeaderName[],
])[] = [
  ['The key is missing.', ['keyMissing'], []],
  ['The key is malformed, unknown, expired or revoked; the answer does not say which.', ['keyInvalid'], []],
  ['The body is too long.', ['bodyTooLarge'], []],
  ['The body is not plain JSON.', ['contentType', 'contentEncoding'], []],
  [
    'The key’s rate or its daily quota is used up; or, without `RateLimit`, an overload as in 503, if the operator ' +
      'has chosen this status for it.',
    ['rateLimited', 'overloadedAs429'],
    ['Retry-After', 'RateLimit-Policy', 'RateLimit'],
  ],
  ['Unexpected; the cause is in the service’s log.', ['internal'], []],
  [
    'Too many requests wait, this request waited too long, or the service is stopping.',
    ['overloaded'],
    ['Retry-After'],
  ],
];

function problemResponses(): JsonObject {
  return Object.fromEntries(
    PROBLEM_RESPONSES.map(([when, names, more]) => {
      const problems = names.map((name) => PROBLEMS[name]);
      const remedies = [...new Set(problems.map(({ remedy }) => remedy))].join(' ');
      const examples = Object.fromEntries(
        names.map((name) => [
          name,
          { summary: PROBLEMS[name].detail, value: { detail: PROBLEMS[name].detail } },
        ]),
      );
      const response: JsonObject = {
        description: `${when} ${remedies}`,
        headers: headers('X-Request-Id', ...more),
        content: { 'application/json': { schema: ref('Problem'), examples } },
      };
      return [String(problems[0]?.status), response];
    }),
  );
}

type HeaderName =
  'X-Request-Id' | 'X-Model-Version' | 'Server-Timing' | 'Retry-After' | 'RateLimit-Policy' | 'RateLimit';

const header = (description: string, example: string): JsonObject => ({
  description,
  schema: { type: 'string' },
  example,
});

const headerObjects = (model: string): Readonly<Record<HeaderName, JsonObject>> => ({
  'X-Request-Id': header('The request’s id: yours, if it is well formed.', 'c0ffee-42'),
  'X-Model-Version': header(
    'Name and version of the network that gave the scores; keep it beside them.',
    model,
  ),
  'Server-Timing': header('Milliseconds of waiting and of the model run.', 'queue;dur=0.31, infer;dur=0.21'),
  'Retry-After': {
    description: 'Seconds to wait before another attempt, up to 30; for a daily quota, until midnight UTC.',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
  'RateLimit-Policy': header(
    'The limit that was reached (IETF draft ratelimit-headers).',
    '"burst";q=20;w=2',
  ),
  RateLimit: header('What is left of it, and when there is more.', '"burst";r=0;t=1'),
});

function headers(...names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function schemas(limits: SeriesLimits): JsonObject {
  const named: Record<string, JsonObject> = {
    Session: plain(sessionSchema(limits)),
    ScoreRecord: plain(ScoreRecordSchema),
    MeasuredScore: plain(MeasuredScoreSchema),
    MeasuredLabel: plain(MeasuredLabelSchema),
  };
  const shared = { ...named };
  const request = withRefs(plain(requestSchema(limits)), shared) as JsonObject;
  named['PredictionRequest'] = { ...request, ...plain(REQUEST_RULES) };
  named['Session'] = { ...named['Session'], ...plain(SESSION_RULES) };
  named['MeasuredScore'] = { ...named['MeasuredScore'], ...plain(MEASURED_RULES) };
  named['PredictionResponse'] = plain(PredictionResponseSchema);
  named['LineProblem'] = {
    type: 'object',
    required: ['status', 'detail'],
    properties: {
      status: {
        type: 'integer',
        enum: [MALFORMED.status, UNPROCESSABLE.status, PROBLEMS.internal.status, PROBLEMS.overloaded.status],
      },
      detail: { description: 'As in the answer to the same request alone.' },
    },
  };
  named['Problem'] = plain(Type.Object({ detail: Type.String() }));
  named['Finding'] = plain(FindingSchema);
  named['Unprocessable'] = {
    type: 'object',
    required: ['detail'],
    properties: { detail: { type: 'array', minItems: 1, maxItems: FINDINGS_MAX, items: ref('Finding') } },
  };
  return named;
}

const FindingSchema = Type.Object({
  loc: Type.Array(Type.Union([Type.String(), Type.Integer()]), {
    minItems: 1,
    description: 'The path to the place, from "body" on: names of fields and indices.',
  }),
  msg: Type.String({ description: 'For people; may change.' }),
  type: Type.Unsafe<string>({ enum: FINDING_TYPES, description: 'What is wrong; fixed.' }),
  ctx: Type.Optional(
    Type.Unsafe<Record<string, number>>({
      type: 'object',
      additionalProperties: { type: 'number' },
      description:
        'The bound that was passed, for programs; never a number of the request. `max_length` of `too_long` and ' +
        '`min_length` of `too_short` count elements or, at `["body"]`, lines; `ge` and `le` are the least and the most.',
    }),
  ),
});

/** `schema` with every part that is one of `shared` replaced by a reference to it. */
function withRefs(schema: Json, shared: Readonly<Record<string, JsonObject>>): Json {
  for (const [name, part] of Object.entries(shared)) if (isDeepStrictEqual(schema, part)) return ref(name);
  if (Array.isArray(schema)) return schema.map((part: Json) => withRefs(part, shared));
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, part]) => [key, withRefs(part as Json, shared)]),
  );
}

function ref(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/**
 * Additions for generators of clients, which checks of requests don't need: the type beside an enumeration, and numbers as 64-bit
 * floats, which some languages would take for 32.
 */
function forGenerators(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map((part: Json) => forGenerators(part));
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.entries(schema as JsonObject).map(
    ([key, part]) => [key, forGenerators(part)] as const,
  );
  const { type, enum: words, format } = schema as JsonObject;
  if (Array.isArray(words) && type === undefined)
    parts.unshift(['type', words.includes(null) ? ['string', 'null'] : 'string']);
  if ([type].flat().includes('number') && format === undefined) parts.push(['format', 'double']);
  return Object.fromEntries(parts) as JsonObject;
}

/** The JSON part of `value`: TypeBox keeps its own notes beside the schema. */
function plain(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
