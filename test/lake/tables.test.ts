import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import zlib, { gzipSync } from 'node:zlib';
import * as arrow from 'apache-arrow';
import t from 'tap';
import { CsvTable, problemOf, textIn } from '#acuity/lake/input/csvRows.js';
import { TableError } from '#acuity/lake/errors.js';
import { requestsOf } from '#acuity/tune/load/payloads.js';
import { HandScorer } from '#fixtures/handScorer.js';
import { PAST, fileOf, folder, runLake, runStream, scoreOne, type Asked } from '#fixtures/lake.js';
import { REPOSITORY } from '#fixtures/repository.js';
import {
  arrowOf,
  bodiesOf,
  csvOf,
  nights,
  queried,
  table,
  valuesOf,
  writeParquet,
  type TableRow,
} from '#fixtures/tables.js';

/** Reading tables, one or many by --sort and --sql, and writing them; scores are a formula of the row. */

const KEEP = ['id', 'n'];
const ROWS = 160;
const SESSIONS = requestsOf('baseline', 32);
/** Ways in which each file is damaged, as with `ACUITY_TEST_DAMAGES=1000 npm test -- lake/tables`. */
const DAMAGES = Number(process.env['ACUITY_TEST_DAMAGES'] ?? 10);

/** Sessions as they come: whole samples, some missing, some empty, some that are refused. */
const ALL = Array.from({ length: ROWS }, (_, row): TableRow => {
  const session: Record<string, unknown> = { ...SESSIONS[row % 32]?.current_session };
  for (const [name, value] of Object.entries(session))
    if (Array.isArray(value)) session[name] = (value as number[]).map(Math.round);
  if (row % 5 === 1) session['HR_day_1h'] = [];
  if (row % 7 === 2) session['RR_night'] = null;
  if (row % 11 === 3) session['sex'] = null;
  if (row % 40 === 7) session['age'] = 131;
  if (row % 40 === 8) session['sex'] = 'W';
  if (row % 40 === 9) session['RR_night'] = session['HR_night'];
  if (row % 40 === 10)
    Object.assign(session, { sleepTimeSeconds: 420, deepSleepSeconds: 90, remSleepSeconds: 100 });
  if (row % 40 === 11) session['deepSleepSeconds'] = 1.5;
  const at = Date.UTC(2025, 0, 1 + Math.floor(row / 20), 7);
  return { id: `night ${row}, "é"`, n: row / 4, person: `p${row % 20}`, at, ...session };
});
const BODIES = bodiesOf(ALL);

/** A stream of Arrow in pieces of a few kilobytes. */
function* piecesOf(of: readonly TableRow[]) {
  const bytes = arrowOf(of, 'int');
  for (let at = 0; at < bytes.length; at += 9_999) yield bytes.subarray(at, at + 9_999);
}

/** A row in the form that all formats have: texts, without what differs in each run. */
const plain = ({ inference_time_ms: _ms, error: _error, ...row }: TableRow): object =>
  Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, String(cell)]));

t.test('a table has the scores and the refusals of the same rows in JSON, in every format', async (t) => {
  const cells = Buffer.from(`\uFEFF${csvOf(ALL).replaceAll('\n', '\r\n')}`);
  const dir = t.testdir({ 'json.ndjson': BODIES, 'gzip.ndjson.gz': gzipSync(BODIES), 'csv.csv': cells });
  const path = (name: string): string => join(dir, name);
  for (const samples of ['float', 'double', 'int'] as const)
    await writeParquet(path(`${samples}.parquet`), ALL, samples);
  const [json, names] = [path('json.ndjson'), readdirSync(dir)];
  for (const history of [undefined, PAST]) {
    const asked = { to: 'ndjson', outDir: folder(t), history, keep: KEEP } as const;
    const expected = await scoreOne(json, asked);
    const rows = expected.rows.map(plain);
    const { output } = await runStream(BODIES, asked);
    const csv = await runStream([cells.subarray(0, 2), cells.subarray(2)], { ...asked, format: 'csv' });
    t.equal(csv.output.toString(), output.toString(), 'CSV through a pipe');
    t.equal(rows.length, ROWS - expected.bad.length);
    for (const name of names) {
      const { text, bad } = await scoreOne(path(name), asked);
      t.equal(text, expected.text, `${name}${history ? ' with history' : ''}`);
      const named = expected.bad.map((row) => ({ ...row, file: name }));
      t.strictSame(bad, named, `the bad rows of ${name}`);
    }
    if (history !== undefined) continue;
    for (const to of ['parquet', 'csv'] as const)
      t.strictSame((await scoreOne(json, { ...asked, to, again: true })).rows.map(plain), rows, to);
    // In a stream the bad rows stand in their places. What is kept may stand in any column.
    for (const of of [ALL, ALL.map(({ id, ...others }) => ({ ...others, id }))]) {
      const { rows: found } = await runStream(piecesOf(of), { ...asked, to: undefined, format: 'arrow' });
      t.strictSame(valuesOf(found, 'id'), valuesOf(ALL, 'id'));
      const bad = found.filter(({ error }) => error !== null);
      t.match(bad[0], { C_SCORE: null, valence: null, model: null, error: /"status":422/ });
      t.strictSame(found.filter(({ error }) => error === null).map(plain), rows);
    }
  }
});

