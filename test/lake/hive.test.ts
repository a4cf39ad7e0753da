import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { requestsOf } from '#acuity/load/payloads.js';
import { acuity, folder, runLake } from '#fixtures/lake.js';
import { REPOSITORY } from '#fixtures/repository.js';
import { ended } from '#fixtures/scripts.js';
import { tableOf, writeParquetFile, type TableRow } from '#fixtures/tables.js';

/** Folders that are partitions: their names are columns, in every format, and for every library that writes them. */

const PREPARED = join(REPOSITORY, '.build/python/bin/python');
const PROGRAM = join(REPOSITORY, 'test/foreign/hive.py');
const areThere = spawnSync(PREPARED, ['-c', 'import duckdb, pandas, polars, pyarrow']).status === 0;
const skip = areThere ? false : 'npm run python -- tables installs the libraries';
const FORMATS = ['ndjson', 'csv', 'parquet'] as const;

/** Nights of three people, four each, and one without a person. */
function nights(): TableRow[] {
  const sessions = requestsOf('baseline', 13).map(({ current_session }) => current_session);
  return sessions.map((session, n) => ({
    ...session,
    id: `n${n}`,
    user_id: n === 12 ? null : [7, 8, 10][n % 3],
    night: `2026-01-0${1 + Math.floor(n / 3)}`,
  }));
}

/** With people as text, as the fixtures write this column. */
function named(rows: readonly TableRow[]): TableRow[] {
  return rows.map((row) => ({ ...row, user_id: `p${String(row['user_id'])}` }));
}

async function write(path: string, rows: readonly TableRow[]): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  if (path.endsWith('.parquet')) return writeParquetFile(path, tableOf(rows, 'float'));
  const names = Object.keys(rows[0] ?? {});
  const cell = (value: unknown): string =>
    Array.isArray(value) ? value.join(' ') : value === null || value === undefined ? '' : String(value);
  const lines = path.endsWith('.csv')
    ? [names.join(), ...rows.map((row) => names.map((name) => cell(row[name])).join())]
    : rows.map(({ id, user_id, night, ...current_session }) =>
        JSON.stringify({ id, user_id, night, current_session }),
      );
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
}

/** Rows as a partitioned tree: the columns `keys` stand in the names of folders alone. */
async function writeTree(
  root: string,
  rows: readonly TableRow[],
  keys: readonly string[],
  format: string,
): Promise<void> {
  const byFolder = new Map<string, TableRow[]>();
  for (const row of rows) {
    const at = keys.map((key) => `${key}=${String(row[key] ?? '__HIVE_DEFAULT_PARTITION__')}`).join('/');
    const rest = Object.fromEntries(Object.entries(row).filter(([name]) => !keys.includes(name)));
    byFolder.set(at, [...(byFolder.get(at) ?? []), rest]);
  }
  for (const [at, part] of byFolder) await write(join(root, at, `part-0.${format}`), part);
}

/** Scores all below `path`, with one memory of people. @returns rows and bad rows, by night */
async function score(t: Test, path: string, keep: readonly string[], warnings: string[] = []) {
  const outDir = folder(t);
  const history = { person: 'user_id', order: 'night' };
  const { files, told, error } = await runLake([path], {
    outDir,
    to: 'ndjson',
    keep,
    history,
    state: join(folder(t), 'state'),
  });
  if (error !== undefined) throw error;
  warnings.push(...told.filter((line) => line.includes('not the folder')));
  return files.flatMap(({ rows, bad }) => [...rows, ...bad]);
}

function sorted(rows: readonly TableRow[]): TableRow[] {
  const idOf = ({ id }: TableRow): number => Number(String(id).slice(1));
  // An empty cell of CSV is left out.
  return rows
    .map(({ file: _file, row: _row, user_id = null, ...rest }): TableRow => ({
      ...rest,
      user_id: user_id === null ? null : String(user_id),
    }))
    .toSorted((a, b) => idOf(a) - idOf(b));
}

t.test('a partition is what a column would be, in every format and layout', async (t) => {
  const dir = folder(t);
  const keep = ['id', 'user_id', 'night'];
  await write(join(dir, 'all.ndjson'), nights());
  const expected = sorted(await score(t, join(dir, 'all.ndjson'), keep));
  t.equal(expected.length, 13);
  t.match(expected[11], { id: 'n11', user_id: '10', night: '2026-01-04', memory: Number });
  t.match(expected[12], { user_id: null, status: 422, detail: /the person of this row is missing/ });
  for (const format of FORMATS) {
    for (const keys of [['night', 'user_id'], ['user_id']]) {
      const root = join(dir, `${format}-${keys.join('-')}`);
      await writeTree(root, nights(), keys, format);
      t.strictSame(sorted(await score(t, root, keep)), expected, `${format} by ${keys.join()}`);
    }
  }
});

