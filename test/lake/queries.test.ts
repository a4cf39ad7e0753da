import { join } from 'node:path';
import t, { type Test } from 'tap';
import { requestsOf } from '#acuity/tune/load/payloads.js';
import { folder, runLake, scoreOne, type Asked } from '#fixtures/lake.js';
import { queried, valuesOf, writeParquet, type TableRow } from '#fixtures/tables.js';

/** Runs over many tables, by `--sort` or `--sql`. */

const HISTORY = { person: 'person', order: 'at' };

/** Nights of three people, in an order of their own, in some files. */
async function writeShuffled(t: Test, parts: number): Promise<string[]> {
  const dir = folder(t);
  const nights = requestsOf('baseline', 30).map(({ current_session }, at) => {
    const n = (at * 7) % 30;
    const day = Date.UTC(2026, 0, 1 + Math.floor(n / 3));
    return { id: `n${n}`, person: `p${n % 3}`, at: day, ...current_session };
  });
  const paths = Array.from({ length: parts }, (_, part) => join(dir, `${part}.parquet`));
  for (const [part, path] of paths.entries()) {
    const own = nights.filter((_, at) => at % parts === part);
    await writeParquet(path, own);
  }
  return paths;
}

const ids = (of: readonly TableRow[] = []): unknown => of.map(({ id, memory }) => [id, memory]);

t.test('--sort: the rows of all files come by person and night, and none is late', async (t) => {
  const paths = await writeShuffled(t, 3);
  const asked = { history: HISTORY, to: 'ndjson', sort: true } as const;
  const { files, error } = await runLake(paths, { ...asked, outDir: folder(t) });
  t.equal(error, undefined);
  const { rows = [], bad } = files[0] ?? {};
  t.strictSame(bad, []);
  const nights = rows.map(({ person, at }) => `${String(person)} ${String(at)}`);
  t.strictSame(nights, nights.toSorted());
  const numbers = valuesOf(rows, 'row').map(Number);
  t.strictSame(new Set(numbers), new Set(Array.from({ length: 30 }, (_, n) => n + 1)), 'as they were read');
  const [one = ''] = await writeShuffled(t, 1);
  t.strictSame(ids(rows), ids((await scoreOne(one, asked)).rows));
  const other = join(folder(t), 'other.parquet');
  const night = `'n' AS id, 'p0' AS person, DATE '2026-01-01' AS at, 30 AS age`;
  await queried(`COPY (SELECT ${night}) TO '${other}' (FORMAT parquet)`);
  const odd = await runLake([one, other], { ...asked, outDir: folder(t) });
  t.match(odd.error, { message: /differ in .*: give both the same columns/ });
});

t.test('--sql: a join with renamed columns is what the table would be; no SELECT is refused', async (t) => {
  const [nights = ''] = await writeShuffled(t, 1);
  const run = (sql: string, more: Asked = {}) =>
    runLake([], { sql, to: 'ndjson', outDir: folder(t), ...more });
  const { told, files } = await run(
    `SELECT n.* EXCLUDE (HR_night, age), n.HR_night AS hr_NIGHT, p.age AS "AGE"
     FROM read_parquet('${nights}', file_row_number = true) n JOIN (SELECT id, age FROM '${nights}') p USING (id)
     ORDER BY n.file_row_number;`,
  );
  t.match(told, [/^the query: (?!.*not found .*\b(HR_night|age)\b).* found/]);
  t.strictSame(ids(files[0]?.rows), ids((await scoreOne(nights, { to: 'ndjson' })).rows));
  const cases: readonly (readonly [sql: string, message: RegExp, extension?: string])[] = [
    ['SELECT 1; SELECT 2', /give one SELECT/],
    [`COPY (SELECT 1) TO '/tmp/x'`, /no SELECT|give one/],
    ['SELECT x FROM nowhere', /Table with name nowhere does not exist/],
    [`SELECT 30 AS age FROM 's3://a/b.parquet'`, /it takes an extension: give --extension/],
    [`SELECT 30 AS age FROM delta_scan('x')`, /it takes an extension/],
    ["SELECT CAST('secret' AS INTEGER) AS age", /a value can't be cast to the type requested/],
    ['SELECT 30 AS age', /--extension none: DuckDB 1\.5\.5 has no such extension here/, 'none'],
  ];
  for (const [sql, message, extension] of cases) {
    const { error } = await run(sql, extension === undefined ? {} : { extension: [extension] });
    t.match(error, { message }, sql);
    t.notMatch(String(error), /secret/);
  }
});
