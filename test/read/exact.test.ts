import t from 'tap';
import type { Finding } from '#acuity/contract/problems.js';
import { SCALAR_BOUNDS, type SeriesLimits } from '#rules/fields.js';
import { WasmParser } from '#acuity/read/wasmParser.js';
import { isBodyProblem, readExactly } from '#acuity/read/read.js';
import { scoreRecord } from '../fixtures/bodies.js';
import { randomRecord, step } from '../fixtures/histories.js';
import { CONSTANTS } from '../fixtures/measured.js';
import { seededRandom } from '#acuity/base/random.js';

const LIMITS: SeriesLimits = { daySamplesMax: 20, nightSamplesMax: 30 };
const parser = new WasmParser(LIMITS);

/** The findings in a body, or in its text. */
function findings(body: unknown): readonly Finding[] {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const outcome = readExactly(Buffer.from(text), LIMITS, parser, CONSTANTS);
  if (!isBodyProblem(outcome)) return [];
  if (outcome.kind === 'malformed') throw new Error(`malformed at ${outcome.byte}`);
  return outcome.findings;
}

/** Where and which, as short text. */
function places(body: unknown): string[] {
  return findings(body).map(({ loc, type }) => `${loc.join('.')} ${type}`);
}

// The bounds are the pages': test/docs/pages.
t.test('each number of a session, at its bounds and beyond', async (t) => {
  t.equal(SCALAR_BOUNDS.length, 11);
  for (const { field, minimum: low, maximum: high } of SCALAR_BOUNDS) {
    const at = (value: unknown): string => places({ current_session: { [field]: value } }).join();
    const loc = `body.current_session.${field}`;
    for (const value of [low, high, null, undefined, (low + high) / 2]) t.equal(at(value), '', field);
    t.equal(at(low - 1), `${loc} greater_than_equal`);
    t.equal(at(high + 1), `${loc} less_than_equal`);
    for (const value of ['1', true, [], {}, [1]]) t.equal(at(value), `${loc} number_type`);
    t.equal(at(low + 0.5), field.endsWith('Seconds') ? `${loc} int_type` : '');
  }
});

const target = scoreRecord();
const copies = <T>(count: number, of: T): T[] => Array.from({ length: count }, () => of);

/** What stands for more in the bodies below; `3*60` is three samples of 60. */
const WORDS: Readonly<Record<string, string>> = {
  NOW: '"current_session":{}',
  PAST: '"past_targets":[TARGET]',
  TARGET: JSON.stringify(target),
  MEASURED: '"current_session":{},"history":"","night":"2026-01-11","measurements"',
  TEST: '"score":"attention","value":50',
  RAW: '"current_session":{"age":34},"history":"","night":"2026-01-11","measurements"',
  SCORES: '"C_SCORE":1,"attention":1,"memory":1,"reasoning":1',
};

/**
 * Each message of a finding. Below it: its place and type, and the bodies that get it, as `place type = body`; of several
 * bodies `@` is the difference. The words are part of the contract.
 */