t.test('samples and numbers of every kind are read as a body would be, or refused as one', async (t) => {
  const dir = folder(t);
  const scored = ['SMALLINT[]', 'BIGINT[]', 'UTINYINT[]', 'DECIMAL(5, 1)[]', 'FLOAT[2]', 'VARCHAR'];
  const at = (...loc: readonly unknown[]): object => [{ loc: ['body', 'current_session', ...loc] }];
  const cases: readonly (readonly [sql: string, detail?: unknown])[] = [
    ...scored.map((type) => [`'[60, 61]'::${type} AS HR_night`] as const),
    [`CAST(NULL AS DOUBLE[]) AS HR_night`],
    [`[60, NULL, 61]::DOUBLE[] AS HR_night`, at('HR_night', 1)],
    [`['60'::DOUBLE, 'NaN'] AS HR_night`, at('HR_night', 1)],
    [`['Infinity'::FLOAT] AS HR_night`, at('HR_night', 0)],
    [`'NaN'::DOUBLE AS height_cm`, at('height_cm')],
    [`'Infinity'::FLOAT AS height_cm`, at('height_cm')],
    [`131 AS height_cm, 900 AS weight_kg`, at('weight_kg')],
  ];
  for (const [index, [sql]] of cases.entries())
    await table(join(dir, `${index}.parquet`), `${index} AS id, ${sql}, 30::DECIMAL(9, 2) AS age`);
  const { files } = await runLake([dir], { to: 'ndjson', outDir: folder(t) });
  for (const [index, [sql, detail]] of cases.entries()) {
    t.equal(files[index]?.rows.length, detail === undefined ? 1 : 0, sql);
    t.match(files[index]?.bad ?? [], detail === undefined ? [] : [{ id: index, row: 1, detail }], sql);
  }
  const series = [[60, null, 61], [60, NaN, 61], [60, Infinity], [60]].map((HR_night) => ({ HR_night }));
  const asStream = { format: 'arrow', to: 'ndjson' } as const;
  const stream = await runStream([arrowOf([...series, { age: NaN }])], asStream);
  const second = { detail: at('HR_night', 1) };
  t.match(valuesOf(stream.rows, 'error'), [second, second, second, undefined, { detail: at('age') }]);
});

t.test('a path means one file, with any letters in it', async (t) => {
  const dir = t.testdir({ 'c[1].csv': 'id,age\n7,30\n', 'c1.csv': 'id,age\n8,30\n' });
  await table(join(dir, 'a1.parquet'), '99 AS id, 30 AS age');
  for (const name of ['a[1].parquet', "a'; DROP TABLE x; --.parquet", 'a"b.parquet', 'a\nb.parquet']) {
    const path = await table(join(dir, name), '1 AS id, 30 AS age');
    t.match((await scoreOne(path, { to: 'ndjson' })).rows, [{ id: 1 }], name);
  }
  t.match((await scoreOne(join(dir, 'c[1].csv'), { to: 'ndjson' })).rows, [{ id: 7 }]);
});

t.test('what is kept keeps its type and its value, and is no part of the request', async (t) => {
  const dir = folder(t);
  const kept = [
    `12345678901234567890::UBIGINT AS a`,
    `0.50::DECIMAL(20, 2) AS b`,
    `DATE '2026-01-02' AS c`,
    `TIMESTAMPTZ '2026-01-02 03:04:05.678901+00' AS d`,
    `'x y'::BLOB AS e`,
    `[[1, NULL], NULL] AS f`,
    `{'k': 'a text longer than twelve', 'l': [1.5]} AS g`,
    `MAP {'m': 1} AS h`,
    `NULL::VARCHAR AS i`,
    `uuid() AS j`,
    `'n'::ENUM ('m', 'n') AS k`,
    `['NaN'::FLOAT, 2]::FLOAT[2] AS l`,
    `true AS explain`,
    `170141183460469231731687303715884105727::HUGEINT AS n`,
    `'' AS o`,
  ];
  const path = await table(join(dir, 'a.parquet'), `${kept.join(', ')}, 30 AS age FROM range(3)`);
  const names = [...'abcdefghijkl', 'explain', 'n', 'o'];
  const { input, told } = await scoreOne(path, { keep: names });
  t.match(told, [String, 'a.parquet: the times of d are written in UTC']);
  const select = `SELECT ${names.map((name) => `${name}::VARCHAR, typeof(${name})`).join()} FROM`;
  t.strictSame(await queried(`${select} '${input.output}'`), await queried(`${select} '${path}'`));
  const { text } = await scoreOne(path, { keep: names, to: 'ndjson', again: true });
  t.match(text, '"a":12345678901234567890,"b":0.50,"c":1767312000000,"d":1767323045678.901,"e":"782079",');
  t.match(text, '"l":[null,2.0],"explain":true,');
  const csv = await scoreOne(path, { keep: names, to: 'csv', again: true });
  const own = fileOf(t, 'own.csv');
  await queried(`COPY (SELECT ${names.join()} FROM '${path}') TO '${own}' (HEADER)`);
  const cells = readFileSync(own, 'utf8').trimEnd().split('\n');
  for (const [line, cut] of cells.entries())
    t.match(csv.text.split('\n')[line], `${cut},`, 'as DuckDB writes it');
  const ids = ['"\\ud800"', '12345678901234567890123', '1E+05', '{"a":[1.50]}', '"\\u0000"'];
  const lines = ids.map((id) => `{"id":${id},"current_session":{"age":30}}\n`);
  const { rows: found } = await scoreOne(fileOf(t, 'b.ndjson', lines.join('')), { to: 'parquet' });
  t.strictSame(valuesOf(found, 'id'), ['\ufffd', '12345678901234567890123', '1E+05', '{"a":[1.50]}', '\0']);
});

