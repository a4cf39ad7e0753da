import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tableFromIPC, tableToIPC } from 'apache-arrow';
import t, { type Test } from 'tap';
import { PAST, folder, modelScorer, rowsOf, runLake, runStream, type Asked } from '#fixtures/lake.js';
import { REPOSITORY, cleanEnvironment, writeFiles } from '#fixtures/repository.js';
import { acuity, ended, running, type Environment } from '#fixtures/scripts.js';
import type { TableRow } from '#fixtures/tables.js';

/**
 * Tables, trees and stores of other tools (test/foreign/tables.py, hive.py). Some lie beside the tests as they were
 * written once; where the libraries are there, they are written anew and the scores read by them.
 */

const WRITTEN = join(REPOSITORY, 'test/fixtures/tables-of-others');
const PREPARED = join(REPOSITORY, '.build/python/bin/python');
const PYTHON = existsSync(PREPARED) ? PREPARED : 'python3';
const imports = 'import deltalake, duckdb, moto.server, pandas, polars; from pyarrow.fs import S3FileSystem';
const areThere = spawnSync(PYTHON, ['-c', imports]).status === 0;
const skip = areThere ? false : 'npm run python -- tables installs the libraries';
const BY_NIGHT = ['--person', 'user_id', '--order', 'night'];

