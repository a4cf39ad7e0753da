import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readRecording, type Recording } from '#adapters/recording.js';
import { seededRandom } from '#acuity/base/random.js';
import { PROBLEMS } from '#acuity/contract/problems.js';
import type { PredictionRequestBody } from '#acuity/contract/request.js';
import type { PredictionResponse } from '#acuity/contract/response.js';
import { dateOf } from '#acuity/base/days.js';
import { FIELDS_OF_A_SESSION, LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import { session } from '#fixtures/bodies.js';
import {
  fileOf,
  folder,
  modelScorer,
  rowsOf,
  runLake,
  runStream,
  scoreOne,
  type Asked,
} from '#fixtures/lake.js';
import { LONG_PROVIDERS, longRecording } from '#fixtures/longRecordings.js';
import { MODEL, changeManifest, copyModel } from '#fixtures/model.js';
import { REPOSITORY } from '#fixtures/repository.js';
import { startServer } from '#fixtures/server.js';
import { arrowOf, csvOf, linesOf, rowsOfArrow, writeParquet, type TableRow } from '#fixtures/tables.js';

/** The scores of `acuity score` are those of the service, night by night with `history`, `night` and `measurements`. */

const FIRST_DAY = 20_000;
const FIELDS = [...SCORE_FIELDS, ...LABEL_FIELDS];
const HISTORY = { person: 'person', order: 'night' };
const PEOPLE = 4;
const NIGHTS = 28;

const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'fatal' } });
const scorer = await modelScorer(t);
const BY_PERSON: Asked = { scorer, history: HISTORY, late: 'place' };

