import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import t from 'tap';
import { Type, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { sleepContradictions } from '#rules/contradictions.js';
import type { SeriesLimits } from '#rules/fields.js';
import { openapiDocument } from '#acuity/contract/openapi.js';
import { requestSchema } from '#acuity/contract/request.js';
import { seededRandom } from '#acuity/base/random.js';
import { createReader, isBodyProblem } from '#acuity/reading/read.js';
import { WasmParser } from '#acuity/reading/wasmParser.js';
import { scoreRecord } from '../fixtures/bodies.js';
import { randomRecord, step } from '../fixtures/histories.js';
import { CONSTANTS } from '../fixtures/measured.js';

/** Two validators that share no code, two wordings of the contract, and the reader that serves, agree on all bodies. */

const CASES = Number(process.env['FUZZ_CASES'] ?? 6000);
const LIMITS: SeriesLimits = { daySamplesMax: 3, nightSamplesMax: 5 };

const typebox = Compile(requestSchema(LIMITS));

/** Written by hand from the decisions, not from our schema. */
function handwritten(): TSchema {
  const optional = (schema: TSchema): TSchema => Type.Optional(Type.Union([schema, Type.Null()]));
  const seconds = optional(Type.Integer({ minimum: 0, maximum: 172_800 }));
  const share = optional(Type.Number({ minimum: 0, maximum: 100 }));
  const series = (maxItems: number): TSchema => optional(Type.Array(Type.Number(), { maxItems }));
  const session = Type.Object({
    HR_day_1h: series(LIMITS.daySamplesMax),
    RR_day_1h: series(LIMITS.daySamplesMax),
    HR_night: series(LIMITS.nightSamplesMax),
    RR_night: series(LIMITS.nightSamplesMax),
    HR_night_imputed: series(LIMITS.nightSamplesMax),
    RR_night_imputed: series(LIMITS.nightSamplesMax),
    sleepTimeSeconds: seconds,
    deepSleepSeconds: seconds,
    remSleepSeconds: seconds,
    lightSleepSeconds: seconds,
    awakeSleepSeconds: seconds,
    deepPercentage: share,
    remPercentage: share,
    lightPercentage: share,
    age: optional(Type.Number({ minimum: 0, maximum: 130 })),
    height_cm: optional(Type.Number({ minimum: 30, maximum: 272 })),
    weight_kg: optional(Type.Number({ minimum: 1, maximum: 650 })),
    sex: optional(Type.Union([Type.Literal('M'), Type.Literal('F')])),
  });
  const score = Type.Number({ minimum: 0, maximum: 100 });
  const label = Type.Union([Type.Literal('Low'), Type.Literal('High')]);
  const targets = Type.Array(
    Type.Object({
      C_SCORE: score,
      attention: score,
      memory: score,
      reasoning: score,
      stress: score,
      valence: label,
      arousal: label,
    }),
    { maxItems: 5 },
  );
  return Type.Object({
    current_session: session,
    past_sessions: optional(Type.Array(session, { maxItems: 5 })),
    past_targets: optional(targets),
    past_target: optional(targets),
  });
}
// `format` only says what a string means; `night` is checked where a history stands beside it.
const ajv = new Ajv({ allowUnionTypes: true, validateFormats: false });
const byHand = ajv.compile(handwritten());
const generated = ajv.compile(requestSchema(LIMITS));

/** The published document, which also says which fields need or exclude each other. */
const document = new Ajv2020({
  strict: false,
  strictNumbers: true,
  validateFormats: false,
  logger: false,
}).compile({
  $ref: '#/components/schemas/PredictionRequest',
  components: openapiDocument({ version: '0.0.0', model: 'test/1', limits: LIMITS })['components'],
});

const read = createReader(LIMITS);

interface Json {
  readonly [field: string]: unknown;
}

function sessionsOf({ current_session: current, past_sessions: past }: Json): Json[] {
  return [current, ...((past ?? []) as unknown[])] as Json[];
}

/** What the reader and the document ask beyond the schema: past sessions paired with targets, one name for one thing. */
function isTogether(body: Json): boolean {
  const { past_sessions: sessions, past_targets: plural, past_target: singular } = body;
  const given = [plural, singular].filter(isGiven);
  if (given.length > 1) return false;
  if (((sessions ?? []) as Json[]).length !== ((given[0] ?? []) as Json[]).length) return false;
  return sessionsOf(body).every(hasOneName);
}

/** What the reader alone asks. */
function isPlausible(body: Json): boolean {
  return sessionsOf(body).every(
    (session) => hasLikelyUnits(session) && sleepContradictions(session).length === 0,
  );
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && (value as unknown[]).length !== 0;
}

function hasOneName(session: Json): boolean {
  return ['HR_night', 'RR_night'].every(
    (name) => !isGiven(session[name]) || !isGiven(session[`${name}_imputed`]),
  );
}

function hasLikelyUnits(session: Json): boolean {
  return ['HR_day_1h', 'RR_day_1h', 'HR_night', 'RR_night'].every((field) => {
    const [low, high] = field.startsWith('HR') ? [25, 240] : [3, 70];
    const values = isGiven(session[field]) ? session[field] : session[`${field}_imputed`];
    const samples = ((values ?? []) as number[]).map(Math.fround);
    const real = samples.filter((sample) => ![0, -1, -2, 255].includes(sample));
    const wrong = real.filter((sample) => sample < low || sample > high);
    return wrong.length < 3 || 2 * wrong.length <= real.length;
  });
}

interface Votes {
  readonly typebox: boolean;
  readonly byHand: boolean;
  readonly generated: boolean;
  readonly document: boolean;
  readonly reader: boolean;
}

function vote(text: string): Votes {
  const body = JSON.parse(text) as Json;
  const isSchematic = typebox.Check(body);
  const isRead = !isBodyProblem(read(Buffer.from(text)));
  const isDocumented = document(body);
  const isApart = isSchematic && !isTogether(body);
  return {
    typebox: isSchematic,
    byHand: byHand(body),
    generated: generated(body),
    // Where these are stricter by their own rules, they agree with the schema.
    document: isApart ? !isDocumented : isDocumented,
    reader: isApart || (isSchematic && !isPlausible(body)) ? !isRead : isRead,
  };
}

const wrong = fc.constantFrom<unknown>(
  null,
  true,
  '',
  '5',
  'M',
  [],
  [null],
  ['1'],
  [[1]],
  {},
  -1,
  0.5,
  1e9,
  -0,
);
const oneOf = (right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 30, arbitrary: right }, { weight: 1, arbitrary: wrong });

