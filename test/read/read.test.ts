import { isDeepStrictEqual } from 'node:util';
import t, { type Test } from 'tap';
import { PAST_MAX, SERIES_FIELDS, type SeriesLimits } from '#rules/fields.js';
import { LAYOUT } from '#acuity/night/layout.js';
import { writeScalars, writeTarget } from '#acuity/night/places.js';
import { FINDING_TYPES, type Finding } from '#acuity/contract/problems.js';
import type { PredictionRequest, ReadRequest } from '#acuity/night/request.js';
import { WasmParser } from '#acuity/read/wasmParser.js';
import { seededRandom } from '#acuity/base/random.js';
import { createReader, isBodyProblem, placed, type RequestReader, readExactly } from '#acuity/read/read.js';
import { scoreRecord } from '../fixtures/bodies.js';
import { CONSTANTS } from '../fixtures/measured.js';
import { mutated, RequestText } from '../fixtures/requestText.js';

/** Bodies in the comparison of the readers; a long run takes millions. */
const CASES = Number(process.env['FUZZ_CASES'] ?? 20_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? 1);

const LIMITS: SeriesLimits = { daySamplesMax: 20, nightSamplesMax: 30 };

type Compared = PredictionRequest & Partial<Pick<ReadRequest, 'history'>>;

const ROW = { scores: Float32Array.of(1, 22.5, 33.33, 44.44, 100, 0.7, 0.2), offset: 0 };
const THRESHOLDS = { valence: 0.5, arousal: 0.5 };

/** Undefined where `one` and `other` hold the same bits. */
function difference(one: Compared, other: Compared): string | undefined {
  if (one.history?.isOthers !== other.history?.isOthers) return 'whose history it is';
  if (one.history?.text(ROW, THRESHOLDS) !== other.history?.text(ROW, THRESHOLDS)) return 'the history';
  if (!isDeepStrictEqual(one.history?.adjustments, other.history?.adjustments)) return 'what measurements do';
  if (!isDeepStrictEqual(one.history?.ignored, other.history?.ignored)) return 'what came too late';
  if (one.pastCount !== other.pastCount) return `${one.pastCount} and ${other.pastCount} past sessions`;
  for (const part of ['records', 'targets'] as const) {
    if (one[part].length !== other[part].length) return `${part} of another length`;
    const index = one[part].findIndex((value, place) => !Object.is(value, other[part][place]));
    if (index !== -1) return `value ${index % LAYOUT.RECORD_LENGTH} of one of the ${part}`;
  }
  return undefined;
}

type Json = Readonly<Record<string, unknown>>;

const listOf = (value: unknown): readonly never[] => (Array.isArray(value) ? (value as never[]) : []);

/** The numbers of a body that was taken, in the plainest way, over JSON.parse; undefined where it has a history. */
function plainRequest(bytes: Uint8Array, parser: WasmParser): PredictionRequest | undefined {
  const body = JSON.parse(Buffer.from(bytes).toString()) as Json;
  if ((body['history'] ?? undefined) !== undefined) return undefined;
  const past = listOf(body['past_sessions']);
  const { records, targets } = parser.blank(PAST_MAX);
  for (const [index, session] of ([body['current_session'], ...past] as Json[]).entries()) {
    writeScalars(session, records, index * LAYOUT.RECORD_LENGTH);
    for (const field of SERIES_FIELDS) {
      const alias = field.endsWith('night') ? listOf(session[`${field}_imputed`]) : [];
      parser.summarise([...listOf(session[field]), ...alias], field, index);
    }
  }
  for (const [index, target] of [...listOf(body['past_targets']), ...listOf(body['past_target'])].entries())
    writeTarget(target, targets, index * LAYOUT.TARGET_LENGTH);
  return {
    records: records.slice(0, (1 + past.length) * LAYOUT.RECORD_LENGTH),
    targets: targets.slice(0, past.length * LAYOUT.TARGET_LENGTH),
    pastCount: past.length,
  };
}

