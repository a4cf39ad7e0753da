import assert from 'node:assert/strict';
import { Type as OlderType, type TSchema as OlderSchema } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { Ajv } from 'ajv';
import { Compile } from 'typebox/compile';
import { DEFAULT_SERIES_LIMITS, PAST_MAX } from '#rules/fields.js';
import { requestSchema } from '#acuity/contract/request.js';
import { PAYLOADS, requestsOf, type PayloadName } from '#acuity/load/payloads.js';
import { nothing, turns, type MicroCase, type Suite } from './harness.js';
import { itemAt } from './requests.js';

/** The whole request, series included, through three compiled validators. */
export const VALIDATE: Suite = {
  name: 'validate',
  open: () => Promise.resolve({ cases: PAYLOADS.flatMap(casesOf), close: nothing }),
};

type Validator = (value: unknown) => boolean;

function casesOf(payload: PayloadName): MicroCase[] {
  const typebox = Compile(requestSchema());
  const older = TypeCompiler.Compile(olderRequest());
  const ajv = new Ajv({ allowUnionTypes: true }).compile(requestSchema());
  return [
    caseOf(payload, 'typebox', (value) => typebox.Check(value)),
    caseOf(payload, '@sinclair/typebox', (value) => older.Check(value)),
    caseOf(payload, 'ajv', (value) => ajv(value)),
  ];
}

function caseOf(payload: PayloadName, name: string, isValid: Validator): MicroCase {
  const requests = requestsOf(payload);
  const next = turns(requests.length);
  return {
    name: `${payload}: ${name}`,
    units: 1,
    run: () => isValid(itemAt(requests, next())),
    check(result) {
      assert.equal(result, true);
      assert.equal(isValid({ current_session: { HR_night: ['60'] } }), false);
      assert.equal(isValid({ current_session: { age: 131 } }), false);
      assert.equal(isValid({}), false);
    },
  };
}

/** The contract in the words of the older library, whose compiler does not know a list of types. */
function olderRequest() {
  const session = olderSession();
  const score = OlderType.Number({ minimum: 0, maximum: 100 });
  const label = OlderType.Union([OlderType.Literal('Low'), OlderType.Literal('High')]);
  const scores = { C_SCORE: score, attention: score, memory: score, reasoning: score, stress: score };
  const target = OlderType.Object({ ...scores, valence: label, arousal: label });
  const targets = optional(OlderType.Array(target, { maxItems: PAST_MAX }));
  return OlderType.Object({
    current_session: session,
    past_sessions: optional(OlderType.Array(session, { maxItems: PAST_MAX })),
    past_targets: targets,
    past_target: targets,
  });
}

function olderSession() {
  const { daySamplesMax, nightSamplesMax } = DEFAULT_SERIES_LIMITS;
  const series = (maxItems: number) => optional(OlderType.Array(OlderType.Number(), { maxItems }));
  const seconds = optional(OlderType.Integer({ minimum: 0, maximum: 172_800 }));
  const number = (minimum: number, maximum: number) => optional(OlderType.Number({ minimum, maximum }));
  const sex = OlderType.Union([OlderType.Literal('M'), OlderType.Literal('F')]);
  return OlderType.Object({
    HR_day_1h: series(daySamplesMax),
    RR_day_1h: series(daySamplesMax),
    HR_night: series(nightSamplesMax),
    RR_night: series(nightSamplesMax),
    sleepTimeSeconds: seconds,
    deepSleepSeconds: seconds,
    remSleepSeconds: seconds,
    lightSleepSeconds: seconds,
    awakeSleepSeconds: seconds,
    deepPercentage: number(0, 100),
    remPercentage: number(0, 100),
    lightPercentage: number(0, 100),
    age: number(0, 130),
    height_cm: number(30, 272),
    weight_kg: number(1, 650),
    sex: optional(sex),
  });
}

function optional<T extends OlderSchema>(schema: T) {
  return OlderType.Optional(OlderType.Union([schema, OlderType.Null()]));
}