async function predict(body: PredictionRequestBody): Promise<PredictionResponse> {
  const reply = await fetch(`http://127.0.0.1:${server.port}/predict`, {
    method: 'POST',
    headers: { 'X-API-Key': server.key, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (reply.status !== 200) throw new Error(await reply.text());
  return (await reply.json()) as PredictionResponse;
}

interface Night extends TableRow {
  readonly person: string;
  readonly night: string;
}

/** Nights with fields missing, some late, some twice, with gaps of months; in the first half of them measurements. */
function nights(): Night[] {
  const random = seededRandom(7);
  const latest = Array.from({ length: PEOPLE }, () => FIRST_DAY);
  const step = (what: number): number => {
    if (what < 0.15) return 0;
    if (what < 0.3) return -Math.ceil(8 * random());
    if (what > 0.95) return 181;
    return what > 0.85 ? 61 : Math.ceil(3 * random());
  };
  return Array.from({ length: PEOPLE * NIGHTS }, (_, row) => {
    const person = row % PEOPLE;
    const day = (latest[person] ?? 0) + step(random());
    latest[person] = Math.max(day, latest[person] ?? 0);
    const some = Object.entries(session(row + 1)).filter(([field]) => field === 'age' || random() < 0.8);
    const measured = row < (PEOPLE * NIGHTS) / 2 && {
      ...(row % 3 === 0 && { measured_attention: 20.5 + person, measured_attention_reliability: 0.75 }),
      ...(row % 5 === 0 && { measured_valence: 'Low', measured_stress: 10 }),
    };
    const whose = { id: `n${row}`, person: `p${person}`, night: dateOf(day) };
    return { ...whose, ...Object.fromEntries(some), ...measured };
  });
}

/** The night as a body has it. */
function bodyOf(row: Night) {
  const { id: _id, person: _person, night: _night, ...rest } = row;
  const entries = Object.entries(rest);
  const current_session = Object.fromEntries(entries.filter(([name]) => !name.startsWith('measured_')));
  const measurements = (['attention', 'stress', 'valence'] as const).flatMap((score) => {
    const [value, reliability] = [row[`measured_${score}`], row[`measured_${score}_reliability`]];
    return value === undefined ? [] : [{ score, value, ...(reliability !== undefined && { reliability }) }];
  });
  return { current_session, measurements };
}

const ROWS = nights();
const histories = new Map<string, string>();
const EXPECTED: PredictionResponse[] = [];
for (const row of ROWS) {
  const history = histories.get(row.person) ?? '';
  const body = { ...bodyOf(row), history, night: row.night, explain: true };
  const answer = await predict(body as PredictionRequestBody);
  histories.set(row.person, answer.history ?? '');
  EXPECTED.push(answer);
}

/** The scores with and without measurements; as columns or as a field, undefined and null are as good as empty. */
function said(row: object): string {
  const values = row as TableRow;
  const unmeasured = values['unmeasured'] as TableRow | undefined;
  const without = FIELDS.map((field) => String(values[`unmeasured_${field}`] ?? unmeasured?.[field] ?? ''));
  return [...FIELDS.map((field) => String(values[field])), ...without].join();
}

const SAID = EXPECTED.map(said);
const EXPLAINED = EXPECTED.map(({ explanation }) => explanation);
const explained = (rows: readonly TableRow[]): unknown =>
  rows.map(({ explanation }) =>
    typeof explanation === 'string' ? (JSON.parse(explanation) as unknown) : explanation,
  );

const BAD = { person: 'p1', night: dateOf(FIRST_DAY), age: 131 };

t.test('in two files with a state, for any number of workers: scores, explanations, histories', async (t) => {
  const lines = [...ROWS.slice(0, 5), BAD, ...ROWS.slice(5)].map((row) => {
    const { id, person, night } = row as Night & { readonly id: unknown };
    return { id, person, night, ...bodyOf(row as Night) };
  });
  const [a, b] = [linesOf(lines.slice(0, 50)), linesOf(lines.slice(50))];
  const dir = t.testdir({ in: { 'a.ndjson': a, 'b.ndjson': b } });
  const outputs: string[][] = [];
  for (const [workers, own] of [scorer, await modelScorer(t, MODEL, 2)].entries()) {
    const [outDir, state] = [join(dir, String(workers)), join(dir, `state-${workers}`)];
    const asked: Asked = { ...BY_PERSON, scorer: own, outDir, state, explain: true };
    const { files } = await runLake([join(dir, 'in')], asked);
    t.strictSame(readdirSync(outDir).toSorted(), [
      '_a.acuity',
      '_b.acuity',
      'a.bad.ndjson',
      'a.scores.ndjson',
      'b.scores.ndjson',
    ]);
    const rows = files.flatMap((file) => file.rows);
    t.strictSame(rows.map(said), SAID);
    t.strictSame(explained(rows), EXPLAINED);
    t.match(files[0]?.bad, [
      { person: 'p1', file: 'a.ndjson', row: 6, detail: [{ loc: ['body', 'current_session', 'age'] }] },
    ]);
    const people = readFileSync(state, 'utf8').split('\n').slice(1, -2);
    t.strictSame(new Map(people.map((line) => JSON.parse(line) as [string, string])), histories);
    outputs.push([...files.map(({ text }) => text), readFileSync(state, 'utf8')]);
  }
  t.strictSame(outputs[0], outputs[1], 'the same bytes');
});

t.test('in tables of every format; with a state the columns of measurements stay', async (t) => {
  const dir = folder(t);
  const path = join(dir, 'pages.parquet');
  await writeParquet(path, ROWS, 'double');
  const parquet = await scoreOne(path, BY_PERSON);
  t.strictSame(parquet.rows.map(said), SAID);
  t.match(parquet.told[0], 'measured attention, stress, valence');
  const both = await scoreOne(path, { ...BY_PERSON, explain: true, outDir: folder(t) });
  t.strictSame(explained(both.rows), EXPLAINED);
  const asked = { ...BY_PERSON, format: 'arrow', explain: true } as const;
  const { output } = await runStream([arrowOf(ROWS, 'double')], asked);
  const arrow = rowsOfArrow(output);
  t.strictSame([arrow.map(said), explained(arrow)], [SAID, EXPLAINED]);
  const half = ROWS.length / 2;
  writeFileSync(join(dir, '1.csv'), csvOf(ROWS.slice(0, half)));
  writeFileSync(join(dir, '2.csv'), csvOf(ROWS.slice(half)));
  const state = join(dir, 'state');
  const scored: TableRow[] = [];
  for (const name of ['1.csv', '2.csv'])
    scored.push(...(await scoreOne(join(dir, name), { ...BY_PERSON, state })).rows);
  t.strictSame(scored.map(said), SAID);
  t.notMatch((await scoreOne(join(dir, '2.csv'), { ...BY_PERSON, outDir: folder(t) })).text, 'unmeasured');
});

t.test('lines of standard input, also with a recording, which has the scores of its session', async (t) => {
  const document = JSON.parse(
    readFileSync(join(REPOSITORY, 'docs/examples/request.json'), 'utf8'),
  ) as PredictionRequestBody;
  const other: PredictionRequestBody = { current_session: { age: 70, sex: 'M', HR_night: [80, 82, 81] } };
  const file = readFileSync(join(REPOSITORY, 'assets/try/recordings.json'), 'utf8');
  const recordings = Object.values(JSON.parse(file) as Readonly<Record<string, Recording>>);
  const lines = [
    document,
    other,
    ...recordings.map((recording) => ({ current_session: { recording, age: 34 } })),
    ...recordings.map((recording) => ({ current_session: readRecording(recording, { age: 34 }).session })),
    { current_session: { recording: { provider: 'oura', sleep: { data: [{ bedtime_start: 1 }] } } } },
  ];
  const text = `${JSON.stringify(document)}\nnonsense\n${linesOf(lines.slice(1))}`;
  const { output, told, tally } = await runStream([Buffer.from(text)], { scorer });
  const answers = rowsOf(output.toString());
  const [first, bad, second, ...rest] = answers;
  const asked = [await predict(document), await predict(other)];
  t.match(
    [first, second],
    asked.map((answer) => ({ ...answer, inference_time_ms: Number })),
  );
  t.strictSame(bad, { row: 2, error: { line: 2, status: 400, detail: 'Malformed JSON at byte 1' } });
  t.strictSame(told.slice(0, 2), [
    `standard input: all ${FIELDS_OF_A_SESSION.length} fields of a session found`,
    'standard input: row 2 has no scores (400): Malformed JSON at byte 1',
  ]);
  t.match(told[2], /recording.*sleep.*bedtime_start/);
  t.match(tally, { lines: lines.length + 1, badLines: 2, firstBadLine: 2 });
  const { length } = recordings;
  t.strictSame(rest.slice(0, length).map(said), rest.slice(length, -1).map(said));
});

t.test('a recording that is too long, or at which our code fails, is a bad row', async (t) => {
  const file = readFileSync(join(REPOSITORY, 'assets/try/recordings.json'), 'utf8');
  const { oura: recording } = JSON.parse(file) as Readonly<Record<string, Recording>>;
  const sound = JSON.stringify({ current_session: { recording } });
  const { parse } = JSON;
  t.teardown(() => (JSON.parse = parse));
  JSON.parse = (text: string): unknown => {
    if (text.includes('"fails"')) throw new TypeError('a mistake of ours');
    return parse(text);
  };
  const failing = sound.replace('"long_sleep"', '"fails"');
  const lines = [...LONG_PROVIDERS.map((provider) => longRecording(provider, 1_900_000)), failing, sound];
  const { output, tally } = await runStream([Buffer.from(lines.join('\n'))], { scorer });
  const rows = rowsOf(output.toString()) as { readonly error?: { readonly detail: unknown } }[];
  for (const row of rows.slice(0, LONG_PROVIDERS.length))
    t.match(row.error?.detail, [{ type: 'too_long', msg: /400000 values/ }]);
  t.match(rows.slice(LONG_PROVIDERS.length), [
    { error: { status: 500, detail: PROBLEMS.internal.detail } },
    { error: undefined },
  ]);
  t.match(tally, { lines: lines.length, badLines: LONG_PROVIDERS.length + 1 });
});

t.test('a wrong measurement is a bad row, told by its column; one too late is counted', async (t) => {
  const night = dateOf(FIRST_DAY);
  const cells = [
    { measured_memory: 'High' },
    { measured_memory: 101 },
    { measured_arousal: 84 },
    { measured_memory: 50, measured_memory_reliability: 2 },
    { measured_memory: ' 50 ', measured_arousal: 'High' },
  ];
  const csv = csvOf(cells.map((cell) => ({ person: 'a', night, age: 30, ...cell })));
  const { bad, told } = await scoreOne(fileOf(t, 'cells.csv', csv), BY_PERSON);
  t.match(told[1], /row 1.*measured_memory/);
  t.match(bad, [
    { row: 1, detail: [{ loc: ['body', 'measured_memory'], type: 'number_type' }] },
    { row: 2, detail: [{ loc: ['body', 'measured_memory'], type: 'less_than_equal' }] },
    { row: 3, detail: [{ loc: ['body', 'measured_arousal'], type: 'literal_error' }] },
    { row: 4, detail: [{ loc: ['body', 'measured_memory_reliability'], type: 'less_than_equal' }] },
  ]);
  t.equal(bad.length, 4);

  const published = readFileSync(join(REPOSITORY, 'packages/norms/published.json'), 'utf8');
  const { pss10 } = JSON.parse(published) as { readonly pss10: object };
  const norms = fileOf(t, 'norms.json', JSON.stringify({ 'own-scale': { ...pss10, score: 'memory' } }));
  const stress = Array.from({ length: 10 }, (_, day) => {
    return { score: 'stress', value: 50, on: dateOf(FIRST_DAY - day) };
  });
  const cases: readonly (readonly [measurements: readonly object[], person?: string, age?: number | null])[] =
    [
      [stress],
      [stress.slice(8)],
      [[{ test: 'own-scale', result: 17 }], 'b'],
      [[{ test: 'own-scale', result: 17 }], 'c', null],
    ];
  const rows = cases.map(([measurements, person = 'a', age = 30]) => {
    return { person, night, current_session: { age }, measurements };
  });
  const asked = { ...BY_PERSON, config: { norms } };
  const { tally, files } = await runLake([fileOf(t, 'lines.ndjson', linesOf(rows))], asked);
  t.equal(tally.ignored, 2);
  t.match(files[0]?.rows.slice(1), [
    { measurements_ignored: [{ score: 'stress' }, { score: 'stress' }] },
    { measured: [{ test: 'own-scale', score: 'memory', value: 47.49, on: night }] },
  ]);
  t.match(files[0]?.bad, [{ detail: [{ loc: ['body', 'current_session', 'age'] }] }]);
});

t.test('a model that takes none refuses rows with measurements, and a state that has some', async (t) => {
  const dir = folder(t);
  const model = copyModel(join(dir, 'model'));
  changeManifest(model, (manifest) => ({ ...manifest, measured: undefined }));
  const without = await modelScorer(t, model);
  const [first, second] = [ROWS.slice(0, 1), ROWS.slice(-1)].map((rows) => fileOf(t, 'a.csv', csvOf(rows)));
  if (first === undefined || second === undefined) throw new Error('no files');
  const refused = await scoreOne(first, { history: HISTORY, scorer: without, outDir: join(dir, 'refused') });
  t.match(refused.bad, [{ detail: /takes no measurements/ }]);
  const state = join(dir, 'state');
  await scoreOne(first, { ...BY_PERSON, state });
  const { error } = await runLake([second], { history: HISTORY, scorer: without, state });
  t.match(error, { message: /the state has measurements/ });
});
