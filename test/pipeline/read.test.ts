import t, { type Test } from 'tap';
import { SERIES_FIELDS, type SeriesLimits } from '#acuity/contract/request.js';
import { readExactly } from '#acuity/pipeline/exact.js';
import { WasmParser, LAYOUT, summaryAt, type PredictionRequest } from '#acuity/pipeline/wasmParser.js';
import { createReader, isBodyProblem, readFast } from '#acuity/pipeline/read.js';
import { requestBody } from '../fixtures/bodies.js';
import { seededRandom, type Random } from '../fixtures/random.js';
import { RequestText, mutated } from '../fixtures/requestText.js';

/** Bodies in the comparison of the two readers; a long run takes millions. */
const CASES = Number(process.env['FUZZ_CASES'] ?? 100_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? 1);

const LIMITS: SeriesLimits = { daySamplesMax: 20, nightSamplesMax: 30 };

/** Undefined where `one` and `other` hold the same bits wherever anything may be read. */
function difference(one: PredictionRequest, other: PredictionRequest): string | undefined {
  if (one.pastCount !== other.pastCount) return `${one.pastCount} and ${other.pastCount} past sessions`;
  for (let session = 0; session <= one.pastCount; session++) {
    const record = session * LAYOUT.RECORD_LENGTH;
    for (let scalar = 0; scalar < LAYOUT.SCALARS; scalar++) {
      if (!Object.is(one.records[record + scalar], other.records[record + scalar])) {
        return `scalar ${scalar} of session ${session}`;
      }
    }
    for (const field of SERIES_FIELDS) {
      const summary = summaryAt(session, field);
      // Behind the two counts, a summary means something only where a sample counted.
      const length = one.records[summary + LAYOUT.COUNT] === 0 ? 2 : LAYOUT.SUMMARY_LENGTH;
      for (let value = 0; value < length; value++) {
        if (!Object.is(one.records[summary + value], other.records[summary + value])) {
          return `value ${value} of ${field} of session ${session}`;
        }
      }
    }
  }
  for (let index = 0; index < one.pastCount * LAYOUT.TARGET_LENGTH; index++) {
    if (!Object.is(one.targets[index], other.targets[index])) return `float ${index} of the targets`;
  }
  return undefined;
}

interface Tally {
  taken: number;
  refused: number;
}

/** Both readers on one body: what the fast one takes, the exact one must take for the same. */
function compare(t: Test, fast: WasmParser, exact: WasmParser, bytes: Uint8Array, tally: Tally): void {
  const quick = readFast(fast, bytes);
  if (quick === undefined) {
    tally.refused++;
    return;
  }
  tally.taken++;
  const slow = readExactly(bytes, LIMITS, exact);
  const different = isBodyProblem(slow) ? JSON.stringify(slow) : difference(quick, slow);
  if (different !== undefined)
    t.fail(`the readers differ: ${different}`, { body: Buffer.from(bytes).toString() });
}

t.test('whatever the fast reader takes, the exact one takes for the same', async (t) => {
  const random = seededRandom(SEED);
  const [fast, exact] = [new WasmParser(LIMITS), new WasmParser(LIMITS)];
  const odd = new RequestText(random, false);
  const plain = new RequestText(random, true);
  const tally: Tally = { taken: 0, refused: 0 };
  for (let count = 0; count < CASES; count++) {
    const kind = count % 4;
    if (kind === 0) compare(t, fast, exact, Buffer.from(odd.body()), tally);
    else compare(t, fast, exact, mutated(random, (kind === 1 ? odd : plain).body()), tally);
  }
  t.ok(tally.taken > CASES / 20, `${tally.taken} of ${CASES} were taken`);
  t.ok(tally.refused > CASES / 20, `${tally.refused} of ${CASES} were refused`);
});

t.test('the fast reader takes every plain body', async (t) => {
  const random = seededRandom(SEED + 1);
  const [fast, exact] = [new WasmParser(LIMITS), new WasmParser(LIMITS)];
  const plain = new RequestText(random, true);
  const tally: Tally = { taken: 0, refused: 0 };
  for (let count = 0; count < CASES / 20; count++) {
    const text = plain.body();
    const refusedBefore = tally.refused;
    // Longer than its limit, a series takes the exact path, which words the refusal.
    const isLong = isBodyProblem(readExactly(Buffer.from(text), LIMITS, exact));
    compare(t, fast, exact, Buffer.from(text), tally);
    if (!isLong && tally.refused > refusedBefore) t.fail('not taken', { body: text });
  }
  t.ok(tally.taken > CASES / 50, `${tally.taken} were taken`);
});