t.test('people are never mixed up: ids keep their digits, names their letters', async (t) => {
  const ids = ['9007199254740993', '9007199254740992', '1E+05', '100000'];
  const session = '{"age":30,"HR_night":[60,61]}';
  const line = (id: string): string => `{"person":${id},"at":"2026-01-01","current_session":${session}}\n`;
  const lines = ids.map(line).join('');
  const cells = `person,at,age\n${ids.map((id) => `${id},2026-01-01,30\n`).join('')}`;
  for (const path of [fileOf(t, 'a.ndjson', lines), fileOf(t, 'a.csv', cells)]) {
    const scorer = new HandScorer();
    await scoreOne(path, { history: PAST, scorer });
    t.strictSame(scorer.past, [[], [], [], []], path);
  }
  // To decoders the first letter of a text may be a mark.
  const marked = ['\ufeffp', 'p'].map((person) => ({ person, at: Date.UTC(2026, 0), age: 30 }));
  const scorer = new HandScorer();
  const asked: Asked = { history: PAST, format: 'arrow', to: 'ndjson', scorer };
  const { rows: found } = await runStream([arrowOf(marked)], asked);
  t.strictSame(
    [valuesOf(found, 'person'), scorer.past],
    [
      ['\ufeffp', 'p'],
      [[], []],
    ],
  );
  const latin = Buffer.concat([Buffer.from(line('"Müller"')), Buffer.from(line('"Müller"'), 'latin1')]);
  const { rows: one, bad } = await scoreOne(fileOf(t, 'b.ndjson', latin), { history: PAST });
  t.match([one.length, bad], [1, [{ row: 2, detail: /not UTF-8, perhaps Latin-1/ }]]);
  const halves = await scoreOne(fileOf(t, 'c.ndjson', line('"\\ud83d\\ude00"') + line('"\\ud83d"')), {
    history: PAST,
  });
  t.match([halves.rows.length, halves.bad], [1, [{ row: 2, detail: /half a surrogate pair/ }]]);
  const csv = fileOf(t, 'b.csv', Buffer.from('person,at,age\nMüller,2026-01-01,30\n', 'latin1'));
  const read = await scoreOne(csv, { history: PAST, encoding: 'latin-1' });
  t.match(read.text, /^person.*\nMüller,/);
});

t.test('CSV of any delimiter, with a mark, blank lines, breaks in quotes, compressed', async (t) => {
  const lines = ['id,HR_night,age', '1,60 61,30', '', '2,62 63,31'];
  const zstd = (zlib as { zstdCompressSync?: (text: string) => Buffer }).zstdCompressSync;
  /** Two compressed files in one. */
  const twice = (compress: (text: string) => Buffer): Buffer =>
    Buffer.concat([lines.slice(0, 3).join('\n'), `\n${lines[3] ?? ''}`].map(compress));
  const files = {
    'bar.csv': lines.join('\n').replaceAll(',', '|'),
    'blank.csv': `\n\r\n${lines.join('\r')}`,
    'comma.csv': lines.join('\n'),
    'packed.csv.gz': twice(gzipSync),
    ...(zstd && { 'packed2.csv.zst': twice(zstd) }),
    'quoted.csv': `\uFEFF${lines.map((line) => line.replace(/[^,]+/g, '"$&"')).join('\n')}`,
    'semicolon.csv': `\uFEFF${lines.join('\r\n').replaceAll(',', ';')}`,
    'tab.csv': lines.join('\n').replaceAll(',', '\t'),
  };
  const scored = await runLake([t.testdir(files)], { to: 'ndjson', outDir: folder(t) });
  t.equal(scored.files.length, Object.keys(files).length);
  for (const { rows: found, input } of scored.files) t.strictSame(valuesOf(found, 'id'), [1, 2], input.name);
  const cut = zstd && (await scoreOne(fileOf(t, 'a.csv.zst', twice(zstd).subarray(0, -5))).catch(String));
  if (cut !== undefined) t.match(cut, /its compression is damaged, or cut short/);
});

