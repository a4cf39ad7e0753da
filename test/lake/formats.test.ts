import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tableToIPC } from 'apache-arrow';
import t from 'tap';
import { FORMATS, formatOf, type Format } from '#acuity/lake/inputs.js';
import { TableError } from '#acuity/lake/errors.js';
import { requestsOf } from '#acuity/load/payloads.js';
import { filesOf, folder, linesOf, runLake, runStream, scoreOne } from '#fixtures/lake.js';
import { REPOSITORY } from '#fixtures/repository.js';
import { rowsOfTable, tableOf, writeParquetFile, type TableRow } from '#fixtures/tables.js';

const KEEP = ['id', 'n'];
const HISTORY = { person: 'person', order: 'at' };
const ROWS = 160;
/** Ways in which each file is damaged, as with `ACUITY_TEST_DAMAGES=1000 npm test -- batch/formats`. */
const DAMAGES = Number(process.env['ACUITY_TEST_DAMAGES'] ?? 12);

/** Sessions as they come: whole samples, some missing, some empty, some that are refused. */
function rows(): TableRow[] {
  const sessions = requestsOf('baseline', 32).map(({ current_session }) => current_session);
  return Array.from({ length: ROWS }, (_, row) => {
    const session: Record<string, unknown> = { ...sessions[row % 32] };
    for (const [name, value] of Object.entries(session)) {
      if (Array.isArray(value)) session[name] = (value as number[]).map(Math.round);
    }
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
}

function ndjsonOf(of: readonly TableRow[]): string {
  return of
    .map(({ id, n, person, at, ...session }) => {
      return `${JSON.stringify({ id, n, person, at, current_session: session })}\n`;
    })
    .join('');
}

function csvOf(of: readonly TableRow[]): string {
  const names = [...new Set(of.flatMap((row) => Object.keys(row)))];
  const cell = (value: unknown, row: number): string => {
    if (value === null || value === undefined) return '';
    // JSON, or numbers with something between
    if (Array.isArray(value)) return row % 2 === 0 ? `"${JSON.stringify(value)}"` : value.join(' ');
    return typeof value === 'string' ? `"${value.replaceAll('"', '""')}"` : String(value);
  };
  const lines = of.map((row, index) => names.map((name) => cell(row[name], index)).join(','));
  return `\uFEFF${[names.join(','), ...lines].join('\r\n')}\r\n`;
}

const textOf = (rows: readonly TableRow[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** A stream of Arrow in pieces of a few kilobytes. */
function* piecesOf(rows: readonly TableRow[], samples: 'float' | 'double' | 'int' = 'float') {
  const bytes = tableToIPC(tableOf(rows, samples), 'stream');
  for (let at = 0; at < bytes.length; at += 9_999) yield bytes.subarray(at, at + 9_999);
}

t.test('a table has the scores and the refusals of the same rows in JSON, in every format', async (t) => {
  const dir = folder(t);
  const all = rows();
  const path = (name: string): string => join(dir, name);
  writeFileSync(path('json.ndjson'), ndjsonOf(all));
  writeFileSync(path('gzip.ndjson.gz'), gzipSync(ndjsonOf(all)));
  writeFileSync(path('csv.csv'), csvOf(all));
  for (const samples of ['float', 'double', 'int'] as const)
    await writeParquetFile(path(`${samples}.parquet`), tableOf(all, samples));
  const names = readdirSync(dir);
  for (const history of [undefined, HISTORY]) {
    const outDir = path(history === undefined ? 'plain' : 'history');
    const asked = { to: 'ndjson', outDir, history, keep: KEEP } as const;
    const expected = await scoreOne(path('json.ndjson'), asked);
    t.equal(expected.rows.length, ROWS - expected.bad.length);
    for (const name of names) {
      const { scores, bad } = await scoreOne(path(name), asked);
      t.equal(scores.toString(), expected.scores.toString(), `${name}${history ? ' with history' : ''}`);
      t.equal(textOf(bad).replaceAll(name, 'json.ndjson'), textOf(expected.bad), `the bad rows of ${name}`);
    }
    for (const samples of ['float', 'double', 'int'] as const) {
      const { output, error } = await runStream(piecesOf(all, samples), { ...asked, format: 'arrow' });
      t.equal(error, undefined);
      const lines = linesOf(output.toString().replaceAll(/"inference_time_ms":[\d.]+,/g, ''));
      const bad = lines.filter((line) => 'error' in line);
      t.strictSame(
        lines.filter((line) => !('error' in line)),
        expected.rows,
        samples,
      );
      t.strictSame(
        bad.map(
          ({ error: { status, detail } = {} as TableRow }: TableRow & { readonly error?: TableRow }) => [
            status,
            detail,
          ],
        ),
        expected.bad.map(({ status, detail }) => [status, detail]),
      );
    }
  }
});

t.test('what is written is the same in every format', async (t) => {
  const dir = folder(t);
  const all = rows();
  writeFileSync(join(dir, 'a.ndjson'), ndjsonOf(all));
  const { rows: expected } = await scoreOne(join(dir, 'a.ndjson'), { keep: KEEP });
  const plain = (row: TableRow): TableRow => ({ ...row, n: Number(row['n']), row: Number(row['row']) });
  const outDir = join(dir, 'out');
  const parquet = await scoreOne(join(dir, 'a.ndjson'), { to: 'parquet', outDir, keep: KEEP });
  t.strictSame(parquet.rows.map(plain), expected);
  const csv = (await scoreOne(join(dir, 'a.ndjson'), { to: 'csv', outDir, keep: KEEP })).scores.toString();
  const [header, first] = csv.split('\n');
  const { id: _, ...rest } = expected[0] ?? {};
  t.equal(header, Object.keys(expected[0] ?? {}).join(','));
  t.equal(first, `"night 0, ""é""",${Object.values(rest).join(',')}`);
  t.equal(csv.split('\n').length, expected.length + 2);
  // In a stream the bad rows stand in their places. What is kept may stand in any column.
  const last = all.map(({ id, ...others }) => ({ ...others, id }));
  for (const of of [all, last]) {
    const { output, tally } = await runStream(piecesOf(of), { format: 'arrow', keep: KEEP });
    const found = await rowsOfTable(output, 'arrow');
    t.strictSame(
      found.map(({ id }) => id),
      all.map(({ id }) => id),
    );
    const bad = found.filter(({ error }) => error !== null);
    t.equal(bad.length, tally.badLines);
    t.match(bad[0], { C_SCORE: null, valence: null, model: null, error: /"status":422/ });
    const scored = found.filter(({ error }) => error === null).map(({ error: _error, ...row }) => plain(row));
    t.strictSame(scored, expected);
  }
});

t.test('an id that is half a pair of UTF-16, or a number of many digits, is kept in a table', async (t) => {
  const path = join(folder(t), 'a.ndjson');
  const ids = ['"\\ud800"', '12345678901234567890123', '1E+05', '{"a":[1.50]}', '"\\u0000"'];
  writeFileSync(path, ids.map((id) => `{"id":${id},"current_session":{"age":30}}\n`).join(''));
  const { rows: found } = await scoreOne(path, { to: 'parquet' });
  t.strictSame(
    found.map(({ id }) => id),
    ['\ufffd', '12345678901234567890123', '1E+05', '{"a":[1.50]}', '\0'],
  );
});

t.test('what is no sample is refused in a table too', async (t) => {
  const bad = [
    { HR_night: [60, null, 61] },
    { HR_night: [60, NaN, 61] },
    { HR_night: [60, Infinity] },
    { age: NaN },
  ];
  const { output } = await runStream(piecesOf([...bad, { HR_night: [60] }]), {
    format: 'arrow',
    to: 'ndjson',
  });
  const found = linesOf(output.toString());
  t.match(found[4], { row: 5, C_SCORE: Number });
  t.match(found.slice(0, 4), [
    { row: 1, error: { detail: [{ loc: ['body', 'current_session', 'HR_night', 1], type: 'number_type' }] } },
    { row: 2, error: { detail: [{ loc: ['body', 'current_session', 'HR_night', 1], type: 'number_type' }] } },
    { row: 3, error: { detail: [{ loc: ['body', 'current_session', 'HR_night', 1] }] } },
    { row: 4, error: { detail: [{ loc: ['body', 'current_session', 'age'], type: 'number_type' }] } },
  ]);
});

t.test('a table that can’t be scored says why', async (t) => {
  const dir = folder(t);
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['a.csv', 'id,name\n1,2\n', /no column is named as a field/],
    ['b.csv', 'id,age,n\n1,30,2\n2,"31\n', /b.csv is no CSV in line 3: check its quotes/],
    ['c.ndjson.gz', 'no gzip', /its compression is damaged/],
    ['g.parquet', 'no Parquet at all', /g.parquet can't be read: it is no Parquet file/],
  ];
  for (const [name, text, message] of cases) {
    writeFileSync(join(dir, name), text);
    await t.rejects(scoreOne(join(dir, name)), { message }, name);
  }
  const wrong = await runStream(piecesOf([{ id: '1' }]), { format: 'arrow' });
  t.match(wrong.error, { message: /no column is named as a field/ });
  const file = await runStream([tableToIPC(tableOf(rows(), 'float'), 'file')], { format: 'arrow' });
  t.match(file.error, { message: /Arrow's file format is read from its end: make Parquet of it/ });
  writeFileSync(join(dir, 'e.arrow'), '');
  await t.rejects(scoreOne(join(dir, 'e.arrow')), { message: /Arrow comes by standard input, as a stream/ });
  for (const last of ['2,31', '2,31,4,5']) {
    writeFileSync(join(dir, 'f.csv'), `id,age,n\n1,30,2\n${last}\n`);
    const { bad } = await scoreOne(join(dir, 'f.csv'));
    t.match(bad, [{ row: 2, status: 422, detail: /a row with more or fewer cells/ }], last);
  }
});

t.test('a damaged table says so, wherever it is damaged, and the next one is read', async (t) => {
  const dir = folder(t);
  const fixtures = join(REPOSITORY, 'test/fixtures/tables-of-others');
  let broken = 0;
  for (const name of ['duckdb.parquet', 'coded.parquet']) {
    const whole = readFileSync(join(fixtures, name));
    for (let turn = 0; turn < DAMAGES; turn++) {
      const bytes = Buffer.from(whole);
      // Spread over the whole file, the same in every run.
      for (let hit = 0; hit < 4; hit++)
        bytes[(turn * 7_919 + hit * 1_237) % bytes.length] = (turn * 37 + hit) & 255;
      const path = join(dir, `${turn}-${name}`);
      writeFileSync(path, bytes);
      const error: unknown = await scoreOne(path).catch((reason: unknown) => reason);
      if (!(error instanceof Error) || 'syscall' in error) continue; // scored: the damage is within a value
      t.ok(error instanceof TableError, `${turn} ${name}: ${error.name}: ${error.message}`);
      broken++;
    }
    t.ok((await scoreOne(join(fixtures, name), { outDir: dir })).rows.length > 0, 'whole');
  }
  t.ok(broken > 0);
});

t.test('a cell of CSV says nothing of another column', async (t) => {
  const path = join(folder(t), 'cells.csv');
  const cells = [
    '[60,61,62],"age":80',
    '[60,61,62],"sex":"F","HR_day_1h":[70]',
    '[60,61],[62]',
    '[60,61',
    '[60]}, "explain":true, "x":{"y":[1]',
    '[60,[61],62]',
    ' [60, 61,\t62] ',
    '[]',
    '60;61|62',
  ];
  const rows = cells.map((cell, row) => `${row},"${cell.replaceAll('"', '""')}",30,nightly`);
  writeFileSync(path, ['id,HR_night,age,explain', ...rows].join('\n'));
  const { scores, bad } = await scoreOne(path);
  const ids = scores
    .toString()
    .split('\n')
    .slice(1, -1)
    .map((line) => line.split(',')[0]);
  t.strictSame(ids, ['6', '7', '8']);
  const notWhole = { status: 422, detail: /the cell of HR_night .* not one whole array/ };
  t.match(bad, [
    ...[0, 1, 2, 3, 4].map((id) => ({ id: String(id), row: id + 1, ...notWhole })),
    { id: '5', row: 6, detail: [{ loc: ['body', 'current_session', 'HR_night', 1] }] },
  ]);
});

t.test(
  'a bad cell of CSV is reported by row and column, with the remedy and without its value',
  async (t) => {
    const path = join(folder(t), 'cells.csv');
    // The first row has two lines.
    const lines = ['"one\nmore",60,30', 'b,"61;6x2",31', 'c,62,"31,5 y"', 'd,63'];
    writeFileSync(path, ['id,hr_night,age', ...lines].join('\n'));
    const { told } = await runLake([path]);
    const remedy = 'Input should be a number; write it with a point, without a unit, or leave the cell empty';
    t.strictSame(told.slice(1), [
      `cells.csv: row 2 has no scores (422): column hr_night, number 2: ${remedy}`,
      `cells.csv: row 3 has no scores (422): column age: ${remedy}`,
      'cells.csv: row 4 has no scores (422): a row with more or fewer cells than the header, or a quote that is not closed',
    ]);
  },
);

t.test('what is kept of a row is no part of its request', async (t) => {
  const dir = folder(t);
  const path = join(dir, 'kept.csv');
  writeFileSync(path, 'id,explain,age\n1,true,30\n');
  const { scores } = await scoreOne(path, { keep: ['id', 'explain'] });
  t.match(scores.toString(), /^id,explain,row,C_SCORE.*\n1,true,1,/);
});

t.test('columns that could be taken for one another, or hold more than a session, are refused', async (t) => {
  const dir = folder(t);
  const cases = [
    ['age,age\n30,80\n', /two columns are named "age"/],
    ['id,age,id\n1,30,2\n', /two columns are named "id"/],
    ['age,past_sessions\n30,[]\n', /the column past_sessions: a row of a table is one session/],
  ] as const;
  for (const [text, message] of cases) {
    writeFileSync(join(dir, 'a.csv'), text);
    await t.rejects(scoreOne(join(dir, 'a.csv')), { message }, text);
  }
});

t.test('a name says the format', async (t) => {
  const cases: readonly (readonly [string, string, Format | undefined, string | undefined])[] = [
    ['a.ndjson', 'a', 'ndjson', undefined],
    ['a.b.jsonl.gz', 'a.b', 'ndjson', 'gzip'],
    ['a.csv.zst', 'a', 'csv', 'zstd'],
    ['part-0.snappy.parquet', 'part-0.snappy', 'parquet', undefined],
    ['a.txt', 'a.txt', undefined, undefined],
  ];
  for (const [name, stem, format, compression] of cases)
    t.strictSame(formatOf(name), { stem, format, compression });
  t.equal(FORMATS.length, 4);
});

t.test('patterns mean files, and never what was written before', async (t) => {
  const dir = folder(t);
  for (const name of ['b.ndjson', 'a.ndjson', 'a.scores.ndjson', 'a.bad.ndjson', '.hidden.ndjson', 'x.csv']) {
    writeFileSync(join(dir, name), '');
  }
  const found = await filesOf([join(dir, '*.ndjson'), join(dir, 'b.ndjson')], {});
  t.strictSame(
    found.map(({ path }) => path),
    [join(dir, 'a.ndjson'), join(dir, 'b.ndjson')],
  );
  t.match(await filesOf([join(dir, '?.csv')], { to: 'parquet', outDir: '/out' }), [
    { output: '/out/x.scores.parquet', bad: '/out/x.bad.ndjson', format: 'csv' },
  ]);
  writeFileSync(join(dir, 'a.jsonl'), '');
  await t.rejects(filesOf([join(dir, 'a.*')], {}), { message: /would both be scored to/ });
  await t.rejects(filesOf([join(dir, 'none.csv')], {}), { message: /there is no such file/ });
});