t.test('the fast reader takes what a client library writes, with and without indentation', async (t) => {
  const limits: SeriesLimits = { daySamplesMax: 7200, nightSamplesMax: 43_200 };
  const parser = new WasmParser(limits);
  for (const past of [0, 1, 5]) {
    for (const space of [undefined, 1, 2, '\t']) {
      const request = readFast(parser, Buffer.from(JSON.stringify(requestBody(past), null, space)));
      t.equal(request?.pastCount, past);
    }
  }
});

/** A number as callers may write it, with up to 15 digits. */
function numberText(random: Random): string {
  const whole = Math.floor(random() * 10 ** Math.floor(random() * 8));
  const decimals = Math.floor(random() * 8);
  const sign = random() < 0.2 ? '-' : '';
  if (decimals === 0) return sign + whole;
  return `${sign}${whole}.${String(Math.floor(random() * 10 ** decimals)).padStart(decimals, '0')}`;
}

t.test('samples are decoded to the float32 that JSON.parse and rounding give', async (t) => {
  const random = seededRandom(SEED + 2);
  const limits: SeriesLimits = { daySamplesMax: 500, nightSamplesMax: 500 };
  const parser = new WasmParser(limits);
  const fixed = [
    '0',
    '-0',
    '0.1',
    '16777217',
    '999999999999999',
    '0.00000000000001',
    '123456.789012345',
    '8388608.5',
  ];
  const tenths = Array.from({ length: 1000 }, (_, index) => String((index + 1) / 10));
  const texts = [fixed, tenths.slice(0, 500), tenths.slice(500)];
  for (let count = 0; count < 200; count++) texts.push(Array.from({ length: 500 }, () => numberText(random)));
  for (const numbers of texts) {
    parser.read(Buffer.from(`{"current_session":{"HR_night":[${numbers.join()}]}}`));
    const wrong = numbers.filter((text, index) => {
      return !Object.is(parser.samples[index], Math.fround(JSON.parse(text) as number));
    });
    t.strictSame(wrong, []);
  }
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
  const reader = createReader(LIMITS);
  const victim = JSON.stringify({
    current_session: { HR_night: [201, 202, 203, 204], RR_night: [33, 34], age: 77 },
  });
  for (const body of forgeries) {
    const fresh = createReader(LIMITS)(Buffer.from(body));
    const expected = isBodyProblem(fresh) ? fresh : structuredClone(fresh);
    t.notOk(isBodyProblem(reader(Buffer.from(victim))));
    const actual = reader(Buffer.from(body));
    if (isBodyProblem(actual) || isBodyProblem(expected)) t.strictSame(actual, expected, body);
    else t.equal(difference(actual, expected), undefined, body);
  }
});

t.test('what is inside of a nested series is no number of that series', async (t) => {
  const reader = createReader(LIMITS);
  for (const field of SERIES_FIELDS) {
    for (const value of ['[[0]]', '[60,[61]]', '[{}]', '[null]', '["0"]']) {
      const outcome = reader(Buffer.from(`{"current_session":{"${field}":${value}}}`));
      t.ok(isBodyProblem(outcome) && outcome.kind === 'unprocessable', `${field} ${value}`);
    }
  }
});

t.test('a series of exactly the limit is taken, one sample more is refused', async (t) => {
  const fast = new WasmParser(LIMITS);
  const reader = createReader(LIMITS);
  for (const field of SERIES_FIELDS) {
    const most = field.includes('day') ? LIMITS.daySamplesMax : LIMITS.nightSamplesMax;
    const body = (length: number): Buffer => {
      return Buffer.from(JSON.stringify({ current_session: { [field]: Array(length).fill(60) } }));
    };
    const taken = readFast(fast, body(most));
    t.equal(taken?.records[summaryAt(0, field) + LAYOUT.COUNT], most);
    const refused = reader(body(most + 1));
    t.match(refused, { findings: [{ loc: ['body', 'current_session', field], type: 'too_long' }] });
  }
});

t.test('bodies of any length follow one another', async (t) => {
  const limits: SeriesLimits = { daySamplesMax: 7200, nightSamplesMax: 43_200 };
  const reader = createReader(limits);
  for (const length of [10, 43_200, 3, 43_201, 20_000, 1]) {
    const outcome = reader(
      Buffer.from(JSON.stringify({ current_session: { HR_night: Array(length).fill(60) } })),
    );
    if (length > limits.nightSamplesMax) t.ok(isBodyProblem(outcome));
    else if (isBodyProblem(outcome)) t.fail(JSON.stringify(outcome));
    else t.equal(outcome.records[summaryAt(0, 'HR_night') + LAYOUT.COUNT], length);
  }
});