t.test('a CSV is read alike however its bytes come, and if their memory is used again', async (t) => {
  const cases: readonly (readonly [line: string, read?: readonly unknown[]])[] = [
    ['1,30,"a ""b"",\r\nc"', ['1', '30', 'a "b",\r\nc', undefined]],
    [''],
    ['2,31,é', ['2', '31', 'é', undefined]],
    ['"3"  ,32,', ['3', '32', '', undefined]],
    ['4,33', ['4', '33', '', 422]],
    [`5,34,${'x'.repeat(300)}`, ['', '', '', 413]],
    [`6,"${'y\n'.repeat(200)}",`, ['', '', '', 413]],
    ['7,36,""', ['7', '36', '', undefined]],
  ];
  const text = `id,age,"note, é"\r\n${cases.map(([line]) => line).join('\r\n')}`;
  const readBy = async (bytes: Buffer, length: number, encoding?: string): Promise<unknown> => {
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += length) {
        const piece = Buffer.from(bytes.subarray(at, at + length));
        yield piece;
        piece.fill('"');
      }
    }
    const table = await CsvTable.open(pieces(), { what: 'a.csv', encoding, rowBytesMax: 200 });
    const found: unknown[] = [];
    for await (const page of table.rows())
      for (let row = 0; row < page.rows; row++)
        found.push([...[0, 1, 2].map((at) => textIn(page, row, at)), problemOf(page.marks[row])?.status]);
    return [table.names, ...found];
  };
  const expected = [['id', 'age', 'note, é'], ...cases.flatMap(([, read]) => (read ? [read] : []))];
  for (const [form, bytes, encoding] of [
    ['UTF-8', Buffer.from(`\ufeff${text}`)],
    ['Latin-1', Buffer.from(text, 'latin1'), 'latin-1'],
    ['UTF-16', Buffer.from(text, 'utf16le'), 'utf-16'],
    ['UTF-16 with a mark', Buffer.from(`\ufeff${text}`, 'utf16le'), 'utf-16'],
    ['UTF-16, big end first', Buffer.from(text, 'utf16le').swap16(), 'utf-16'],
    ['UTF-16, big end first, with a mark', Buffer.from(`\ufeff${text}`, 'utf16le').swap16(), 'utf-16'],
  ] as const)
    for (const length of [1, 2, 3, 4, 5, 7, 11, 50, 97, 199, 201, 402, 10_000])
      t.strictSame(await readBy(bytes, length, encoding), expected, `${form} by ${length}`);
});

t.test('control characters and blank lines in a cell are letters, wherever it goes', async (t) => {
  const notes = ['a\u0001b', '\u0001', '\u0002', '\u0001\u0002\u001f', '"\n"', '"a\n\n\r\n\nb"'];
  const lines = notes.map((note, row) => `${row},${note},30\n`);
  const path = fileOf(t, 'a.csv', `id,no\u0001te,age\n${lines.join('')}`);
  const asked = { keep: ['no\u0001te'], again: true };
  const letters = notes.map((note) => note.replaceAll('"', ''));
  for (const to of ['ndjson', 'parquet', 'csv'] as const) {
    const { rows: found, bad } = await scoreOne(path, { ...asked, to });
    t.strictSame(bad, [], to);
    t.strictSame(valuesOf(found, 'no\u0001te'), letters);
  }
});

