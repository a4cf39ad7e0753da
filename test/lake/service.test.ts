import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Recording } from '#adapters/recording.js';
import { seededRandom } from '#acuity/base/random.js';
import { PROBLEMS } from '#acuity/contract/problems.js';
import type { PredictionRequestBody } from '#acuity/contract/request.js';
import type { PredictionResponse } from '#acuity/contract/response.js';
import { dateOf } from '#acuity/base/days.js';
import { OWN_NAMES } from '#acuity/lake/output/scoreColumns.js';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import { session } from '#fixtures/bodies.js';
import { fileOf, folder, modelScorer, runLake, runStream, scoreOne, type Asked } from '#fixtures/lake.js';
import { LONG_PROVIDERS, longRecording } from '#fixtures/longRecordings.js';
import { MODEL } from '#fixtures/model.js';
import { textOf } from '#fixtures/repository.js';
import { startServer } from '#fixtures/server.js';
import { arrowOf, csvOf, linesOf, writeParquet, type TableRow } from '#fixtures/tables.js';

/** The scores of `acuity score` are those of the service, night by night with `history`, `night` and `measurements`. */

const FIRST_DAY = 20_000;
const FIELDS = [...SCORE_FIELDS, ...LABEL_FIELDS];
const HISTORY = { person: 'person', order: 'night' };
const PEOPLE = 4;

const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'fatal' } });
const scorer = await modelScorer(t);
const BY_PERSON: Asked = { scorer, history: HISTORY, late: 'place' };

async function predict(body: PredictionRequestBody): Promise<PredictionResponse> {
  const reply = await server.predict(JSON.stringify(body));
  if (reply.status !== 200) throw new Error(reply.body);
  return JSON.parse(Buffer.from(reply.body, 'latin1').toString()) as PredictionResponse;
}

/** Days of a person's nights: some late, some twice, with gaps of two months and of six. */
const DAYS = [0, 1, 1, 3, 2, 4, 65, 66, 60, 67, 68, 68, 71, 64, 72, 253, 254, 252, 255, 256, 257, 257, 319];

const random = seededRandom(7);
/** Nights with fields missing, those of a person some days after those of another; in the first half measurements. */
const ROWS = Array.from({ length: PEOPLE * DAYS.length }, (_, row) => {
  const person = row % PEOPLE;
  const some = Object.entries(session(row + 1)).filter(([field]) => field === 'age' || random() < 0.8);
  const measured = row < (PEOPLE * DAYS.length) / 2 && {
    ...(row % 3 === 0 && { measured_attention: 20.5 + person, measured_attention_reliability: 0.75 }),
    ...(row % 5 === 0 && { measured_valence: 'Low', measured_stress: 10 }),
  };
  const day = FIRST_DAY + 3 * person + (DAYS[Math.floor(row / PEOPLE)] ?? 0);
  const whose = { id: `n${row}`, person: `p${person}`, night: dateOf(day) };
  return { ...whose, ...Object.fromEntries(some), ...measured };
});

/** The night as a line of NDJSON, and in the body of a request. */
function lineOf({ id, person, night, ...rest }: TableRow): object {
  const entries = Object.entries(rest);
  const current_session = Object.fromEntries(entries.filter(([name]) => !name.startsWith('measured_')));
  const measurements = ['attention', 'stress', 'valence'].flatMap((score) => {
    const [value, reliability] = [rest[`measured_${score}`], rest[`measured_${score}_reliability`]];
    return value === undefined ? [] : [{ score, value, ...(reliability !== undefined && { reliability }) }];
  });
  return { id, person, night, current_session, measurements };
}

const histories = new Map<string, string>();
const EXPECTED: PredictionResponse[] = [];
for (const row of ROWS) {
  const body = { ...lineOf(row), history: histories.get(row.person) ?? '', explain: true };
  const answer = await predict(body as PredictionRequestBody);
  histories.set(row.person, answer.history ?? '');
  EXPECTED.push(answer);
}

/** Explanation and scores, with and without measurements, by columns or a field; what is missing counts as empty. */
function said(row: object): unknown {
  const values = row as TableRow;
  const unmeasured = values['unmeasured'] as TableRow | undefined;
  const without = FIELDS.map((field) => String(values[`unmeasured_${field}`] ?? unmeasured?.[field] ?? ''));
  const { explanation } = values;
  const explained: unknown = typeof explanation === 'string' ? JSON.parse(explanation) : explanation;
  return [explained, ...FIELDS.map((field) => String(values[field])), ...without];
}