/** The output of a program of test/foreign. */
async function python(program: string, args: readonly string[], env: Environment = {}): Promise<string> {
  const whole = { env: cleanEnvironment({ ...env, PYTHONUTF8: '1' }) };
  const path = join(REPOSITORY, 'test/foreign', program);
  const { code, stdout, stderr } = await ended(PYTHON, ['-B', path, ...args], whole);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

const scorer = await modelScorer(t);

/** The name of a file up to its first dot. */
const stemOf = (name: string): string => name.replace(/\..*$/, '');
const isArrow = (name: string): boolean => /arrow|feather/.test(name);

/** Scores every table of `from` to `outDir`, Arrow as streams. @returns the rows of each, and of those refused the details */
async function score(t: Test, from: string, to: 'ndjson' | 'parquet' | 'csv', outDir = folder(t)) {
  const names = readdirSync(from);
  const asked: Asked = { explain: true, history: PAST, keep: ['id', 'person', 'token'], zone: 'UTC', scorer };
  const paths = names.filter((name) => !isArrow(name)).map((name) => join(from, name));
  const { files, error } = await runLake(paths, { ...asked, state: join(folder(t), 'state'), to, outDir });
  t.equal(error, undefined);
  const detailsOf = (rows: readonly TableRow[]): unknown[] => rows.map(({ detail }) => detail);
  const scored = files.map(({ input, rows, bad }) => [input.name, { rows, bad: detailsOf(bad) }] as const);
  const all = new Map(scored);
  if (to !== 'ndjson') return all;
  for (const name of names.filter(isArrow)) {
    const bytes = readFileSync(join(from, name));
    const stream = name.endsWith('.arrows') ? bytes : tableToIPC(tableFromIPC(bytes), 'stream');
    const { rows: lines } = await runStream([stream], { ...asked, format: 'arrow', to: 'ndjson' });
    const errors = lines.flatMap(({ error: own }) => (own === undefined ? [] : [own as TableRow]));
    all.set(name, { rows: lines.filter((line) => !('error' in line)), bad: detailsOf(errors) });
  }
  return all;
}

/** Every table has the scores, explanations and refusals of the requests. */
function holdAgainstRequests(t: Test, from: string, scored: Awaited<ReturnType<typeof score>>): void {
  // Without the name of the table in its people, and the form of its times.
  const plain = (name: string, { person, at: _at, inference_time_ms: _ms, ...row }: TableRow): TableRow => {
    return { ...row, person: String(person).replace(stemOf(name), 'one') };
  };
  t.ok(scored.size > 14);
  t.equal(scored.size, readdirSync(from).length);
  const requests = scored.get('requests.ndjson');
  const expected = requests?.rows.map((row) => plain('requests', row)) ?? [];
  t.equal(expected.length, 11);
  t.ok(expected.every(({ explanation }) => typeof explanation === 'object' && explanation !== null));
  for (const [name, { rows, bad }] of scored) {
    const own = rows.map((row) => plain(name, row));
    t.strictSame([own, bad], [expected, requests?.bad], name);
  }
}

t.test('tables of pyarrow, Polars, DuckDB and pandas are explained as the same requests are', async (t) => {
  holdAgainstRequests(t, WRITTEN, await score(t, WRITTEN, 'ndjson'));
});

t.test('those libraries write them and read the explanations', { skip }, async (t) => {
  const from = folder(t);
  await python('tables.py', ['write', from]);
  const scored = await score(t, from, 'ndjson');
  holdAgainstRequests(t, from, scored);

  for (const to of ['parquet', 'csv'] as const) {
    const outDir = folder(t);
    const files = await score(t, from, to, outDir);
    const rows = rowsOf(await python('tables.py', ['read', outDir]));
    const libraries = new Set(rows.map(({ library }) => library));
    t.ok(libraries.size >= 3, [...libraries].join());
    t.equal(rows.length, libraries.size * files.size * 11);
    for (const { file, library, ...row } of rows) {
      const own = [...scored].find(([name]) => stemOf(name) === stemOf(String(file)))?.[1].rows;
      const line = own?.find(({ id }) => id === row['id']);
      const expected = Object.keys(row).map((name) => [name, name === 'at' ? row[name] : line?.[name]]);
      t.strictSame(row, Object.fromEntries(expected), `${String(library)} reads ${String(file)}`);
    }
  }
});

t.test('trees of pandas, Polars and DuckDB have the scores of one file', { skip }, async (t) => {
  const dir = folder(t);
  await python('hive.py', ['write', dir]);
  const outs = new Map<string, string>();
  for (const name of readdirSync(dir)) {
    const keep = name.endsWith('.parquet') ? 'id,user_id,night' : name === 'both' ? 'id,night' : 'id';
    const out = folder(t);
    const past = [...BY_NIGHT, '--state', join(folder(t), 'state')];
    const run = await acuity(['score', join(dir, name), ...past, '--keep', keep, '--out-dir', out]);
    t.equal(run.code, 65, `${name}: ${run.stderr}`); // a row is refused
    outs.set(name, out);
  }
  t.strictSame([...outs.keys()], ['both', 'duckdb', 'nights.parquet', 'pandas', 'polars']);
  const one = outs.get('nights.parquet') ?? '';
  rmSync(join(one, 'nights.bad.ndjson')); // pandas would read it; that of a partition it does not
  const lines = (await python('hive.py', ['read', ...outs.values()])).split('\n').slice(0, -1);
  const linesOf = (out: string): string[] =>
    lines.flatMap((line) => (line.includes(out) ? [line.replace(out, '')] : [])).toSorted();
  t.equal(linesOf(one).length, 3 * 11);
  for (const [name, out] of outs) t.strictSame(linesOf(out), linesOf(one), name);
});

t.test('a lake in S3 is scored to S3, a Delta table by --sql: as the file is', { skip }, async (t) => {
  const dir = folder(t);
  const keys = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_REGION: 'us-east-1' };
  const store = running(t, [PYTHON, ...'-m moto.server -H 127.0.0.1 -p 0'.split(' ')]);
  const env = { ...keys, AWS_ENDPOINT_URL: await store.says(/http:\/\/127\.0\.0\.1:\d+/) };
  await python('hive.py', ['write', dir]);
  await python('hive.py', ['put', join(dir, 'pandas')], env);
  const extension = async (name: string): Promise<readonly string[]> => [
    '--extension',
    (await python('hive.py', ['extension', name])).trim(),
  ];
  const [httpfs, delta] = [await extension('httpfs'), await extension('delta')];
  const run = (...args: readonly string[]) =>
    acuity(['score', ...args, ...BY_NIGHT, '--sort', '--keep', 'id,user_id,night'], env);
  const isWhole = { code: 65, stderr: /^(?!.*not read)/s }; // a row is refused
  const scoresOf = (text: string): unknown =>
    rowsOf(text)
      .filter(({ error, status }) => (error ?? status ?? undefined) === undefined)
      // The value of a partition is text.
      .map(({ id, user_id, night, C_SCORE, memory }) => [id, String(user_id), night, C_SCORE, memory])
      .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  const file = join(dir, 'nights.parquet');
  t.match(await run(file, '--to', 'ndjson', '--out-dir', dir), isWhole);
  const expected = scoresOf(readFileSync(join(dir, 'nights.scores.ndjson'), 'utf8'));
  t.match(expected, { length: 11 });
  t.match(await run('s3://nights/lake/**/*.parquet', ...httpfs, '--out-dir', 's3://scores/2025'), isWhole);
  const written = 's3://scores/2025/sorted.scores.parquet';
  t.strictSame(scoresOf(await python('hive.py', ['get', written], env)), expected);
  await python('hive.py', ['delta', file]);
  const to = ['--to', 'ndjson', '--out-dir', join(dir, 'out')];
  t.match(await run('--sql', `SELECT * FROM delta_scan('${file}.delta')`, ...delta, ...to), isWhole);
  t.strictSame(scoresOf(readFileSync(join(dir, 'out/query.scores.ndjson'), 'utf8')), expected);
  // CSV comes from a store byte by byte; keys may be like patterns, and results may be there from before.
  const cells = 'id,note,HR_night,age\n1,"a\r\n\nb\0, ""c""","[60,61]",30\n\n2,é,60 61,31\n';
  const results = ['[1].scores', '[1].bad', '2.scores', '2.bad'];
  const former = Object.fromEntries(results.map((name) => [`${name}.ndjson`, 'old\n']));
  const tables = { 'a.csv': cells, 'a.csv.gz': gzipSync(cells), '[1].csv': 'age\n131', '2.csv': 'age\n30' };
  const odd = { 'odd/what?.parquet': readFileSync(file) };
  writeFiles(join(dir, 'cells'), { ...tables, ...former, ...odd });
  await python('hive.py', ['put', join(dir, 'cells')], env);
  const texts = new Set<string>();
  const same = [join(dir, 'cells/a.csv'), 's3://nights/lake/a.csv', 's3://nights/lake/a.csv.gz'];
  const lines = [...httpfs, '--to', 'ndjson', '--out-dir'];
  for (const [at, path] of same.entries()) {
    const kept = ['--keep', 'id,note', ...lines, join(dir, `${at}`)];
    t.match(await acuity(['score', path, ...kept], env), { code: 0 });
    texts.add(readFileSync(join(dir, `${at}/a.scores.ndjson`), 'utf8'));
  }
  t.equal(texts.size, 1, [...texts].join('\n'));
  const again = ['score', 's3://nights/lake/[[2]*.csv', ...lines, 's3://nights/lake'];
  t.match(await acuity(again, env), { code: 65, stderr: /2 lines in .* 1 bad/ });
  const blank = "SELECT size AS age FROM read_blob('s3://nights/lake/*.ndjson') WHERE size = 1";
  const sizes = ['score', '--sql', blank, ...httpfs, '--out-dir', folder(t)];
  t.match(await acuity(sizes, env), { code: 0, stderr: /2 lines in/ }, 'a blank line in their places');
  t.match(await acuity(again, env), { stderr: /2 of 2 files are finished already/ });
  // Before any row is scored: a store that lacks the bucket, and a key that the engine reads as another one.
  const refused = async (from: string, to: string, said: RegExp): Promise<void> =>
    void t.match(await run(from, ...httpfs, '--out-dir', to), { stderr: said });
  await refused(file, 's3://nowhere', /there is no such bucket: check its name, or make it/);
  await refused('s3://nights/lake', 's3://scores/odd', /reads what follows \? as settings: rename/);
  await python('hive.py', ['put', `${file}.delta`], env);
  await refused('s3://nights/lake', 's3://scores/versions', /lake is a Delta table, .* hold deleted rows/);
});
