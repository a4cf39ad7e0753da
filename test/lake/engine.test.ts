import { copyFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openSources } from '#acuity/lake/enginePages.js';
import { orderSql, parquetSource, querySource } from '#acuity/lake/engineSources.js';
import { requestsOf } from '#acuity/load/payloads.js';
import { engine, folder, runLake, scoreOne, type Asked } from '#fixtures/lake.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { queried, type TableRow } from '#fixtures/tables.js';

/** What the engine does on its own, and must not. */

const HISTORY = { person: 'user_id', order: 'night' };
const NIGHT = '[60.0, 61.5]::DOUBLE[] AS HR_night, 30 AS age';

/** Writes a table from columns of SQL. */
async function table(path: string, columns: string, from = ''): Promise<string> {
  await queried(`COPY (SELECT ${columns} ${from}) TO '${path.replaceAll("'", "''")}' (FORMAT parquet)`);
  return path;
}

t.test('a column whose type can’t be what its name says ends the run before any score', async (t) => {
  const dir = folder(t);
  const cases: readonly (readonly [string, RegExp])[] = [
    [
      `TIME '07:00:00' AS sleepTimeSeconds, ${NIGHT}`,
      /sleepTimeSeconds is of the type TIME, which is no number/,
    ],
    [`INTERVAL 7 HOUR AS sleepTimeSeconds, ${NIGHT}`, /is of the type INTERVAL/],
    [`TIMESTAMP '2026-01-01' AS sleepTimeSeconds, ${NIGHT}`, /is of the type TIMESTAMP/],
    [`'30' AS age`, /age is of the type VARCHAR, which is no number: CAST it/],
    [`true AS age`, /BOOLEAN/],
    [`1 AS sex, ${NIGHT}`, /the column sex is of the type INTEGER, which is no sex: write M or F/],
    [
      `[TIME '07:00:00'] AS HR_night, 30 AS age`,
      /HR_night is of the type TIME\[\], which can hold no samples/,
    ],
    [`60.5 AS HR_night, 30 AS age`, /can hold no samples/],
    [`[{'a': 1}] AS past_sessions, 30 AS age`, /the column past_sessions: a row of a table is one session/],
    [`30 AS " age", ${NIGHT}`, /the column " age" has space around its name: rename it/],
  ];
  for (const [columns, message] of cases) {
    const path = await table(join(dir, 'a.parquet'), columns);
    await t.rejects(scoreOne(path, { to: 'ndjson' }), { name: 'NamesError', message }, columns);
  }
  t.strictSame(readdirSync(dir), ['a.parquet']);
});

t.test('samples and numbers of every kind are read as a body would be, or refused as one', async (t) => {
  const dir = folder(t);
  const right = '[60, 61]';
  const cases: readonly (readonly [string, string])[] = [
    [`${right}::SMALLINT[]`, 'scored'],
    [`${right}::BIGINT[]`, 'scored'],
    [`${right}::UTINYINT[]`, 'scored'],
    [`${right}::DECIMAL(5, 1)[]`, 'scored'],
    [`${right}::FLOAT[2]`, 'scored'],
    [`'${right}'`, 'scored'],
    [`CAST(NULL AS DOUBLE[])`, 'scored'],
    [`[60, NULL, 61]::DOUBLE[]`, 'refused'],
    [`['60'::DOUBLE, 'NaN']`, 'refused'],
    [`['Infinity'::FLOAT]`, 'refused'],
    [`'[60, 61'`, 'refused'],
    [`'[60],"age":80'`, 'refused'],
  ];
  for (const [samples, outcome] of cases) {
    const path = await table(
      join(dir, 'a.parquet'),
      `1 AS id, ${samples} AS HR_night, 30::DECIMAL(9, 2) AS age`,
    );
    const { rows, bad } = await scoreOne(path, { to: 'ndjson' });
    t.strictSame([rows.length, bad.length], outcome === 'scored' ? [1, 0] : [0, 1], samples);
  }
  for (const age of ["'NaN'::DOUBLE", "'Infinity'::FLOAT", '131']) {
    const path = await table(join(dir, 'a.parquet'), `1 AS id, ${age} AS age`);
    t.equal((await scoreOne(path, { to: 'ndjson' })).bad.length, 1, age);
  }
});

t.test('a path means one file, with any letters in it', async (t) => {
  const dir = folder(t);
  await table(join(dir, 'a1.parquet'), '99 AS id, 30 AS age');
  for (const name of ['a[1].parquet', "a'; DROP TABLE x; --.parquet", 'a"b.parquet']) {
    const path = await table(join(dir, name), '1 AS id, 30 AS age');
    t.match((await scoreOne(path, { to: 'ndjson' })).rows, [{ id: 1 }], name);
  }
  const csv = join(dir, 'c[1].csv');
  writeFileSync(csv, 'id,age\n7,30\n');
  writeFileSync(join(dir, 'c1.csv'), 'id,age\n8,30\n');
  t.match((await scoreOne(csv, { to: 'ndjson' })).rows, [{ id: 7 }]);
});