t.test('a column of the file itself counts, not the folder, which is told', async (t) => {
  for (const format of FORMATS) {
    const dir = folder(t);
    const rows = named(nights().slice(0, 12));
    await write(join(dir, `user_id=99/night=1999-01-01/all.${format}`), rows);
    const warnings: string[] = [];
    const scored = await score(t, dir, ['id', 'user_id', 'night'], warnings);
    t.match(warnings, [/ user_id of the file counts, not the folder/, / night of the file counts/]);
    t.strictSame(
      sorted(scored).map(({ user_id, night }) => [user_id, night]),
      rows.map(({ user_id, night }) => [user_id, night]),
      format,
    );
  }
});

t.test('what the path says of person and order stands in the files only where it is kept', async (t) => {
  for (const format of FORMATS) {
    const dir = folder(t);
    await writeTree(dir, nights().slice(0, 12), ['user_id'], format);
    const [row] = await score(t, dir, ['id']);
    t.notOk('user_id' in (row ?? {}), format);
    t.match(row, { id: 'n0', night: '2026-01-01', row: 1 }, format);
  }
});

t.test('a field of the session may be a partition of a table', async (t) => {
  for (const format of ['csv', 'parquet'] as const) {
    const dir = folder(t);
    const rows = named(nights())
      .slice(0, 12)
      .map((row, n) => ({ ...row, sex: n % 3 === 1 ? 'F' : 'M', age: 30 + (n % 2), height_cm: null }));
    await write(join(dir, `whole/all.${format}`), rows);
    await writeTree(join(dir, 'tree'), rows, ['night', 'sex', 'age'], format);
    const [whole, tree] = await Promise.all(
      ['whole', 'tree'].map(async (name) => sorted(await score(t, join(dir, name), ['id', 'night']))),
    );
    t.equal(whole?.length, 12);
    t.strictSame(tree, whole, format);
  }
});

t.test('a column that neither the file nor its path has is told', async (t) => {
  for (const format of ['csv', 'parquet'] as const) {
    const dir = folder(t);
    await writeTree(dir, nights(), ['night', 'user_id'], format);
    const asked = { outDir: folder(t), keep: [], history: { person: 'user', order: 'night' } };
    const { error } = await runLake([join(dir, 'night=2026-01-01')], { ...asked, state: join(dir, 'state') });
    t.match(error, /there is no column "user"/, format);
  }
});

t.test('tomorrow’s partition goes on with the state of today’s', async (t) => {
  const dir = folder(t);
  const rows = nights().slice(0, 12);
  const keys = ['night', 'user_id'];
  const run = (tree: string, state: string) =>
    runLake([join(dir, tree)], {
      history: { person: 'user_id', order: 'night' },
      to: 'ndjson',
      state: join(dir, state),
      outDir: join(dir, `${tree}-out`),
    });
  await writeTree(join(dir, 'once'), rows, keys, 'csv');
  await writeTree(join(dir, 'days'), rows.slice(0, 9), keys, 'csv');
  t.match(await run('once', 'state-once'), { todo: 12, error: undefined });
  t.match(await run('days', 'state-days'), { todo: 9, error: undefined });
  await writeTree(join(dir, 'days'), rows.slice(9), keys, 'csv');
  t.match(await run('days', 'state-days'), { todo: 3, error: undefined });
  for (const person of [7, 8, 10]) {
    const [once, days] = ['once', 'days'].map((tree) =>
      readFileSync(join(dir, `${tree}-out/night=2026-01-04/user_id=${person}/part-0.scores.ndjson`), 'utf8'),
    );
    t.equal(days, once);
  }
});

async function python(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await ended(PREPARED, ['-B', PROGRAM, ...args], { cwd: REPOSITORY });
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

t.test(
  'trees of pandas, Polars and DuckDB have the scores of one file, and are read by all of them',
  { skip },
  async (t) => {
    const dir = folder(t);
    await python('write', dir);
    const scored = async (name: string): Promise<string> => {
      const out = folder(t);
      const history = ['--person', 'user_id', '--order', 'night', '--state', join(folder(t), 'state')];
      const keep = name.endsWith('.parquet') ? 'id,user_id,night' : name === 'both' ? 'id,night' : 'id';
      const args = [join(dir, name), ...history, '--keep', keep, '--out-dir', out];
      const { code, stderr } = await acuity(['score', ...args]);
      t.equal(code, 65, `${name}: ${stderr}`); // a row is refused
      return out;
    };
    const outs = new Map<string, string>();
    for (const name of readdirSync(dir)) outs.set(name, await scored(name));
    t.strictSame([...outs.keys()], ['both', 'duckdb', 'nights.parquet', 'pandas', 'polars']);
    const one = outs.get('nights.parquet') ?? '';
    rmSync(join(one, 'nights.bad.ndjson')); // pandas would read it; that of a partition it does not
    const lines = (await python('read', ...outs.values())).split('\n').slice(0, -1);
    const linesOf = (out: string): string[] =>
      lines
        .filter((line) => line.includes(out))
        .map((line) => line.replace(out, ''))
        .toSorted();
    t.equal(linesOf(one).length, 3 * 11);
    for (const [name, out] of outs) t.strictSame(linesOf(out), linesOf(one), name);
  },
);