const TEXTS = String.raw`
Field required: wrap the session: {"current_session": {...}}
  current_session missing = @ @ {} | {"HR_night":[60,61],"age":34}
Input should be an object
  object_type = @ @ null | [] | "x" | 7 | true
  current_session object_type = {"current_session":@} @ null | [] | "x" | 7
  past_sessions.0 object_type = {NOW,"past_sessions":[null],PAST}
  past_sessions.4 object_type = {NOW,"past_sessions":[{},{},{},{},7],"past_targets":[TARGET,TARGET,TARGET,TARGET,TARGET]}
  measurements.0 object_type = {MEASURED:[@]} @ null | 7 | "attention" | []
Input should be a list
  current_session.HR_night list_type = {"current_session":{"HR_night":60}}
  past_sessions list_type = {NOW,"past_sessions":@} @ 7 | "x" | true | {}
  past_target list_type = {NOW,"past_target":@} @ 7 | "x" | true | {}
  measurements list_type = {MEASURED:@} @ 7 | "attention" | true | {}
  measurements.0.answers list_type = {RAW:[{"test":"pss10","answers":@}]} @ 7 | {} | "2"
Input should be a number
  current_session.HR_day_1h.1 number_type = {"current_session":{"HR_day_1h":[60,@]}} @ null | "61" | true | [62] | {}
  current_session.age number_type = {"current_session":{"age":"40"}}
  measurements.0.value number_type = {MEASURED:[{"score":"memory","value":@}]} @ "50" | null | true | "High" | [50]
  measurements.0.reliability number_type = {MEASURED:[{TEST,"reliability":@}]} @ "0.7" | true | {}
  measurements.0.result number_type = {RAW:[{"test":"pss10","result":@}]} @ [] | [17] | {} | "17"
Input should be a finite number
  current_session.age finite_number = {"current_session":{"age":1e999}}
  current_session.HR_night.1 finite_number = {"current_session":{"HR_night":[60,@]}} @ 1e999 | -1e999
  measurements.0.value finite_number = {MEASURED:[{"score":"stress","value":1e999}]}
Input should be a whole number of seconds: hours times 3600, minutes times 60
  current_session.sleepTimeSeconds int_type = {"current_session":{"sleepTimeSeconds":7.25}}
Input should be 'M', 'F' or null
  current_session.sex literal_error = {"current_session":{"sex":"male"}}
Input should be 'Low' or 'High'
  past_target.0.valence literal_error = {NOW,"past_sessions":[{}],"past_target":[{"stress":1,SCORES,"valence":"high","arousal":"Low"}]}
  measurements.0.value literal_error = {MEASURED:[{"score":"valence","value":@}]} @ "high" | "Medium" | 84 | null | true
Input should be 'attention', 'memory', 'reasoning', 'stress', 'valence' or 'arousal'
  measurements.0.score literal_error = {MEASURED:[{"score":@,"value":50}]} @ "C_SCORE" | "Attention" | "" | null | 1
Input should be true or false
  explain bool_type = {NOW,"explain":@} @ 1 | "true" | []
Input should be a string
  history string_type = {NOW,"history":@} @ 1 | true | {} | []
Input should be a date of the form YYYY-MM-DD, from 1970 to 2149
  night date_type = {NOW,"history":"","night":@} @ "2026-02-29" | "2026-13-01" | "2026-1-1" | "1969-12-31" | "2150-01-01" | "" | "2026-11-21T00" | 20260101
  night date_type = {NOW,"history":"","night":"x","measurements":[{TEST,"on":"2026-01-03"}]}
  measurements.0.on date_type = {MEASURED:[{TEST,"on":@}]} @ "2026-1-1" | "2026-02-30" | "1969-12-31" | "" | 20260101 | {} | true
Day should not be after night
  measurements.0.on value_error = {MEASURED:[{TEST,"on":"2026-01-12"}]}
Input should be greater than or equal to 30
  current_session.height_cm greater_than_equal = {"current_session":{"height_cm":29}}
Input should be greater than or equal to 0
  measurements.0.value greater_than_equal = {MEASURED:[{"score":"memory","value":-0.1}]}
Input should be greater than or equal to 0.05
  measurements.0.reliability greater_than_equal = {MEASURED:[{TEST,"reliability":0.049}]}
Input should be less than or equal to 650
  current_session.weight_kg less_than_equal = {"current_session":{"weight_kg":651}}
Input should be less than or equal to 100
  past_target.0.stress less_than_equal = {NOW,"past_sessions":[{}],"past_target":[{"stress":101,SCORES,"valence":"High","arousal":"Low"}]}
  measurements.0.value less_than_equal = {MEASURED:[{"score":"memory","value":100.1}]}
Input should be less than or equal to 0.99
  measurements.0.reliability less_than_equal = {MEASURED:[{TEST,"reliability":0.991}]}
Field required
  past_targets.1.C_SCORE missing = {NOW,"past_sessions":[{},{}],"past_targets":[TARGET,{"attention":1,"memory":1,"reasoning":1,"stress":1,"valence":"High","arousal":"Low"}]}
  night missing = {NOW,"history":"","night":null,"measurements":[{TEST}]}
  measurements.0.test missing = {RAW:[{TEST,"result":[]}]}
  measurements.0.score missing = {MEASURED:[{"value":50}]}
  measurements.0.value missing = {MEASURED:[{"score":"attention"}]}
  measurements.0.score missing, measurements.0.value missing = {MEASURED:[{}]}
List should have at least 10 items
  measurements.0.answers too_short = {RAW:[{"test":"pss10","answers":@}]} @ [1,2]
pss10 takes one of answers and result
  measurements.0.answers value_error = {RAW:[{"test":"pss10","result":@,"answers":[1]}]} @ 17 | []
List should have at most 20 items
  current_session.RR_day_1h too_long = {"current_session":{"RR_day_1h":[21*15]}}
List should have at most 64 items
  measurements too_long = {MEASURED:[65*7]}
List should have at most 5 items
  past_sessions too_long, past_targets too_long = {NOW,"past_sessions":[6*7],"past_targets":[6*7]}
past_sessions and past_targets must be given together
  past_sessions value_error, past_targets value_error = {NOW,@} @ PAST | "past_sessions":null,PAST | "past_sessions":[{}]
past_sessions and past_targets must have the same length
  past_sessions value_error, past_targets value_error = {NOW,"past_sessions":[{},{}],PAST}
past_target is an alias of past_targets: give one of the two
  past_target value_error = {NOW,"past_sessions":[{}],PAST,"past_target":[TARGET]}
RR_night_imputed is an alias of RR_night: give one of the two
  past_sessions.0.RR_night_imputed value_error = {NOW,"past_sessions":[{"RR_night":[15],"RR_night_imputed":[16]}],PAST}
History is damaged or of another version: send that of the last answer as it was, or "" to begin a new one
  history history_invalid = {NOW,"history":@} @ "acu1." | "acu2.AAAA" | " " | "x"
Measurements are kept in the history: send that, or "" to begin one
  measurements value_error = {NOW,@"measurements":[{TEST}]} @ "night":"2026-01-11", | "history":null,"night":"2026-01-11",
Expected beats per minute, 25 to 240; most samples lie outside
  current_session.HR_day_1h unit_error = {"current_session":{"HR_day_1h":[3*100000]}}
Expected beats per minute, 25 to 240; these look like intervals between beats in milliseconds: heart rate is 60,000 divided by them
  current_session.HR_day_1h unit_error = {"current_session":{"HR_day_1h":[3*900]}}
Expected beats per minute, 25 to 240; these look like times, in seconds or milliseconds since 1970, not samples
  current_session.HR_night unit_error = {"current_session":{"HR_night":[@]}} @ 3*1763856000 | 3*1763856000000
Expected breaths per minute, 3 to 70; these look like times, in seconds or milliseconds since 1970, not samples
  current_session.RR_day_1h unit_error = {"current_session":{"RR_day_1h":[@]}} @ 3*1763856000 | 3*1763856000000
Expected breaths per minute, 3 to 70; these look like R-R intervals in milliseconds: "RR" means respiratory rate here, not the time between beats
  past_sessions.0.RR_night unit_error = {NOW,"past_sessions":[{"RR_night":[@]}],PAST} @ 5*812 | 5*3000
Expected breaths per minute, 3 to 70; most samples lie outside
  current_session.RR_night unit_error = {"current_session":{"RR_night":[@]}} @ 5*0.01 | 5*100000
Expected breaths per minute, 3 to 70; these look like breaths per second or R-R intervals in seconds: respiratory rate is breaths per minute
  current_session.RR_night unit_error = {"current_session":{"RR_night":[5*0.25]}}
Expected breaths per minute, 3 to 70; these look like heart rate
  current_session.RR_night unit_error = {"current_session":{"RR_night":[5*82]}}
Expected breaths per minute; so high a median looks like heart rate in the place of respiratory rate
  current_session.RR_night unit_error = {"current_session":{"RR_night":[20*58]}}
Expected seconds; deepSleepSeconds, remSleepSeconds and lightSleepSeconds look like minutes beside sleepTimeSeconds
  current_session.deepSleepSeconds unit_error = {"current_session":{"sleepTimeSeconds":25200,"deepSleepSeconds":90,"remSleepSeconds":100,"lightSleepSeconds":230}}
Expected seconds; so little sleep with both deep and REM sleep in it looks like minutes
  past_sessions.0.sleepTimeSeconds unit_error = {NOW,"past_sessions":[{"sleepTimeSeconds":420,"deepSleepSeconds":90,"remSleepSeconds":100}],PAST}
Expected seconds; so few seconds of sleep with stages in them look like hours
  current_session.sleepTimeSeconds unit_error = {"current_session":{"sleepTimeSeconds":7,"deepSleepSeconds":1}}
  current_session.sleepTimeSeconds unit_error = {"current_session":{"sleepTimeSeconds":24,@}} @ "deepSleepSeconds":0 | "deepSleepSeconds":0,"remSleepSeconds":0,"lightSleepSeconds":0
Expected seconds; this stage looks like minutes beside sleepTimeSeconds and the other stages
  current_session.remSleepSeconds unit_error = {"current_session":{"sleepTimeSeconds":26100,"deepSleepSeconds":5400,"remSleepSeconds":100,"lightSleepSeconds":14700}}
The shares are on two scales; give all of them as fractions, or all of them as percent points
  current_session.remPercentage unit_error = {"current_session":{"deepPercentage":20,"remPercentage":0.25,"lightPercentage":55}}
The shares add up to more than the whole sleep; one seems to count another stage too, or to be on another scale
  current_session.deepPercentage unit_error = {"current_session":{"deepPercentage":60,"remPercentage":50}}
`;

