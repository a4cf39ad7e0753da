import t from 'tap';
import type { Finding } from '#acuity/contract/problems.js';
import { FINDING_TYPES } from '#acuity/contract/problems.js';
import type { SeriesLimits } from '#rules/fields.js';
import { readExactly } from '#acuity/reading/exact.js';
import { LAYOUT } from '#acuity/records/layout.js';
import { WasmParser } from '#acuity/reading/wasmParser.js';
import { isBodyProblem } from '#acuity/reading/read.js';
import { scoreRecord } from '../fixtures/bodies.js';
import { seededRandom } from '#acuity/base/random.js';
import { RequestText, mutated } from '../fixtures/requestText.js';

const LIMITS: SeriesLimits = { daySamplesMax: 20, nightSamplesMax: 30 };
const parser = new WasmParser(LIMITS);

function findings(body: unknown): readonly Finding[] {
  const outcome = readExactly(Buffer.from(JSON.stringify(body)), LIMITS, parser);
  if (!isBodyProblem(outcome)) return [];
  if (outcome.kind === 'malformed') throw new Error(`malformed at ${outcome.byte}`);
  return outcome.findings;
}

/** Where and which, as short text. */
function places(body: unknown): string[] {
  return findings(body).map(({ loc, type }) => `${loc.join('.')} ${type}`);
}

const SCALARS: readonly (readonly [field: string, low: number, high: number])[] = [
  ['sleepTimeSeconds', 0, 172_800],
  ['deepSleepSeconds', 0, 172_800],
  ['remSleepSeconds', 0, 172_800],
  ['lightSleepSeconds', 0, 172_800],
  ['awakeSleepSeconds', 0, 172_800],
  ['deepPercentage', 0, 100],
  ['remPercentage', 0, 100],
  ['lightPercentage', 0, 100],
  ['age', 0, 130],
  ['height_cm', 30, 272],
  ['weight_kg', 1, 650],
];

for (const [field, low, high] of SCALARS) {
  t.test(`${field} from ${low} to ${high}`, async (t) => {
    const at = (value: unknown): string[] => places({ current_session: { [field]: value } });
    const loc = `body.current_session.${field}`;
    for (const value of [low, high, null, undefined, (low + high) / 2]) t.strictSame(at(value), []);
    t.strictSame(at(low - 1), [`${loc} greater_than_equal`]);
    t.strictSame(at(high + 1), [`${loc} less_than_equal`]);
    for (const value of ['1', true, [], {}, [1]]) t.strictSame(at(value), [`${loc} number_type`]);
    if (field.endsWith('Seconds')) t.strictSame(at(low + 0.5), [`${loc} int_type`]);
    else t.strictSame(at(low + 0.5), []);
  });
}

t.test('the words of a bound name the bound', async (t) => {
  t.match(findings({ current_session: { height_cm: 29 } }), [
    { msg: 'Input should be greater than or equal to 30' },
  ]);
  t.match(findings({ current_session: { weight_kg: 651 } }), [
    { msg: 'Input should be less than or equal to 650' },
  ]);
});

t.test('findings of a session come in the order of the contract', async (t) => {
  const current_session = { sex: 1, age: -1, RR_night: 7, HR_day_1h: ['a', 1, 'b'], deepPercentage: 'x' };
  t.strictSame(places({ current_session }), [
    'body.current_session.HR_day_1h.0 number_type',
    'body.current_session.HR_day_1h.2 number_type',
    'body.current_session.RR_night list_type',
    'body.current_session.deepPercentage number_type',
    'body.current_session.age greater_than_equal',
    'body.current_session.sex literal_error',
  ]);
});

t.test('sessions come before targets, and the current session first', async (t) => {
  const body = {
    past_targets: [{ ...scoreRecord(), memory: null }, scoreRecord()],
    past_sessions: [{}, { age: 200 }],
    current_session: { age: 200 },
  };
  t.strictSame(places(body), [
    'body.current_session.age less_than_equal',
    'body.past_sessions.1.age less_than_equal',
    'body.past_targets.0.memory number_type',
  ]);
});