t.test('what is kept keeps its type and its value', async (t) => {
  const dir = folder(t);
  const kept = [
    `12345678901234567890::UBIGINT AS a`,
    `1.25::DECIMAL(9, 2) AS b`,
    `DATE '2026-01-02' AS c`,
    `TIMESTAMPTZ '2026-01-02 03:04:05.678901+00' AS d`,
    `'x y'::BLOB AS e`,
    `[[1, NULL], NULL] AS f`,
    `{'k': 'a text longer than twelve', 'l': [1.5]} AS g`,
    `MAP {'m': 1} AS h`,
    `NULL::VARCHAR AS i`,
    `uuid() AS j`,
    `'n'::ENUM ('m', 'n') AS k`,
    `[1.5, 2]::FLOAT[2] AS l`,
    `true AS m`,
    `170141183460469231731687303715884105727::HUGEINT AS n`,
  ];
  const path = await table(join(dir, 'a.parquet'), `${kept.join(', ')}, 30 AS age`, 'FROM range(3)');
  const names = [...'abcdefghijklmn'];
  await scoreOne(path, { keep: names });
  const select = `SELECT ${names.map((name) => `${name}::VARCHAR AS ${name}`).join(', ')} FROM`;
  const output = join(dir, 'a.scores.parquet');
  t.strictSame(await queried(`${select} '${output}'`), await queried(`${select} '${path}'`));
  const types = (file: string): Promise<TableRow[]> =>
    queried(`SELECT column_name, column_type FROM (DESCRIBE SELECT ${names.join()} FROM '${file}')`);
  t.strictSame(await types(output), await types(path));
  const [line] = (await scoreOne(path, { keep: names, to: 'ndjson' })).scores.toString().split('\n');
  t.match(line, '"a":12345678901234567890,"b":1.25,"c":1767312000000,"d":1767323045678.901,"e":"782079",');
});