interface Told {
  readonly msg: string;
  readonly places: string;
  readonly body: string;
}

function written(text: string): string {
  const whole = text.replace(/\b(\d+)\*([\d.]+)/g, (_, count, value) => copies(Number(count), value).join());
  return whole.replace(/\b[A-Z]{3,}\b(?!_)/g, (word) =>
    WORDS[word] === undefined ? word : written(WORDS[word]),
  );
}

function told(): Told[] {
  let msg = '';
  return TEXTS.split('\n')
    .slice(1, -1)
    .flatMap((line): Told[] => {
      if (!line.startsWith(' ')) {
        msg = line;
        return [];
      }
      const [, places = '', body = '', others] = /^ +(.+?) = (.+?)(?: @ (.+))?$/.exec(line) ?? [];
      const texts = others?.split(' | ').map((other) => body.replace('@', other)) ?? [body];
      return texts.map((text) => ({ msg, places, body: written(text) }));
    });
}

t.test('each refusal has its place, its type and its words', async (t) => {
  for (const { msg, places, body } of told()) {
    const found = findings(body);
    const at = found.map(({ loc, type }) => [...loc.slice(1), type].join('.').replace(/\.(\w+)$/, ' $1'));
    t.equal(at.join(', '), places, body.slice(0, 200));
    t.strictSame([...new Set(found.map((one) => one.msg))], [msg], body.slice(0, 200));
  }
});