t.test('a cell of text is a bad row by its column, with the remedy and without its value', async (t) => {
  const whole = /the cell of HR_night is no list of numbers: .* not as numpy prints it/;
  const cells: readonly (readonly [cell: string, detail?: unknown])[] = [
    ['[60,61,62],"age":80', whole],
    ['[60,61,62],"sex":"F","HR_day_1h":[70]', whole],
    ['[60,61],[62]', whole],
    ['[60,61', whole],
    ['[61. 58.]', whole],
    ['[61, nan, 58]', whole],
    ['[60]}, "explain":true, "x":{"y":[1]', whole],
    ['[60,[61],62]', { loc: ['body', 'current_session', 'HR_night', 1] }],
    ['60;;61', { loc: ['body', 'current_session', 'HR_night', 1] }],
    ['60; ;61', { loc: ['body', 'current_session', 'HR_night', 1] }],
    ['1\u00a0060 61', { loc: ['body', 'current_session', 'HR_night', 0] }],
    [' [60, 61,\t62] '],
    ['[]'],
    ['60; 61 |62'],
  ];
  const lines = cells.map(([HR_night], n) => ({ id: `n${n}`, HR_night, age: 30, explain: 'nightly' }));
  const { rows: scored, bad } = await scoreOne(fileOf(t, 'a.csv', csvOf(lines)));
  t.strictSame(valuesOf(scored, 'id'), ['n11', 'n12', 'n13']);
  t.strictSame(valuesOf(bad, 'row'), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  const details = valuesOf(bad, 'detail');
  for (const [at, detail] of details.entries()) t.match([detail].flat(), [cells[at]?.[1]]);
  const texts = await writeParquet(fileOf(t, 'a.parquet'), lines);
  t.strictSame(valuesOf((await scoreOne(texts)).bad, 'detail'), details);
  const stream = await runStream([arrowOf(lines)], { format: 'arrow', to: 'ndjson' });
  const errors = valuesOf(stream.rows, 'error').filter((error) => error !== undefined);
  t.strictSame(valuesOf(errors as TableRow[], 'detail'), details);
  // The first row has two lines.
  const wrong = ['"one\nmore",60,30', 'b,"61;6x2",31', 'c,62,"31,5 y"', 'd,63', 'e,63,30,4'];
  const { told, bad: all } = await scoreOne(fileOf(t, 'b.csv', ['id,hr_night,age', ...wrong].join('\n')));
  const remedy = 'Input should be a number; write it with a point, without a unit, or leave the cell empty';
  const cut = 'a row with more or fewer cells than the header, or a quote that is not closed';
  t.strictSame(told.slice(1, 4), [
    `b.csv: row 2 has no scores (422): column hr_night, number 2: ${remedy}`,
    `b.csv: row 3 has no scores (422): column age: ${remedy}`,
    `b.csv: row 4 has no scores (422): ${cut}`,
  ]);
  t.match(valuesOf(all.slice(2), 'detail'), [cut, cut]);
});

t.test('a cell that is too long costs its row, a quote that stays open ends the run', async (t) => {
  const of = (count: number): string => `"[${'60,'.repeat(count)}60]"`;
  const lists = [of(2_000_000), of(7_000_000).replaceAll('"', '').replaceAll(',', ';'), of(23_000_000)];
  for (const list of lists) {
    const lines = `1,30,[60]\n"2\n",30,${list}\n3,30,[60]\n`;
    const { rows, bad } = await scoreOne(fileOf(t, 'a.csv', `id,age,HR_night\n${lines}`));
    t.match([valuesOf(rows, 'id'), bad], [['1', '3'], [{ row: 2, status: 413 }]]);
  }
  const open = `id,age,HR_night\n"1\n",30,[60]\n2,30,"[60]\n${'8,30,[60]\n'.repeat(900_000)}`;
  await t.rejects(scoreOne(fileOf(t, 'a.csv', open)), { name: 'TableError', message: /line 4.*quotes/ });
});

t.test('persons and nights of any type: a time has the date of its zone, a number its digits', async (t) => {
  const cases: readonly (readonly [type: string, nights: string, person?: string, zone?: string])[] = [
    ['TIMESTAMP', '-01-01 00:30:00,-01-01 23:30:00,-01-02 00:30:00'],
    ['TIMESTAMP_NS', '-01-01 00:30:00,-01-01 23:30:00,-01-02 00:30:00', '7::UBIGINT'],
    ['TIMESTAMPTZ', '-01-01 00:30:00+00,-01-01 23:30:00+00,-01-02 00:30:00+00', `'p'::ENUM ('p')`, 'UTC'],
    ['TIMESTAMPTZ', '-01-01 23:30:00+00,-01-02 22:30:00+00,-01-02 23:30:00+00', `'p'`, 'Europe/Berlin'],
    ['TIMESTAMPTZ', '-01-01 05:30:00+00,-01-02 04:30:00+00,-01-02 05:30:00+00', `'p'`, '-05:00'],
    ['DATE', '-01-01,-01-01,-01-02', `'00000000-0000-0000-0000-000000000001'::UUID`],
    ['VARCHAR', '-01-01T23:30:00-05:00,-01-01,-01-02T00:30:00+12:00'],
    ['DOUBLE', '0101,0101,0102', '-3'],
    ['INTEGER', '0101,0101,0102', '12345678901234567890123::DECIMAL(38,0)'],
    ['DECIMAL(38,0)', '0101,0101,0102'],
  ];
  for (const [type, nights, person = `'p'`, zone] of cases) {
    const path = fileOf(t, 'a.parquet');
    const values = nights.split(',').map((night) => `'2026${night}'`);
    await table(path, `${person} AS person, unnest([${values.join()}])::${type} AS at, 30 AS age`);
    const scorer = new HandScorer();
    const { bad } = await scoreOne(path, { history: PAST, scorer, zone });
    t.strictSame([bad, scorer.past], [[], [[], [], [2]]], `${type} ${zone}`);
  }
  // Moments in UTC, which the engine takes for local times: Spark's, and those that only a former mark tells.
  for (const name of ['spark-times', 'former-times']) {
    const own = fileOf(t, 'a.parquet', readFileSync(join(REPOSITORY, `test/fixtures/${name}.parquet`)));
    for (const sort of [false, true]) {
      const scorer = new HandScorer();
      await scoreOne(own, { history: PAST, zone: 'America/New_York', sort, scorer, outDir: folder(t) });
      t.strictSame(scorer.past, [[], [1], [1]], name);
    }
    t.match(await runLake([own], { history: PAST }), {
      error: { message: /times with a zone.* --zone says/ },
    });
  }
  const there: Asked = { history: PAST, zone: 'America/New_York', to: 'ndjson' };
  const { told } = await scoreOne(fileOf(t, 'b.csv', 'person,at,age\np,2026-01-02T03:30Z,30\n'), there);
  t.match(told[1], 'b.csv: --zone is for times with a zone, and at has none: its dates count as they are');
  const [scorer, data] = [new HandScorer(), BigInt64Array.of(1767225599999999999n, 1767225600000000000n)];
  const at = arrow.makeVector({ type: new arrow.TimestampNanosecond(), data });
  const lists = new arrow.List(new arrow.Field('item', new arrow.Decimal(1, 9)));
  const list = arrow.vectorFromArray([null, [Uint32Array.of(15, 0, 0, 0)]], lists);
  const coded = (dictionary: arrow.Vector) => {
    const type = new arrow.Dictionary(dictionary.type, new arrow.Int64() as never);
    return arrow.makeVector({ type, data: BigInt64Array.of(1n, 0n) as never, dictionary });
  };
  const sex = coded(arrow.vectorFromArray(['M', 'M'], new arrow.Utf8()));
  const streamOf = (columns: Record<string, arrow.Vector>) => [arrow.tableToIPC(new arrow.Table(columns))];
  const asked: Asked = { format: 'arrow', to: 'ndjson', keep: ['list'], scorer };
  const { output } = await runStream(streamOf({ sex, at, list }), {
    ...asked,
    history: { ...PAST, person: 'sex' },
  });
  t.match(output.toString(), /"list":null,"sex":"M".*\n\{"list":\[1.5\],"sex":"M"/);
  t.strictSame(scorer.past, [[], [1]], 'the last nanosecond of a day');
  const message = /has a dictionary of List.*: make plain values of it/;
  t.match(await runStream(streamOf({ sex, list: coded(list) }), asked), { error: { message } });
});

t.test('names of columns count in any case; what was found and what was not is told', async (t) => {
  const names = '"current_session":{"age":30,"sex":"M","HR_night":[60,61]}';
  const slips = ['RRnight', 'measured_valense', 'measured_C_SCORE', 'History', 'measured_stress_reliability'];
  const dir = t.testdir({
    'a.ndjson': `{"id":12345678901234567890,${names}}\n`,
    'b.csv': `id,AGE,sEX,hr_night,${slips.join()}\n12345678901234567890,30,M,60 61,1,1,1,1,1\n`,
    'd.csv': '',
  });
  const cells = `12345678901234567890::UBIGINT AS id, 30 AS "Age", 'M' AS SEX, [60, 61] AS hr_NIGHT`;
  await table(join(dir, 'c.parquet'), cells);
  const { files, told } = await runLake([dir], { to: 'ndjson' });
  const first = files.slice(0, 3).map(({ rows: [row] }) => ({ ...row, inference_time_ms: 0 }));
  t.strictSame(first, [first[0], first[0], first[0]]);
  t.match(told, [
    /^a.ndjson: found HR_night, age, sex; not found HR_day_1h, RR_day_1h, RR_night, /,
    'b.csv: fields as in a.ndjson',
    /^b.csv: the column RRnight is not known, and ignored: did you mean RR_night\?/,
    /measured_valense is not known, and ignored: did you mean measured_valence\?/,
    /measured_C_SCORE .* ignored: such columns are measured_attention/,
    'b.csv: the column History is ignored: --person and --order give each row its past',
    'b.csv: the column measured_stress_reliability is ignored: no column has its measurement',
    'c.parquet: fields as in a.ndjson',
    'd.csv: no row says which fields it has',
  ]);
  const line = (field: string): string => `{"x":{"y":"\\\\"},"current_session":{"age":30,"${field}":[60]}}\n`;
  const odd = [1, 2].map((n) => line('HR_nigth').replace('"y"', `"y${n}"`));
  const text = `${line('HR_night').repeat(120)}${line('HR_nigth')}${odd.join('')}{${'"\\"'.repeat(300_000)}\\`;
  const { told: far, bad } = await scoreOne(fileOf(t, 'e.ndjson', text));
  t.strictSame(far.slice(1, 2), [
    'e.ndjson: row 121: the field HR_nigth is not known, and ignored: did you mean HR_night?',
  ]);
  t.match([far.length, valuesOf(bad, 'row')], [3, [124]]);
  // The engine would read the second as AGE_1, and write no such table.
  const both = await table(join(folder(t), 'a.parquet'), '30 AS age, 31 AS agx');
  writeFileSync(both, Buffer.from(readFileSync(both, 'latin1').replaceAll('agx', 'AGE'), 'latin1'));
  await t.rejects(scoreOne(both), { name: 'NamesError', message: /two columns are named "age"/ });
});

t.test('person, order and row go through to every output, which has its columns without rows', async (t) => {
  const path = await writeParquet(fileOf(t, '0.parquet'), nights(40));
  for (const to of ['ndjson', 'csv', 'parquet'] as const) {
    const { rows: found } = await scoreOne(path, { to, history: PAST, outDir: folder(t) });
    t.strictSame(Object.keys(found[0] ?? {}).slice(0, 5), ['id', 'person', 'at', 'row', 'C_SCORE'], to);
    t.equal(Number(found.at(-1)?.['row']), 40);
  }
  const columnsOf = async (rows: string): Promise<unknown> => {
    const own = await table(fileOf(t, 'a.parquet'), rows);
    return queried(`DESCRIBE FROM '${(await scoreOne(own, { history: PAST })).input.output}'`);
  };
  const expected = await columnsOf(`* FROM '${path}'`);
  t.strictSame(await columnsOf(`* FROM '${path}' LIMIT 0`), expected);
  t.strictSame(await columnsOf(`* REPLACE (131 AS age) FROM '${path}'`), expected);
  const none = arrow.tableToIPC(new arrow.Table(arrow.tableFromIPC(arrowOf(nights(1))).schema));
  const { output } = await runStream([none], { format: 'arrow', history: PAST, keep: ['HR_night'] });
  const { names } = arrow.tableFromIPC(output).schema;
  t.strictSame(names.slice(0, 4), ['HR_night', 'person', 'at', 'row']);
  // Lists of texts as Polars pipes them, more than a page has: the library alone cuts them at the wrong place.
  const lists = Array.from({ length: 1_500 }, (_, row) => [`${row + 1000}`]);
  const tags = arrow.vectorFromArray(lists, new arrow.List(new arrow.Field('item', new arrow.Utf8View())));
  const stream = arrow.tableToIPC(new arrow.Table({ age: arrow.vectorFromArray(lists.map(() => 30)), tags }));
  const { rows } = await runStream([stream], { format: 'arrow', keep: ['tags'] });
  const found = rows.map((row) => [...(row['tags'] as Iterable<string>)]);
  t.strictSame(found, lists);
});

t.test('a damaged table says so, wherever it is damaged, and the next one is read', async (t) => {
  const fixtures = join(REPOSITORY, 'test/fixtures/tables-of-others');
  let broken = 0;
  for (const name of ['duckdb.parquet', 'coded.parquet']) {
    const whole = readFileSync(join(fixtures, name));
    for (let turn = 0; turn < DAMAGES; turn++) {
      const bytes = Buffer.from(whole);
      // Spread over the whole file, the same in every run.
      for (let hit = 0; hit < 4; hit++)
        bytes[(turn * 7_919 + hit * 1_237) % bytes.length] = (turn * 37 + hit) & 255;
      const { error } = await runLake([fileOf(t, name, bytes)]);
      if (!(error instanceof Error) || 'syscall' in error) continue; // scored: the damage is within a value
      t.ok(error instanceof TableError, `${turn} ${name}: ${error.name}: ${error.message}`);
      broken++;
    }
    t.ok((await scoreOne(join(fixtures, name), { outDir: folder(t) })).rows.length > 0, 'whole');
  }
  t.ok(broken > 0);
  // The footer says 101 rows: the first of its counts is the table's, a zigzag after the mark of an i64.
  const path = await table(fileOf(t, 'a.parquet'), '30 AS age FROM range(100)');
  const bytes = readFileSync(path);
  const footer = bytes.length - 8 - bytes.readInt32LE(bytes.length - 8);
  bytes[bytes.indexOf(Buffer.from([0x16, 0xc8, 0x01]), footer) + 1] = 0xca;
  writeFileSync(path, bytes);
  await t.rejects(scoreOne(path), { name: 'TableError', message: /^a.parquet .* 100 of its 101 rows came/ });
});

const ids = (of: readonly TableRow[] = []): unknown => of.map(({ id, memory }) => [id, memory]);

t.test('--sort: the rows of all files come by person and night, and none is late', async (t) => {
  // Some nights have two rows, of which the later one counts.
  const all = nights(30, 3).map((row, at) => ({ ...row, at: Number(row['at']) - (at % 2) * 72_000_000 }));
  const shuffled = all.map((_, at) => all[(at * 7) % 30] ?? {});
  const one = await writeParquet(fileOf(t, 'one.parquet'), shuffled);
  const partOf = (part: number, cells = '*'): Promise<string> =>
    table(
      fileOf(t, `${part}.parquet`),
      `${cells} FROM '${one}' WHERE sleepTimeSeconds::INT // 3 % 3 = ${part}`,
    );
  const doubles = '* REPLACE (HR_night::DOUBLE[] AS HR_night)';
  const paths = [await partOf(0), await partOf(1, doubles), await partOf(2)];
  const asked = { history: PAST, to: 'ndjson', sort: true } as const;
  const { files, error } = await runLake(paths, { ...asked, outDir: folder(t) });
  t.equal(error, undefined);
  const { rows = [], bad } = files[0] ?? {};
  t.strictSame(bad, []);
  const order = rows.map(({ person, at }) => `${String(person)} ${String(at)}`);
  t.strictSame(order, order.toSorted());
  const numbers = valuesOf(rows, 'row').map(Number);
  t.strictSame(new Set(numbers), new Set(Array.from({ length: 30 }, (_, n) => n + 1)), 'as they were read');
  t.strictSame(ids(rows), ids((await scoreOne(one, asked)).rows));
  const types = [
    `7 AS person, DATE '2026-01-01' AS at`,
    `'007' AS person, TIMESTAMP '2026-01-01 02:03:04' AS at`,
    `'8' AS person, '2026-01-01' AS at, 50 AS measured_attention`,
    `'9' AS person, '2026-01-01' AS at, 50 AS "Measured_ATTENTION"`,
  ];
  const several = await Promise.all(types.map((row) => table(fileOf(t, 'a.parquet'), `${row}, 30 AS age`)));
  const mixed = await runLake(several, { ...asked, to: 'parquet', outDir: folder(t) });
  const [second, first] = mixed.files[0]?.rows ?? [];
  t.match(first, { person: '7', at: '2026-01-01' });
  t.match(second, { person: '007', at: '2026-01-01 02:03:04' });
  const none = ['8', '9'].map((person) => ({ person, detail: /takes no measurements/ }));
  t.match(mixed.files[0]?.bad, none, 'also where only one file has them');
  const days = '20260105, 2026-01-04,20459,1767398400000,2026-01-08'.replaceAll(',', '\np,30,');
  const forms = await scoreOne(fileOf(t, 'a.csv', `person,age,at\np,30,${days}\n`), asked);
  t.strictSame([valuesOf(forms.rows, 'row'), forms.bad], [[4, 2, 1, 3, 5], []], 'nights in any form');
  // 0:30, 0:40 and 1:20 in UTC: a clock that is set back shows its hour twice.
  const back = ['02:20:00+01:00', '02:40:00+02:00', '02:30:00+02:00'].map((time) => `2026-10-25T${time}`);
  const twice = await scoreOne(fileOf(t, 'a.csv', `person,age,at\np,30,${back.join('\np,30,')}\n`), asked);
  const zoned = `'p' AS person, 30 AS age, unnest(['${back.join("','")}'])::TIMESTAMPTZ AS at`;
  const inZone = { ...asked, zone: 'Europe/Berlin' };
  const moments = await scoreOne(await table(fileOf(t, 'a.parquet'), zoned), inZone);
  for (const { rows: sorted } of [twice, moments])
    t.strictSame(valuesOf(sorted, 'row'), [3, 2, 1], 'by time');
  const night = `'n' AS id, 'p0' AS person, DATE '2026-01-01' AS at, 30 AS age`;
  const other = await table(join(folder(t), 'other.parquet'), night);
  const odd = await runLake([one, other], { ...asked, outDir: folder(t) });
  t.match(odd, { todo: 0, error: { name: 'NamesError', message: /differ in .*: give both the same/ } });
});

t.test('--sql: a join with renamed columns is what the table would be; no SELECT is refused', async (t) => {
  const path = await writeParquet(fileOf(t, 'a.parquet'), nights(30));
  const run = (sql: string, more?: Asked) => runLake([], { sql, to: 'ndjson', outDir: folder(t), ...more });
  const { told, files } = await run(
    `SELECT n.* EXCLUDE (HR_night, age), n.HR_night AS hr_NIGHT, p.age AS "AGE"
     FROM read_parquet('${path}', file_row_number = true) n JOIN (SELECT id, age FROM '${path}') p USING (id)
     ORDER BY n.file_row_number;`,
  );
  t.match(told, [/^the query: (?!.*not found .*\b(HR_night|age)\b).* found/]);
  t.strictSame(ids(files[0]?.rows), ids((await scoreOne(path, { to: 'ndjson' })).rows));
  const wide = await run('SELECT 30 AS age, 9007199254740993::HUGEINT AS id', { to: 'parquet' });
  t.match(wide.files[0]?.rows, [{ id: '9007199254740993' }], 'its digits, which Parquet has no number for');
  const cases: readonly (readonly [sql: string, message: RegExp, extension?: string])[] = [
    ['SELECT 1; SELECT 2', /give one SELECT/],
    [`COPY (SELECT 1) TO '/tmp/x'`, /no SELECT|give one/],
    ['SELECT x FROM nowhere', /Table with name nowhere does not exist/],
    [`SELECT 30 AS age FROM 's3://a/b.parquet'`, /it takes an extension: give --extension/],
    [`SELECT 30 AS age FROM delta_scan('x')`, /it takes an extension/],
    // Far from the beginning the engine gives up its stream without an error: the rest of the rows was lost.
    [
      "SELECT CAST(if(i = 39000, 'secret', '30') AS INTEGER) AS age FROM range(40000) t(i)",
      /a value can't be cast to the type requested/,
    ],
    [`SELECT 30 AS age FROM '/encrypted/x.parquet'`, /No files found/],
    [
      "SELECT 30 AS age, strptime(if(i = 39000, 'secret', '2026'), '%Y') AS id FROM range(40000) t(i)",
      /the query can't be read: one of its expressions fails on a value/,
    ],
    ['SELECT 30 AS age', /--extension none: DuckDB 1\.5\.5 has no such extension here/, 'none'],
  ];
  for (const [sql, message, extension] of cases) {
    const { error } = await run(sql, extension === undefined ? {} : { extension: [extension] });
    t.match(error, { message }, sql);
    t.notMatch(String(error), /secret/);
  }
});