t.test('people are never mixed up: ids keep their digits, names their letters', async (t) => {
  const dir = folder(t);
  const ids = ['9007199254740993', '9007199254740992', '1E+05', '100000'];
  const seen = async (path: string, asked: Asked = {}): Promise<unknown> => {
    const history = { person: 'user_id', order: 'night' };
    const { scores } = await scoreOne(path, { history, to: 'csv', ...asked });
    const lines = scores.toString().split('\n').slice(1, -1);
    // Alone, a night has no past: all scores are those of a first night.
    return new Set(lines.map((line) => line.split(',')[3])).size;
  };
  const session = '{"age":30,"HR_night":[60,61]}';
  writeFileSync(
    join(dir, 'a.ndjson'),
    ids.map((id) => `{"user_id":${id},"night":"2026-01-01","current_session":${session}}\n`).join(''),
  );
  writeFileSync(
    join(dir, 'a.csv'),
    `user_id,night,age\n${ids.map((id) => `${id},2026-01-01,30\n`).join('')}`,
  );
  t.equal(await seen(join(dir, 'a.ndjson')), 1);
  t.equal(await seen(join(dir, 'a.csv')), 1);
  const latin = Buffer.from(
    `{"user_id":"M\u00fcller","night":"2026-01-01","current_session":${session}}\n`,
    'latin1',
  );
  const good = Buffer.from(latin.toString('latin1'), 'utf8');
  writeFileSync(join(dir, 'b.ndjson'), Buffer.concat([good, latin]));
  const { rows, bad } = await scoreOne(join(dir, 'b.ndjson'), { history: HISTORY });
  t.match([rows.length, bad], [1, [{ row: 2, detail: /not UTF-8, perhaps Latin-1/ }]]);
  writeFileSync(join(dir, 'b.csv'), Buffer.from('user_id,night,age\nM\u00fcller,2026-01-01,30\n', 'latin1'));
  const refusal = await scoreOne(join(dir, 'b.csv'), { history: HISTORY }).catch(String);
  t.match(refusal, /b.csv can't be read in line 2: it is not UTF-8: give --encoding latin-1/);
  t.notMatch(refusal, /ller/, 'no value of a row');
  const read = await scoreOne(join(dir, 'b.csv'), { history: HISTORY, encoding: 'latin-1' });
  t.match(read.scores.toString(), /^user_id.*\nM\u00fcller,/);
});

t.test('CSV of any delimiter, with a byte order mark, compressed, with blank lines', async (t) => {
  const dir = folder(t);
  const lines = ['id,HR_night,age', '1,60 61,30', '', '2,62 63,31'];
  const expected = [{ id: 1 }, { id: 2 }];
  const { gzipSync } = await import('node:zlib');
  const cases: readonly (readonly [string, string | Buffer])[] = [
    ['comma.csv', lines.join('\n')],
    ['semicolon.csv', `\uFEFF${lines.join('\r\n').replaceAll(',', ';')}`],
    ['tab.csv', lines.join('\n').replaceAll(',', '\t')],
    ['bar.csv', lines.join('\n').replaceAll(',', '|')],
    ['packed.csv.gz', gzipSync(lines.join('\n'))],
  ];
  for (const [name, text] of cases) {
    writeFileSync(join(dir, name), text);
    t.match((await scoreOne(join(dir, name), { to: 'ndjson' })).rows, expected, name);
  }
  const cut = gzipSync(lines.join('\n'));
  writeFileSync(join(dir, 'cut.csv.gz'), cut.subarray(0, cut.length - 12));
  await t.rejects(scoreOne(join(dir, 'cut.csv.gz'), { to: 'ndjson' }), { message: /cut.csv.gz/ });
});

t.test('CSV with line breaks in quotes, from any row on, is read in order', async (t) => {
  const path = join(folder(t), 'a.csv');
  const rows = Array.from({ length: 9_000 }, (_, row) => `${row},${row === 8_000 ? '"a\nb"' : 'a'},30`);
  writeFileSync(path, `id,kept,age\n${rows.join('\n')}\n`);
  const { rows: scored } = await scoreOne(path, { to: 'ndjson', keep: ['id', 'kept'] });
  t.strictSame(
    scored.map(({ id }) => id),
    rows.map((_, row) => row),
  );
  t.equal(scored[8_000]?.['kept'], 'a\nb');
});

t.test('a time with a zone has the date of that zone, a whole number its digits', async (t) => {
  const dir = folder(t);
  const orders: readonly (readonly [string, unknown])[] = [
    [`TIMESTAMP '2026-01-01 23:30:00'`, '2026-01-01'],
    [`TIMESTAMPTZ '2026-01-01 23:30:00+00'`, '2026-01-01'],
    [`DATE '2026-01-01'`, '2026-01-01'],
    [`'2026-01-01T23:30:00-05:00'`, '2026-01-01'],
    [`20260101::DOUBLE`, '20260101'],
    [`20454`, '20454'],
  ];
  for (const [sql, expected] of orders) {
    const path = await table(join(dir, 'a.parquet'), `${sql} AS night`);
    const [own] = (await querySource(await engine(), `SELECT * FROM '${path}'`, 'a')).columns;
    if (own === undefined) throw new Error('no column');
    const select = orderSql(own);
    const [row] = await queried(`SELECT ${select} AS night FROM '${path}'`);
    t.match(row?.['night'], expected, sql);
  }
  const time = `TIMESTAMPTZ '2026-01-01 23:30:00+00'`;
  const [column] = (await querySource(await engine(), `SELECT ${time} AS night`, 'a')).columns;
  if (column === undefined) throw new Error('no column');
  const berlin = orderSql({ ...column, sql: time, zone: 'Europe/Berlin' });
  t.strictSame(await queried(`SELECT ${berlin} AS night`), [{ night: '2026-01-02' }]);
});

/** Nights of three people, in an order of their own. */
function shuffled(): TableRow[] {
  return requestsOf('baseline', 30).map(({ current_session }, at) => {
    const n = (at * 7) % 30;
    return { id: n, user_id: `p${n % 3}`, night: 20_454 + Math.floor(n / 3), ...current_session };
  });
}

async function writeShuffled(dir: string, parts: number): Promise<string[]> {
  const rows = shuffled();
  const paths: string[] = [];
  for (let part = 0; part < parts; part++) {
    const json = join(dir, `${part}.json`);
    const own = rows.filter((_, at) => at % parts === part);
    writeFileSync(json, own.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const path = join(dir, `${part}.parquet`);
    await queried(`COPY (FROM read_json('${json}')) TO '${path}' (FORMAT parquet)`);
    paths.push(path);
  }
  return paths;
}

t.test('--sort: the rows of all files come by person and night, and none is late', async (t) => {
  const dir = folder(t);
  const paths = await writeShuffled(dir, 3);
  const asked = {
    history: HISTORY,
    outDir: join(dir, 'out'),
    to: 'ndjson',
    keep: ['id'],
    sort: true,
  } as const;
  const { files, error } = await runLake(paths, asked);
  const [sorted] = files;
  t.equal(error, undefined);
  t.strictSame(sorted?.bad, []);
  const nights = sorted?.rows.map(({ user_id, night }) => `${String(user_id)} ${String(night)}`) ?? [];
  t.strictSame(nights, nights.toSorted());
  t.equal(nights.length, 30);
  // Each row is numbered as it was read.
  const numbers = sorted?.rows.map(({ row }) => Number(row)).toSorted((a, b) => a - b);
  t.strictSame(
    numbers,
    Array.from({ length: 30 }, (_, n) => n + 1),
  );
  const [one = ''] = await writeShuffled(folder(t), 1);
  const alone = await scoreOne(one, { ...asked, outDir: join(dir, 'alone') });
  const scores = (rows: readonly TableRow[] = []): unknown => rows.map(({ id, memory }) => [id, memory]);
  t.strictSame(scores(sorted?.rows), scores(alone.rows));
  const other = await table(join(dir, 'other.parquet'), `1 AS id, 'p0' AS user_id, 20454 AS night, ${NIGHT}`);
  const odd = await runLake([one, other], { ...asked, outDir: join(dir, 'odd') });
  t.match(odd.error, { name: 'FormatError', message: /differ in .*: give both the same columns/ });
});

t.test(
  '--sql: a join and renamed columns give what the table would; what is no SELECT is refused',
  async (t) => {
    const dir = folder(t);
    const [nights = ''] = await writeShuffled(dir, 1);
    const plain = await scoreOne(nights, { to: 'ndjson', outDir: dir });
    const run = (sql: string, more: Asked = {}) =>
      runLake([], { sql, to: 'ndjson', outDir: join(dir, 'out'), ...more });
    const joined = `SELECT n.* EXCLUDE (HR_night, age), n.HR_night AS hr_NIGHT, p.age AS "AGE"
    FROM read_parquet('${nights}', file_row_number = true) n JOIN (SELECT id, age FROM '${nights}') p USING (id)
    ORDER BY n.file_row_number;`;
    const { told, files } = await run(joined);
    t.match(told, [/the query: all 16 fields of a session found/]);
    const scores = (rows: readonly TableRow[] = []): unknown =>
      rows.map(({ id, row, memory }) => [id, row, memory]);
    t.strictSame(scores(files[0]?.rows), scores(plain.rows));
    for (const [sql, message] of [
      ['SELECT 1; SELECT 2', /give one SELECT/],
      [`COPY (SELECT 1) TO '${join(dir, 'x')}'`, /no SELECT|give one/],
      ['SELECT x FROM nowhere', /Table with name nowhere does not exist/],
      [`SELECT 30 AS age FROM 's3://a/b.parquet'`, /it takes an extension: give --extension/],
      [`SELECT 30 AS age FROM delta_scan('x')`, /it takes an extension/],
      ["SELECT CAST('secret' AS INTEGER) AS age", /a value can't be cast to the type requested/],
    ] as const) {
      const { error } = await run(sql, { keep: ['age'] });
      t.match(error, { message }, sql);
      t.notMatch(String(error), /secret/);
    }
    const { error } = await run('SELECT 30 AS age', { extension: ['nothing'] });
    t.match(error, { message: /--extension nothing: DuckDB 1\.5\.5 has no such extension here/ });
  },
);

t.test(
  'an input that was written after its scores is scored again; with a state it is an error',
  async (t) => {
    const dir = folder(t);
    const [path = ''] = await writeShuffled(dir, 1);
    const run = () => runLake([path], { outDir: join(dir, 'out') });
    t.match(await run(), { todo: 1, error: undefined });
    t.match(await run(), { todo: 0 });
    const later = Date.now() / 1000 + 60;
    utimesSync(path, later, later);
    t.match(await run(), { todo: 1, told: [/written after its scores, and scored again/, String] });
    const states = () =>
      runLake([path], {
        outDir: join(dir, 'with'),
        history: HISTORY,
        late: 'place',
        state: join(dir, 'state'),
      });
    t.match(await states(), { todo: 1, error: undefined });
    utimesSync(path, later + 60, later + 60);
    t.match(await states(), { todo: 0, error: undefined }, 'the same bytes');
    const [other = ''] = await writeShuffled(folder(t), 2);
    copyFileSync(other, path);
    t.match(await states(), {
      error: { message: /was written again, and the state has its former sessions/ },
    });
  },
);

t.test('a stream that ends before the last row of a table ends the run', async (t) => {
  const path = await table(join(folder(t), 'a.parquet'), NIGHT, 'FROM range(3)');
  const source = await parquetSource(await engine(), path, 'a.parquet');
  t.equal(source.rows, 3);
  const short = { ...source, from: `(FROM ${source.from} LIMIT 2)` };
  const input = openSources(await engine(), [short], DEFAULT_SERIES_LIMITS, false);
  const pages = async (): Promise<void> => {
    for await (const page of input.pages({ keep: [], history: undefined })) t.equal(page.rows, 2);
  };
  await t.rejects(pages(), { name: 'TableError', message: "a.parquet can't be read: 2 of its 3 rows came" });
});