const SAID = EXPECTED.map(said);

t.test('in two files with a state, for any number of workers: scores, explanations, histories', async (t) => {
  const bad = { person: 'p1', night: dateOf(FIRST_DAY), age: 131 };
  const rows = [...ROWS.slice(0, 5), bad, ...ROWS.slice(5)];
  const outputs: string[][] = [];
  const two = await modelScorer(t, MODEL, 2);
  for (const [at, format] of ['parquet', 'csv', 'ndjson', 'ndjson'].entries()) {
    const dir = folder(t);
    for (const [name, part] of Object.entries({ a: rows.slice(0, 49), b: rows.slice(49) })) {
      const path = join(dir, `${name}.${format}`);
      if (format === 'parquet') await writeParquet(path, part, 'double');
      else writeFileSync(path, format === 'csv' ? csvOf(part) : linesOf(part.map(lineOf)));
    }
    const [outDir, state] = [folder(t), join(dir, 'state')];
    const own = at % 2 === 0 ? scorer : two;
    const asked: Asked = { ...BY_PERSON, scorer: own, outDir, state, explain: true };
    const { told } = await runLake([join(dir, `a.${format}`)], asked);
    if (format !== 'ndjson') t.match(told[0], /all \d+ fields .* found; measured attention, stress, valence/);
    const { files } = await runLake([dir], asked);
    const results = ['_a.acuity', '_b.acuity', 'a.bad.ndjson', `a.scores.${format}`, `b.scores.${format}`];
    t.strictSame(readdirSync(outDir), results);
    const scored = files.flatMap((file) => file.rows);
    t.strictSame(scored.map(said), SAID, format);
    const kept = scored.flatMap((row) => Object.keys(row)).filter((name) => !OWN_NAMES.has(name));
    t.strictSame(new Set(kept), new Set(['id', 'person', 'night']), 'no kept name can be one of the output');
    const place = { person: 'p1', file: `a.${format}`, row: 6 };
    t.match(files[0]?.bad, [{ ...place, detail: [{ loc: ['body', 'current_session', 'age'] }] }]);
    const people = readFileSync(state, 'utf8').split('\n').slice(1, -2);
    t.strictSame(new Map(people.map((line) => JSON.parse(line) as [string, string])), histories);
    outputs.push(files.map(({ text }) => text));
    if (format !== 'csv') continue;
    const alone = await scoreOne(join(dir, 'b.csv'), { ...BY_PERSON, outDir: folder(t) });
    t.notMatch(alone.text, 'unmeasured', 'these columns are of the measurements in the state');
  }
  t.strictSame(outputs[2], outputs[3], 'the same bytes');
  const asked: Asked = { ...BY_PERSON, format: 'arrow', explain: true };
  const { rows: answers } = await runStream([arrowOf(ROWS, 'double')], asked);
  t.strictSame(answers.map(said), SAID);
});