const readers = () => ({
  /** As in the service: the fast path, then the exact one, in one memory. */
  served: createReader(LIMITS),
  fast: new WasmParser(LIMITS),
  exact: new WasmParser(LIMITS),
  plain: new WasmParser(LIMITS),
});

const tally = () => ({ taken: 0, refused: 0 });

/**
 * All readers on one body: what one path takes, all that take it take alike, and its numbers are those of JSON.parse.
 * A refusal has one to eight findings of the catalogue, none of which quotes the body.
 */
function compare(
  t: Test,
  { served, fast, exact, plain }: ReturnType<typeof readers>,
  bytes: Uint8Array,
  counts: ReturnType<typeof tally>,
): void {
  const slow = readExactly(bytes, LIMITS, exact, CONSTANTS);
  const taken = fast.read(bytes);
  const quick = taken && (placed(taken, fast, CONSTANTS) as ReadRequest);
  const wrong =
    (quick && fastDisagreement(quick, slow)) ??
    servedDisagreement(served(bytes, CONSTANTS), slow) ??
    (isBodyProblem(slow) ? undefined : difference(slow, { ...slow, ...plainRequest(bytes, plain) }));
  if (wrong !== undefined) t.fail(`the readers differ: ${wrong}`, { body: Buffer.from(bytes).toString() });
  counts[quick === undefined ? 'refused' : 'taken']++;
}

function servedDisagreement(
  served: ReturnType<RequestReader>,
  slow: ReturnType<typeof readExactly>,
): string | undefined {
  if (!isBodyProblem(served)) return fastDisagreement(served, slow);
  if (!isDeepStrictEqual(served, slow)) return `as it serves: ${JSON.stringify(served)}`;
  if (served.kind === 'malformed') return served.byte < 0 ? `byte ${served.byte}` : undefined;
  const { findings } = served;
  const isOdd = ({ loc, msg, type }: Finding): boolean =>
    !FINDING_TYPES.includes(type) || loc[0] !== 'body' || /secret|NaN|undefined/.test(msg);
  return findings.length < 1 || findings.length > 8 || findings.some(isOdd)
    ? JSON.stringify(findings)
    : undefined;
}

function fastDisagreement(quick: ReadRequest, slow: ReturnType<typeof readExactly>): string | undefined {
  if (isBodyProblem(slow)) return 'taken on the fast path';
  if (quick.explain !== slow.explain) return 'explain';
  if (quick.unknownFields !== slow.unknownFields)
    return `${quick.unknownFields} and ${slow.unknownFields} unknown fields`;
  return difference(quick, slow);
}

t.test('the readers agree with each other, and with JSON.parse, on every body', async (t) => {
  const random = seededRandom(SEED);
  const all = readers();
  const odd = new RequestText(random, false);
  const plain = new RequestText(random, true);
  const counts = tally();
  for (let count = 0; count < CASES; count++) {
    const kind = count % 4;
    if (kind === 0) compare(t, all, Buffer.from(odd.body().replaceAll('"M"', '"secret"')), counts);
    else compare(t, all, mutated(random, (kind === 1 ? odd : plain).body()), counts);
  }
  t.ok(counts.taken > CASES / 20, `${counts.taken} of ${CASES} were taken`);
  t.ok(counts.refused > CASES / 20, `${counts.refused} of ${CASES} were refused`);
});

t.test('the fast reader takes every plain body', async (t) => {
  const random = seededRandom(SEED + 1);
  const all = readers();
  const plain = new RequestText(random, true);
  const counts = tally();
  for (let count = 0; count < CASES / 20; count++) {
    const text = plain.body();
    const refusedBefore = counts.refused;
    // Longer than its limit, a series takes the exact path, which words the refusal.
    const isLong = isBodyProblem(readExactly(Buffer.from(text), LIMITS, all.exact));
    compare(t, all, Buffer.from(text), counts);
    if (!isLong && counts.refused > refusedBefore) t.fail('not taken', { body: text });
  }
  t.ok(counts.taken > CASES / 50, `${counts.taken} were taken`);
});