const beside = (fields: object): object => ({ current_session: {}, ...fields });
const measured = (...measurements: object[]): object =>
  beside({ history: '', night: '2026-01-11', measurements });

t.test('a history and the lists of the past are refused beside each other, at each of them', async (t) => {
  const { text: history } = step(parser, '', NaN, randomRecord(seededRandom(1)));
  for (const targets of ['past_targets', 'past_target']) {
    const found = findings(beside({ history, past_sessions: [{}], [targets]: [target] }));
    const msg = 'Give history or the lists of the past, not both; a history that is "" takes the lists over';
    const expected = ['history', 'past_sessions', targets].map((field) => ({ loc: ['body', field], msg }));
    t.strictSame(
      found,
      expected.map((one) => ({ ...one, type: 'value_error' })),
    );
  }
  for (const damaged of [history.slice(1), `${history} `, `${history}=`])
    t.strictSame(places(beside({ history: damaged })), ['body.history history_invalid']);
});

t.test('without constants of the model no measurement is taken, nor a history that has some', async (t) => {
  const measurement = { score: 'memory' as const, value: 60, day: 20_000, reliability: undefined };
  const { text: history } = step(parser, '', 20_000, randomRecord(seededRandom(1)), [measurement]);
  const none = 'The model in force takes no measurements';
  for (const [body, msg] of [
    [measured({ score: 'attention', value: 50 }), none],
    [beside({ history }), `${none}: the history has some`],
  ] as const)
    t.match(readExactly(Buffer.from(JSON.stringify(body)), LIMITS, parser), { findings: [{ msg }] });
});