t.test('a broken pair is reported beside a broken current session', async (t) => {
  t.strictSame(places({ past_sessions: [{}] }), [
    'body.current_session missing',
    'body.past_sessions value_error',
    'body.past_targets value_error',
  ]);
});

for (const past_sessions of [7, 'x', true, {}]) {
  t.test(`past_sessions ${JSON.stringify(past_sessions)} is no list`, async (t) => {
    t.strictSame(places({ current_session: {}, past_sessions }), ['body.past_sessions list_type']);
    t.strictSame(places({ current_session: {}, past_target: past_sessions }), ['body.past_target list_type']);
  });
}

t.test('a pair too long on one side is reported there', async (t) => {
  const past_targets = Array.from({ length: 6 }, () => scoreRecord());
  t.strictSame(places({ current_session: {}, past_sessions: [{}], past_targets }), [
    'body.past_sessions value_error',
    'body.past_targets too_long',
  ]);
});

t.test('a past target of nothing lacks all seven fields', async (t) => {
  const body = { current_session: {}, past_sessions: [{}], past_targets: [{}] };
  t.strictSame(
    places(body).toSorted(),
    Object.keys(scoreRecord())
      .map((field) => `body.past_targets.0.${field} missing`)
      .toSorted(),
  );
});

t.test('units are looked at when nothing else is wrong', async (t) => {
  const HR_night = [900, 900, 900, 60];
  t.strictSame(places({ current_session: { HR_night } }), ['body.current_session.HR_night unit_error']);
  t.strictSame(places({ current_session: { HR_night, age: -1 } }), [
    'body.current_session.age greater_than_equal',
  ]);
});

const unitTexts: readonly { readonly field: string; readonly value: number; readonly text: RegExp }[] = [
  {
    field: 'HR_day_1h',
    value: 900,
    text: /^Expected beats per minute, 25 to 240; most samples lie outside$/,
  },
  {
    field: 'RR_day_1h',
    value: 850,
    text: /^Expected breaths per minute, 3 to 70; .*R-R intervals in milliseconds/,
  },
  { field: 'RR_night', value: 3000, text: /R-R intervals in milliseconds/ },
  {
    field: 'RR_night',
    value: 0.25,
    text: /^Expected breaths per minute, 3 to 70; most samples lie outside$/,
  },
  { field: 'RR_night', value: 100_000, text: /most samples lie outside$/ },
  { field: 'RR_night', value: 82, text: /these look like heart rate$/ },
];
for (const { field, value, text } of unitTexts) {
  t.test(`${field} around ${value} is told what was expected`, async (t) => {
    const [found] = findings({ current_session: { [field]: [value, value, value, value, value] } });
    t.equal(found?.type, 'unit_error');
    t.match(found?.msg, text);
  });
}

t.test(
  'every refusal has one to eight findings of the catalogue, none of which quotes the body',
  async (t) => {
    const random = seededRandom(11);
    const texts = new RequestText(random, false);
    let refused = 0;
    for (let count = 0; count < 10_000; count++) {
      const bytes = mutated(random, texts.body().replaceAll('"M"', '"secret-marker"'));
      const outcome = readExactly(bytes, LIMITS, parser);
      if (!isBodyProblem(outcome)) continue;
      refused++;
      if (outcome.kind === 'malformed') {
        if (outcome.byte < 0 || outcome.byte > bytes.length)
          t.fail(`byte ${outcome.byte} of ${bytes.length}`);
        continue;
      }
      const { findings: found } = outcome;
      if (found.length < 1 || found.length > 8) t.fail(`${found.length} findings`);
      for (const { loc, msg, type } of found) {
        if (!FINDING_TYPES.includes(type) || loc[0] !== 'body' || /secret|NaN|undefined/.test(msg)) {
          t.fail(JSON.stringify({ loc, msg, type }));
        }
      }
    }
    t.ok(refused > 1000);
  },
);