t.test('lines of standard input, with recordings too, also where reading or our code fails', async (t) => {
  const file = textOf('assets/try/recordings.json');
  const recordings = Object.values(JSON.parse(file) as Readonly<Record<string, Recording>>);
  const session = { age: 70, sex: 'M', HR_night: [80, 82, 81] };
  const sessions: readonly object[] = [session, ...recordings.map((recording) => ({ recording, age: 34 }))];
  const sound = sessions.map((current_session) => JSON.stringify({ current_session }));
  const answers: object[] = [];
  for (const line of sound) {
    const { recording: _recording, ...own } = await predict(JSON.parse(line) as PredictionRequestBody);
    answers.push({ ...own, inference_time_ms: Number });
  }
  const { parse } = JSON;
  t.teardown(() => (JSON.parse = parse));
  JSON.parse = (text: string): unknown => {
    if (text.includes('"fails"')) throw new TypeError('a mistake of ours');
    return parse(text);
  };
  const recording = { provider: 'oura', sleep: { data: [{ bedtime_start: 1 }] } };
  const lines = [
    'nonsense',
    JSON.stringify({ current_session: { recording } }),
    ...LONG_PROVIDERS.map((provider) => longRecording(provider, 1_900_000)),
    sound.find((line) => line.includes('"long_sleep"'))?.replace('"long_sleep"', '"fails"') ?? '',
    ...sound,
  ];
  const { rows, told, tally } = await runStream(lines.join('\n'), { scorer });
  t.match(rows, [
    { row: 1, error: { line: 1, status: 400, detail: 'Malformed JSON at byte 1' } },
    { error: { status: 422 } },
    ...LONG_PROVIDERS.map(() => ({ error: { detail: [{ type: 'too_long', msg: /400000 values/ }] } })),
    { error: { status: 500, detail: PROBLEMS.internal.detail } },
    ...answers,
  ]);
  t.equal(told[1], 'standard input: row 1 has no scores (400): Malformed JSON at byte 1');
  t.match(told[2], /recording.*sleep.*bedtime_start/);
  t.equal(told[4], 'standard input: more rows have no scores, see "error" in their places');
  t.match(tally, { lines: lines.length, badLines: lines.length - sound.length, firstBadLine: 1 });
});

t.test('a wrong measurement is a bad row, told by its column; one too late is counted', async (t) => {
  const night = dateOf(FIRST_DAY);
  const reliability = 'measured_memory_reliability';
  const wrong = [
    [{ measured_memory: 'High' }, 'measured_memory', 'number_type'],
    [{ measured_memory: 101 }, 'measured_memory', 'less_than_equal'],
    [{ measured_arousal: 84 }, 'measured_arousal', 'literal_error'],
    [{ measured_memory: '0x32' }, 'measured_memory', 'number_type'],
    [{ measured_memory: 50, [reliability]: 2 }, reliability, 'less_than_equal'],
  ] as const;
  const cells = [...wrong.map(([cell]) => cell), { measured_memory: ' 50 ', measured_arousal: 'High' }];
  const csv = csvOf(cells.map((cell) => ({ person: 'a', night, age: 30, ...cell })));
  const scored = await scoreOne(fileOf(t, 'cells.csv', csv), BY_PERSON);
  t.match(scored.told[1], /row 1.*measured_memory/);
  t.equal(scored.bad.length, wrong.length);
  for (const [at, [, name, type]] of wrong.entries())
    t.match(scored.bad[at], { row: at + 1, detail: [{ loc: ['body', name], type }] });

  const { pss10 } = JSON.parse(textOf('packages/norms/published.json')) as { readonly pss10: object };
  const norms = fileOf(t, 'norms.json', JSON.stringify({ 'own-scale': { ...pss10, score: 'memory' } }));
  const tested = [{ test: 'own-scale', result: 17 }];
  const stress = Array.from({ length: 10 }, (_, day) => {
    return { score: 'stress', value: 50, on: dateOf(FIRST_DAY - day) };
  });
  const rows = [
    { person: 'a', night, current_session: { age: 30 }, measurements: stress },
    { person: 'a', night, current_session: { age: 30 }, measurements: stress.slice(8) },
    { person: 'b', night, current_session: { age: 30 }, measurements: tested },
    { person: 'c', night, current_session: { age: null }, measurements: tested },
  ];
  const asked = { ...BY_PERSON, config: { norms } };
  const { tally, files } = await runLake([fileOf(t, 'lines.ndjson', linesOf(rows))], asked);
  t.equal(tally.ignored, 2);
  t.match(files[0]?.rows.slice(1), [
    { measurements_ignored: [{ score: 'stress' }, { score: 'stress' }] },
    { measured: [{ test: 'own-scale', score: 'memory', value: 47.49, on: night }] },
  ]);
  t.match(files[0]?.bad, [{ detail: [{ loc: ['body', 'current_session', 'age'] }] }]);
});

t.test('a model that takes no measurements refuses a state that has some', async (t) => {
  const state = join(folder(t), 'state');
  await scoreOne(fileOf(t, 'a.csv', csvOf(ROWS.slice(0, 1))), { ...BY_PERSON, state });
  const { error } = await runLake([fileOf(t, 'a.csv', csvOf(ROWS.slice(-1)))], { history: HISTORY, state });
  t.match(error, { message: /the state has measurements/ });
});
