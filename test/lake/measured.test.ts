import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableToIPC } from 'apache-arrow';
import t from 'tap';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import type { Measurement, Session } from '#acuity/contract/request.js';
import type { PredictionResponse } from '#acuity/contract/response.js';
import { dateOf } from '#acuity/history/night.js';
import { folder, modelScorer, runLake, runStream, scoreOne, type Asked } from '#fixtures/lake.js';
import { changeManifest, copyModel } from '#fixtures/model.js';
import { REPOSITORY } from '#fixtures/repository.js';
import { startServer } from '#fixtures/server.js';
import { rowsOfTable, tableOf, writeParquetFile, type TableRow } from '#fixtures/tables.js';

/** `acuity score` of nights with measurements, against the service. */

const FIRST_DAY = 20_000;
const FIELDS = [...SCORE_FIELDS, ...LABEL_FIELDS];
const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'fatal' } });
const scorer = await modelScorer();
t.teardown(() => scorer.close());

const PUBLISHED = JSON.parse(readFileSync(join(REPOSITORY, 'packages/norms/published.json'), 'utf8')) as {
  pss10: object;
};
const HISTORY = { person: 'person', order: 'night' };
const BY_PERSON: Asked = { scorer, history: HISTORY };

/** A row of a table: numbers that every format has as they are. */
function rowOf(person: number, day: number): TableRow & { readonly person: string; readonly night: string } {
  return {
    person: `p${person}`,
    night: dateOf(FIRST_DAY + day),
    HR_night: [52 + person + (day % 5), 60],
    sleepTimeSeconds: 20_000 + 500 * day,
    age: 30 + person,
    ...(day === 2 && { measured_attention: 90, measured_attention_reliability: 0.75 }),
    ...(day === 4 && { measured_attention: 20.5 + person, measured_valence: 'Low', measured_stress: 10 }),
    ...(day === 5 && { measured_attention_reliability: 0.75 }),
  };
}

const ROWS = Array.from({ length: 24 }, (_, row) => rowOf(row % 3, Math.floor(row / 3)));

function measurementsOf(row: TableRow): Measurement[] {
  return (['attention', 'stress', 'valence'] as const).flatMap((score) => {
    const value = row[`measured_${score}`];
    const reliability = row[`measured_${score}_reliability`];
    return value === undefined
      ? []
      : [{ score, value, ...(reliability === undefined ? {} : { reliability }) } as Measurement];
  });
}

function sessionOf({ person: _person, night: _night, ...row }: TableRow): Session {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('measured_'))) as Session;
}