t.test('an alias beside its name: nothing beside something is absence', async (t) => {
  const all = readers();
  for (const nothing of [null, []])
    for (const [HR_night, HR_night_imputed] of [
      [nothing, [60, 62]],
      [[60, 62], nothing],
    ]) {
      const bytes = Buffer.from(JSON.stringify({ current_session: { HR_night, HR_night_imputed } }));
      compare(t, all, bytes, tally());
      t.notOk(isBodyProblem(all.served(bytes)));
    }
});

t.test('unknown fields are counted wherever they stand, whichever path reads them', async (t) => {
  const reader = createReader(LIMITS);
  const target = { ...scoreRecord(), z: 1 };
  const body = {
    current_session: { a: 1, age: 30, HR_night_imputed: [60], Age: 30 },
    past_sessions: [{ b: 'x', c: null }, {}],
    past_target: [target, scoreRecord()],
    d: true,
  };
  const unknown = (value: unknown): number | undefined => {
    const outcome = reader(Buffer.from(JSON.stringify(value)));
    return isBodyProblem(outcome) ? undefined : outcome.unknownFields;
  };
  t.equal(unknown(body), 6);
  t.equal(unknown({ ...body, d: [{ current_session: { e: 1 } }] }), 6);
  t.equal(unknown({ current_session: {} }), 0);
  t.equal(unknown({ current_session: { age: 30, é: 1 } }), 1);
});

t.test('both readers see how long each series was; a flag that is none goes the exact way', async (t) => {
  const [fast, exact] = [new WasmParser(LIMITS), new WasmParser(LIMITS)];
  const bytes = Buffer.from('{"current_session":{"HR_night":[60,0,61,255],"RR_night":[],"HR_day_1h":[70]}}');
  const slow = readExactly(bytes, LIMITS, exact);
  for (const lengths of [fast.read(bytes)?.lengths, isBodyProblem(slow) ? [] : slow.lengths])
    t.strictSame([...(lengths ?? [])], [1, 0, 4, 0]);
  for (const flag of ['1', '"true"', '[]', '{}', 'truE', '0', 'false,"explain":true'])
    t.equal(fast.read(Buffer.from(`{"current_session":{},"explain":${flag}}`)), undefined, flag);
});

/** Attempts to write what only a reader may write, or to blur where a series ends. */
const forgeries: readonly string[] = [
  '{"current_session":{"HR_night":[0]}}',
  '{"current_session":{"HR_night":[[0]]}}',
  '{"current_session":{"HR_night":[[[0]]]}}',
  '{"current_session":{"HR_night":"[0]"}}',
  '{"current_session":{"HR_night":{"0":60}}}',
  '{"current_session":{"HR_night":{"HR_night":[1]}}}',
  '{"current_session":{"HR_night":0}}',
  '{"current_session":[0]}',
  '{"current_session":{},"past_sessions":[0],"past_targets":[0]}',
  '{"current_session":{},"past_sessions":[[0]],"past_targets":[[0]]}',
  '{"current_session":{"HR_night":[60,61],"HR_night":[7]}}',
  '{"current_session":{"HR_night":[60,61]},"current_session":{"HR_night":[7]}}',
  '{"current_session":{"x":[60,61,62],"HR_night":[0]}}',
  '{"current_session":{"HR_night":[60,61]},"HR_night":[0]}',
];

t.test('a body reads the same whichever other body was read before', async (t) => {
  const victim = '{"current_session":{"HR_night":[201,202,203,204],"RR_night":[33,34],"age":77}}';
  const all = readers();
  for (const body of forgeries) {
    const expected = createReader(LIMITS)(Buffer.from(body));
    for (const text of [victim, body]) compare(t, all, Buffer.from(text), tally());
    const actual = all.served(Buffer.from(body));
    if (isBodyProblem(actual) || isBodyProblem(expected)) t.strictSame(actual, expected, body);
    else t.equal(difference(actual, expected), undefined, body);
  }
});