t.test('of a value in a known field only the kind is checked, at any size', async (t) => {
  const read = (age: string): unknown =>
    readExactly(Buffer.from(`{"current_session":{"age":${age}}}`), LIMITS, parser);
  const wrong = { findings: [{ loc: ['body', 'current_session', 'age'], type: 'number_type' }] };
  for (const age of [
    `${'['.repeat(62)}${']'.repeat(62)}`,
    `[${Array(9_000).fill('[]').join()}]`,
    `{${Array.from({ length: 9_000 }, (_, index) => `"${index}":{}`).join()}}`,
    `"${'\u0033'.repeat(100_000)}"`,
    `"34"`,
  ]) {
    t.match(read(age), wrong);
  }
  t.notOk(isBodyProblem(read(`34.${'0'.repeat(100_000)}`) as never));
  t.match(read(`1${'0'.repeat(400)}`), { findings: [{ type: 'finite_number' }] });
});

t.test('of two fields with one name the last counts, however it is written', async (t) => {
  const read = (text: string) => readExactly(Buffer.from(text), LIMITS, parser);
  const ages: readonly (readonly [text: string, age: number])[] = [
    ['"age":1,"age":2', 2],
    ['"age":"x","age":2', 2],
    ['"age":1,"\\u0061ge":2', 2],
    ['"\\u0061\\u0067\\u0065":1,"x":{"age":7},"y":[{"age":8}]', 1],
    ['"age":1,"\\u0061ge ":2,"age\\u0000":3,"\\u0161ge":4', 1],
    ['"a\\/ge":1,"age":2', 2],
  ];
  for (const [text, age] of ages) {
    const outcome = read(`{"current_session":{"age":9},"current_session":{${text}}}`);
    if (isBodyProblem(outcome)) t.fail(JSON.stringify(outcome));
    else t.equal(outcome.records[LAYOUT.AGE], age, text);
  }
});

t.test('a key that holds a quote, or is as long as a body, hides nothing', async (t) => {
  const keys = [
    '\\"age\\"',
    '\\\\',
    `${'a'.repeat(1000)}`,
    '\u00e9'.repeat(50),
    `${'\\u0061'.repeat(30)}`,
    '',
  ];
  for (const key of keys) {
    const text = `{"${key}":{"${key}":1},"current_session":{"${key}":["${key}"],"age":30}}`;
    const outcome = readExactly(Buffer.from(text), LIMITS, parser);
    if (isBodyProblem(outcome)) t.fail(JSON.stringify(outcome));
    else t.strictSame([outcome.records[LAYOUT.AGE], outcome.unknownFields], [30, 2], key.slice(0, 20));
  }
});

/** Sessions that contradict themselves, and what is said of them. */
const contradictory: readonly (readonly [session: object, field: string, msg: RegExp])[] = [
  [
    { sleepTimeSeconds: 25_200, deepSleepSeconds: 90, remSleepSeconds: 100, lightSleepSeconds: 230 },
    'deepSleepSeconds',
    /look like minutes beside sleepTimeSeconds/,
  ],
  [
    { sleepTimeSeconds: 420, deepSleepSeconds: 90, remSleepSeconds: 100 },
    'sleepTimeSeconds',
    /looks like minutes/,
  ],
  [{ sleepTimeSeconds: 7, deepSleepSeconds: 1 }, 'sleepTimeSeconds', /look like hours/],
  [
    { sleepTimeSeconds: 26_100, deepSleepSeconds: 5_400, remSleepSeconds: 100, lightSleepSeconds: 14_700 },
    'remSleepSeconds',
    /this stage looks like minutes/,
  ],
  [
    { deepPercentage: 20, remPercentage: 0.25, lightPercentage: 55 },
    'remPercentage',
    /two scales; give all of them as fractions/,
  ],
  [{ deepPercentage: 60, remPercentage: 50 }, 'deepPercentage', /add up to more than the whole/],
  [{ RR_night: Array(20).fill(58) }, 'RR_night', /heart rate in the place of respiratory rate/],
];
for (const [session, field, msg] of contradictory) {
  t.test(`a contradiction is told at ${field}, wherever the session stands`, async (t) => {
    const targets = [scoreRecord(), scoreRecord()];
    const [inCurrent] = findings({ current_session: session });
    t.match(inCurrent, { loc: ['body', 'current_session', field], msg, type: 'unit_error' });
    const past = { current_session: {}, past_sessions: [{}, session], past_targets: targets };
    t.match(findings(past), [{ loc: ['body', 'past_sessions', 1, field], msg, type: 'unit_error' }]);
    const all = { current_session: session, past_sessions: [session, {}], past_targets: targets };
    t.strictSame(places(all), [
      `body.current_session.${field} unit_error`,
      `body.past_sessions.0.${field} unit_error`,
    ]);
    // All other errors come first.
    t.strictSame(places({ ...all, past_targets: 7 }), ['body.past_targets list_type']);
  });
}