const MINUTES = '"sleepTimeSeconds":420,"deepSleepSeconds":90,"remSleepSeconds":100';
const AGED = '{"age":200}';
/** Bodies, and what is found in them, in its order. */
const ORDERS: readonly (readonly [body: string, places: string])[] = [
  [
    `{"current_session":${AGED},"explain":1,"history":7,"night":"x","measurements":{},"past_sessions":{}}`,
    'current_session.age less_than_equal, explain bool_type, history string_type, measurements list_type, past_sessions list_type',
  ],
  [
    '{MEASURED:[{"score":"mood","on":"today","reliability":7}]}',
    'measurements.0.score literal_error, measurements.0.value missing, measurements.0.on date_type, measurements.0.reliability less_than_equal',
  ],
  [
    '{"current_session":{"sex":1,"age":-1,"RR_night":7,"HR_day_1h":["a",1,"b"],"deepPercentage":"x"}}',
    'current_session.HR_day_1h.0 number_type, current_session.HR_day_1h.2 number_type, current_session.RR_night list_type, current_session.deepPercentage number_type, current_session.age greater_than_equal, current_session.sex literal_error',
  ],
  [
    `{"past_targets":[TARGET,{SCORES,"stress":null,"valence":"High","arousal":"Low"}],"current_session":${AGED},"past_sessions":[{},${AGED}]}`,
    'current_session.age less_than_equal, past_sessions.1.age less_than_equal, past_targets.1.stress number_type',
  ],
  ['{"past_sessions":[{}]}', 'current_session missing, past_sessions value_error, past_targets value_error'],
  [`{NOW,"past_sessions":[{}],"past_targets":[6*7]}`, 'past_sessions value_error, past_targets too_long'],
  // Contradictions and units: wherever the session stands, and after all other errors.
  [
    `{"current_session":{${MINUTES}},"past_sessions":[{${MINUTES}}],PAST}`,
    'current_session.sleepTimeSeconds unit_error, past_sessions.0.sleepTimeSeconds unit_error',
  ],
  [
    `{"current_session":{${MINUTES}},"past_sessions":[{${MINUTES}}],"past_targets":7}`,
    'past_targets list_type',
  ],
  [
    `{"current_session":{"deepPercentage":0.9,"remPercentage":0.9,${MINUTES},"RR_night":[12*45],"HR_day_1h":[3*900]}}`,
    'current_session.HR_day_1h unit_error, current_session.RR_night unit_error, current_session.sleepTimeSeconds unit_error, current_session.deepPercentage unit_error',
  ],
];

t.test('findings come in the order of the contract, at most eight', async (t) => {
  for (const [body, found] of ORDERS)
    t.equal(places(written(body)).join(', '), found.replace(/^|(?<=, )/g, 'body.'), body);
  for (const body of [
    { current_session: { HR_night: copies(30, 'x') } },
    { current_session: Object.fromEntries(SCALAR_BOUNDS.map(({ field }) => [field, {}])) },
    '{NOW,"past_sessions":[5*7],"past_targets":[5*7]}',
    measured(...copies(12, { score: 'x', value: 1 })),
  ])
    t.equal(findings(typeof body === 'string' ? written(body) : body).length, 8);
});

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