/** From one below `min` to one above `max`, the bounds themselves often. */
const around = (min: number, max: number): fc.Arbitrary<unknown> =>
  oneOf(
    fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min, max }) },
      { weight: 2, arbitrary: fc.double({ min, max, noNaN: true }) },
      { weight: 2, arbitrary: fc.constantFrom(min, max, null) },
      { weight: 1, arbitrary: fc.constantFrom(min - 1, max + 1, min - 1e-9, max + 1e-9, min + 0.5) },
    ),
  );
const wholeSeconds = oneOf(
  fc.oneof(
    { weight: 12, arbitrary: fc.integer({ min: 0, max: 172_800 }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 400 }) },
    { weight: 1, arbitrary: fc.constantFrom(0, 172_800, null, 172_801, -1, 26_100.5) },
  ),
);
const samples = (most: number): fc.Arbitrary<unknown> => {
  const sample = fc.oneof(
    { weight: 10, arbitrary: fc.integer({ min: 25, max: 70 }) },
    { weight: 3, arbitrary: fc.constantFrom(0, -1, 255, 0.5, 900, 2.5, 71, 24, 1e39) },
  );
  const items = fc.array(fc.oneof({ weight: 60, arbitrary: sample }, { weight: 1, arbitrary: wrong }), {
    maxLength: most + 1,
    size: 'max',
  });
  return oneOf(
    fc.oneof({ weight: 5, arbitrary: items }, { weight: 1, arbitrary: fc.constantFrom(null, []) }),
  );
};

const session = fc.record(
  {
    HR_day_1h: samples(LIMITS.daySamplesMax),
    RR_day_1h: samples(LIMITS.daySamplesMax),
    HR_night: samples(LIMITS.nightSamplesMax),
    RR_night: samples(LIMITS.nightSamplesMax),
    HR_night_imputed: samples(LIMITS.nightSamplesMax),
    RR_night_imputed: samples(LIMITS.nightSamplesMax),
    sleepTimeSeconds: wholeSeconds,
    deepSleepSeconds: wholeSeconds,
    remSleepSeconds: wholeSeconds,
    lightSleepSeconds: wholeSeconds,
    awakeSleepSeconds: wholeSeconds,
    deepPercentage: around(0, 100),
    remPercentage: around(0, 100),
    lightPercentage: around(0, 100),
    age: around(0, 130),
    height_cm: around(30, 272),
    weight_kg: around(1, 650),
    sex: oneOf(fc.constantFrom('M', 'F', null)),
    unknown: wrong,
  },
  { requiredKeys: [] },
);
const scores = { C_SCORE: around(0, 100), attention: around(0, 100), memory: around(0, 100) };
const target = fc.record({
  ...scores,
  reasoning: around(0, 100),
  stress: around(0, 100),
  valence: oneOf(fc.constantFrom('Low', 'High')),
  arousal: oneOf(fc.constantFrom('Low', 'High')),
});
const wholeTarget = fc.record({
  C_SCORE: fc.integer({ min: 0, max: 100 }),
  attention: fc.integer({ min: 0, max: 100 }),
  memory: fc.integer({ min: 0, max: 100 }),
  reasoning: fc.integer({ min: 0, max: 100 }),
  stress: fc.double({ min: 0, max: 100, noNaN: true }),
  valence: fc.constantFrom('Low', 'High'),
  arousal: fc.constantFrom('Low', 'High'),
});