t.test('a bare session is refused with the place where it belongs', async (t) => {
  t.match(findings({ HR_night: [60, 61], age: 34 }), [
    {
      loc: ['body', 'current_session'],
      msg: /wrap the session: \{"current_session": \{\.\.\.\}\}/,
      type: 'missing',
    },
  ]);
  // Of other fields it is not said.
  const [target] = findings({ current_session: {}, past_sessions: [{}], past_targets: [{}] });
  t.equal(target?.msg, 'Field required');
});

t.test('a fraction of hours is refused with the unit of the whole number', async (t) => {
  const [found] = findings({ current_session: { sleepTimeSeconds: 7.25 } });
  t.match(found, { type: 'int_type', msg: /whole number of seconds.*hours times 3600, minutes times 60/ });
  t.notMatch(found?.msg ?? '', /7\.25/);
});

for (const [unit, value] of [
  ['seconds', 1_763_856_000],
  ['milliseconds', 1_763_856_000_000],
] as const) {
  for (const field of ['HR_night', 'RR_day_1h']) {
    t.test(`${unit} since 1970 in ${field} are called times`, async (t) => {
      const [found] = findings({ current_session: { [field]: [value, value, value] } });
      t.match(found, { type: 'unit_error', msg: /look like times, in seconds or milliseconds since 1970/ });
      t.notMatch(found?.msg ?? '', /176/);
    });
  }
}

t.test('the unit errors of a session come in the order of its fields', async (t) => {
  const session = {
    deepPercentage: 0.9,
    remPercentage: 0.9,
    sleepTimeSeconds: 420,
    RR_night: Array(12).fill(45),
    HR_day_1h: [900, 900, 900],
  };
  t.strictSame(places({ current_session: session }), [
    'body.current_session.HR_day_1h unit_error',
    'body.current_session.RR_night unit_error',
    'body.current_session.sleepTimeSeconds unit_error',
    'body.current_session.deepPercentage unit_error',
  ]);
});

const breathing: readonly (readonly [samples: readonly number[], isHeart: boolean])[] = [
  [Array(10).fill(40.5), true],
  [Array(9).fill(40.5), false],
  [Array(10).fill(40), false],
  [[...Array(9).fill(50), 0, -1, 255] as number[], false],
  [[...Array(11).fill(15), ...Array(10).fill(69)] as number[], false],
  [[...Array(6).fill(40), ...Array(5).fill(45)] as number[], false],
  [[...Array(5).fill(40), ...Array(6).fill(40.001)] as number[], true],
  [[...Array(10).fill(15), ...Array(12).fill(69)] as number[], true],
];
for (const [samples, isHeart] of breathing) {
  t.test(
    `breathing of ${samples.length} samples from ${samples[0]} is ${isHeart ? 'heart rate' : 'breathing'}`,
    async (t) => {
      for (const field of ['RR_day_1h', 'RR_night']) {
        const loose = { daySamplesMax: 100, nightSamplesMax: 100 };
        const outcome = readExactly(
          Buffer.from(JSON.stringify({ current_session: { [field]: samples } })),
          loose,
          new WasmParser(loose),
        );
        t.equal(isBodyProblem(outcome), isHeart);
      }
    },
  );
}