/** What the service answers, night by night. */
async function answersOf(rows: readonly TableRow[]): Promise<PredictionResponse[]> {
  const histories = new Map<unknown, string>();
  const answers: PredictionResponse[] = [];
  for (const row of rows) {
    const body = {
      current_session: sessionOf(row),
      history: histories.get(row['person']) ?? '',
      night: row['night'],
      measurements: measurementsOf(row),
    };
    const reply = await fetch(`http://127.0.0.1:${server.port}/predict`, {
      method: 'POST',
      headers: { 'X-API-Key': server.key, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (reply.status !== 200) throw new Error(await reply.text());
    const answer = (await reply.json()) as PredictionResponse;
    histories.set(row['person'], answer.history ?? '');
    answers.push(answer);
  }
  return answers;
}

const EXPECTED = await answersOf(ROWS);

/** The scores, and those without measurements as columns; undefined and null are as good as empty. */
function told(row: Readonly<Record<string, unknown>>): string {
  const plain = FIELDS.map((field) => String(row[field]));
  const unmeasured = FIELDS.map((field) => String(row[`unmeasured_${field}`] ?? ''));
  return [...plain, ...unmeasured].join();
}

const TOLD = EXPECTED.map((answer) => {
  const unmeasured = Object.entries(answer.unmeasured ?? {}).map(([field, value]) => [
    `unmeasured_${field}`,
    value,
  ]);
  return told({ ...answer, ...Object.fromEntries(unmeasured) });
});

function csvOf(rows: readonly TableRow[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cell = (value: unknown): string => (Array.isArray(value) ? value.join(' ') : String(value ?? ''));
  return [names, ...rows.map((row) => names.map((name) => cell(row[name])))]
    .map((cells) => `${cells.join()}\n`)
    .join('');
}

t.test(
  'columns of every format, and rows of NDJSON: the scores are the service’s, with and without',
  async (t) => {
    const dir = folder(t);
    const lines = ROWS.map((row) =>
      JSON.stringify({
        person: row.person,
        night: row.night,
        current_session: sessionOf(row),
        measurements: measurementsOf(row),
      }),
    );
    writeFileSync(join(dir, 'lines.ndjson'), lines.map((line) => `${line}\n`).join(''));
    writeFileSync(join(dir, 'cells.csv'), csvOf(ROWS));
    await writeParquetFile(join(dir, 'pages.parquet'), tableOf(ROWS, 'float'));
    for (const name of ['cells.csv', 'pages.parquet']) {
      const { files, told: said } = await runLake([join(dir, name)], BY_PERSON);
      t.strictSame(files[0]?.rows.map(told), TOLD, name);
      t.match(said[0], 'measured attention, stress, valence');
    }
    const stream = [tableToIPC(tableOf(ROWS, 'double'), 'stream')];
    const { output } = await runStream(stream, { ...BY_PERSON, format: 'arrow' });
    t.strictSame((await rowsOfTable(output, 'arrow')).map(told), TOLD);
    const { rows } = await scoreOne(join(dir, 'lines.ndjson'), BY_PERSON);
    const plain = (answers: readonly object[]): unknown =>
      (answers as TableRow[]).map((line) => ['unmeasured', ...FIELDS].map((field) => line[field]));
    t.strictSame(plain(rows), plain(EXPECTED));
  },
);

t.test('explained rows say what measurements moved', async (t) => {
  const dir = folder(t);
  writeFileSync(join(dir, 'cells.csv'), csvOf(ROWS));
  const { rows } = await scoreOne(join(dir, 'cells.csv'), { ...BY_PERSON, explain: true, to: 'ndjson' });
  t.equal(rows.length, ROWS.length);
  for (const [index, line] of rows.entries()) {
    const { attention, unmeasured, explanation } = line as unknown as PredictionResponse;
    const measured = explanation?.scores.attention.measured;
    t.equal(measured === undefined, unmeasured === undefined, `row ${index}`);
    if (unmeasured && measured !== undefined)
      t.equal(
        Math.round(100 * measured),
        Math.round(100 * attention) - Math.round(100 * unmeasured.attention),
      );
  }
});

t.test('with a state the columns stay; without measurements there are none', async (t) => {
  const dir = folder(t);
  const [before, after] = [ROWS.slice(0, 15), ROWS.slice(15)];
  const bare = after.map((row) => ({ ...row, measured_attention_reliability: undefined }));
  writeFileSync(join(dir, '1.csv'), csvOf(before));
  writeFileSync(join(dir, '2.csv'), csvOf(bare));
  const state = join(dir, 'state');
  const scored: TableRow[] = [];
  for (const name of ['1.csv', '2.csv'])
    scored.push(...(await scoreOne(join(dir, name), { ...BY_PERSON, state })).rows);
  t.strictSame(scored.map(told), TOLD);
  const plain = ROWS.map((row) => ({ person: row.person, night: row.night, age: 30 }));
  writeFileSync(join(dir, 'plain.csv'), csvOf(plain));
  t.notMatch((await scoreOne(join(dir, 'plain.csv'), BY_PERSON)).scores.toString(), 'unmeasured');
});

t.test('a wrong cell is a bad row, told by its column; a measurement too late is counted', async (t) => {
  const dir = folder(t);
  const cells = [
    { measured_memory: 'High' },
    { measured_memory: 101 },
    { measured_arousal: 84 },
    { measured_memory: 50, measured_memory_reliability: 2 },
    { measured_memory: ' 50 ', measured_arousal: 'High' },
  ];
  const rows = cells.map((more, row) => ({ person: 'a', night: dateOf(FIRST_DAY + row), age: 30, ...more }));
  writeFileSync(join(dir, 'cells.csv'), csvOf(rows));
  const { files, told: said } = await runLake([join(dir, 'cells.csv')], BY_PERSON);
  t.match(said[1], /row 1.*measured_memory/);
  const found = files[0]?.bad.map((line) => {
    const { row, detail } = line as unknown as { row: number; detail: { loc: string[]; type: string }[] };
    return [row, ...detail.map(({ loc, type }) => `${loc.join('.')} ${type}`)];
  });
  t.strictSame(found, [
    [1, 'body.measured_memory number_type'],
    [2, 'body.measured_memory less_than_equal'],
    [3, 'body.measured_arousal literal_error'],
    [4, 'body.measured_memory_reliability less_than_equal'],
  ]);
  const measurements = Array.from({ length: 10 }, (_, day) => ({
    score: 'stress',
    value: 50,
    on: dateOf(FIRST_DAY - day),
  }));
  const lines = [
    { person: 'a', night: dateOf(FIRST_DAY), current_session: { age: 30 }, measurements },
    {
      person: 'a',
      night: dateOf(FIRST_DAY),
      current_session: { age: 30 },
      measurements: measurements.slice(8),
    },
    {
      person: 'a',
      night: dateOf(FIRST_DAY),
      current_session: { age: 30 },
      measurements: [{ score: 'stress', value: 5, on: dateOf(FIRST_DAY + 1) }],
    },
    {
      person: 'a',
      night: dateOf(FIRST_DAY),
      current_session: { age: 30 },
      measurements: [{ score: 'stress', value: '5' }],
    },
  ];
  const scale = { ...PUBLISHED.pss10, score: 'memory' };
  writeFileSync(join(dir, 'norms.json'), JSON.stringify({ 'own-scale': scale }));
  const raw = [
    { test: 'pss10', result: 17 },
    { test: 'own-scale', result: 17, on: dateOf(FIRST_DAY - 3) },
  ];
  const tested = { person: 'b', night: dateOf(FIRST_DAY), current_session: { age: 30 }, measurements: raw };
  const ageless = { ...tested, person: 'c', current_session: {} };
  const text = [...lines, tested, ageless].map((line) => `${JSON.stringify(line)}\n`).join('');
  writeFileSync(join(dir, 'lines.ndjson'), text);
  const config = { norms: join(dir, 'norms.json') };
  const late = await runLake([join(dir, 'lines.ndjson')], { ...BY_PERSON, config });
  t.equal(late.tally.ignored, 2);
  t.match(late.files[0]?.rows.slice(1), [
    { measurements_ignored: [{ score: 'stress' }, { score: 'stress' }] },
    {
      measured: [
        { test: 'pss10', score: 'stress', value: 47.5, on: dateOf(FIRST_DAY) },
        { test: 'own-scale', score: 'memory', value: 47.5, on: dateOf(FIRST_DAY - 3) },
      ],
    },
  ]);
  t.match(late.files[0]?.bad, [
    { detail: [{ loc: ['body', 'measurements', 0, 'on'] }] },
    { detail: [{ loc: ['body', 'measurements', 0, 'value'] }] },
    { detail: [{ loc: ['body', 'current_session', 'age'] }] },
  ]);
});

t.test('measurements that would be ignored end the run before any score, or are told', async (t) => {
  const dir = folder(t);
  const path = join(dir, 'cells.csv');
  writeFileSync(path, csvOf(ROWS));
  const alone = await runLake([path], { scorer });
  t.match(alone.error, {
    name: 'NamesError',
    message: /measured_attention: measurements are kept in the history of a person/,
  });
  writeFileSync(path, csvOf(ROWS).replace('measured_valence', 'Measured_Valence'));
  t.strictSame((await scoreOne(path, BY_PERSON)).rows.map(told), TOLD);
  for (const [name = '', meant] of [
    ['measured_valense', 'did you mean measured_valence?'],
    ['measured_C_SCORE', 'such columns are measured_attention'],
  ]) {
    const slip = join(dir, `${name}.csv`);
    writeFileSync(slip, csvOf(ROWS).replace('measured_valence', name));
    const { told: said } = await runLake([slip], BY_PERSON);
    t.match(said[1], `the column ${name} is not known, and ignored: ${meant}`);
  }
});

t.test('a model that takes none refuses rows with measurements, and a state that has some', async (t) => {
  const dir = folder(t);
  const model = copyModel(join(dir, 'model'));
  changeManifest(model, (manifest) => ({ ...manifest, measured: undefined }));
  const without = await modelScorer(model);
  t.teardown(() => without.close());
  const [first, second] = [join(dir, '1.csv'), join(dir, '2.csv')];
  writeFileSync(first, csvOf(ROWS));
  writeFileSync(second, csvOf(ROWS.map(({ person, night }) => ({ person, night, age: 30 }))));
  const refused = await scoreOne(first, { history: HISTORY, scorer: without, outDir: join(dir, 'refused') });
  t.match(refused.bad[0], { detail: /takes no measurements/ });
  const state = join(dir, 'state');
  await scoreOne(first, { ...BY_PERSON, state });
  const { error } = await runLake([second], { history: HISTORY, scorer: without, state });
  t.match(error, { message: /the state has measurements/ });
});