const paired = fc.integer({ min: 0, max: 6 }).chain((length) =>
  fc.record({
    current_session: session,
    past_sessions: fc.array(session, { minLength: length, maxLength: length }),
    past_targets: fc.array(wholeTarget, { minLength: length, maxLength: length }),
  }),
);
const loose = fc.record(
  {
    current_session: oneOf(session),
    past_sessions: oneOf(fc.array(session, { maxLength: 3 })),
    past_targets: oneOf(fc.array(target, { maxLength: 3 })),
    past_target: oneOf(fc.array(target, { maxLength: 3 })),
  },
  { requiredKeys: ['current_session'] },
);
const alone = fc.record({ current_session: session });
const bodies = fc.oneof(
  { weight: 4, arbitrary: alone },
  { weight: 3, arbitrary: paired },
  { weight: 2, arbitrary: loose },
  { weight: 1, arbitrary: fc.oneof(wrong, fc.record({ past_sessions: wrong, past_targets: wrong })) },
);

t.test('both validators, both wordings and the reader agree on every body', async (t) => {
  let accepted = 0;
  fc.assert(
    fc.property(bodies, (body) => {
      const votes = vote(JSON.stringify(body));
      if (votes.typebox) accepted++;
      return new Set(Object.values(votes)).size === 1;
    }),
    { numRuns: CASES },
  );
  t.ok(
    accepted > CASES / 20 && accepted < CASES * 0.95,
    `both answers occur: ${accepted} of ${CASES} accepted`,
  );
});

const edges: readonly (readonly [text: string, isSchematic: boolean])[] = [
  ['{"current_session":{}}', true],
  ['{"current_session":{"age":1e999}}', false],
  ['{"current_session":{"HR_night":[1e999]}}', false],
  ['{"current_session":{"HR_night":[1e300]}}', true],
  ['{"current_session":{"deepSleepSeconds":5400.0}}', true],
  ['{"current_session":{"deepSleepSeconds":1e3}}', true],
  ['{"current_session":{"deepSleepSeconds":-0}}', true],
  ['{"current_session":{"sex":"X"}}', false],
  ['{"current_session":{"__proto__":{"age":-1}}}', true],
  ['{"current_session":{"HR_day_1h":[1,2,3,4]}}', false],
  ['{"current_session":{"HR_night_imputed":[60,null]}}', false],
  ['{"current_session":{"RR_night_imputed":null}}', true],
  ['{"current_session":{},"past_sessions":{}}', false],
  ['{"__proto__":{"current_session":{}}}', false],
  ['[]', false],
  ['null', false],
];
for (const [text, isSchematic] of edges) {
  t.test(`${text}: all say ${isSchematic ? 'yes' : 'no'}`, async (t) => {
    const votes = vote(text);
    t.strictSame(votes, {
      typebox: isSchematic,
      byHand: isSchematic,
      document: isSchematic,
      generated: isSchematic,
      reader: isSchematic,
    });
  });
}

t.test('the document and the reader agree on what needs or excludes a history', async (t) => {
  const { desk } = new WasmParser(LIMITS);
  const { text } = step(desk, '', NaN, randomRecord(seededRandom(1)));
  const past = (length: number): Json => ({
    past_sessions: Array.from({ length }, () => ({})),
    past_targets: Array.from({ length }, () => scoreRecord()),
  });
  const pasts = [{}, past(0), past(2), { past_target: [] }];
  const histories = [{}, { history: null }, { history: '' }, { history: text }];
  const nights = [{}, { night: null }, { night: '2026-11-21' }];
  const measured = [{ score: 'attention', value: 71 }];
  const lists = [{}, { measurements: null }, { measurements: [] }, { measurements: measured }];
  const bodies = pasts.flatMap((one) =>
    histories.flatMap((two) =>
      nights.flatMap((three) => lists.map((four) => ({ ...one, ...two, ...three, ...four }))),
    ),
  );
  const accepted = bodies.filter((parts) => {
    const body = { current_session: {}, ...parts };
    const isRead = !isBodyProblem(read(Buffer.from(JSON.stringify(body)), CONSTANTS));
    t.equal(document(body), isRead, JSON.stringify(body));
    return isRead;
  });
  t.ok(accepted.length > 20 && accepted.length < bodies.length - 20, 'both answers occur');
});
