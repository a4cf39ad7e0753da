import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { MODEL } from '../fixtures/model.js';
import { REPOSITORY, cleanEnvironment } from '../fixtures/repository.js';
import { ended, type Ended } from '../fixtures/scripts.js';
import { startServer } from '../fixtures/server.js';

/**
 * Tables that other tools wrote (test/foreign/tables.py), explained with the past of each person. They lie beside the
 * tests as they were written once; where the libraries are there, they are written anew and the scores read by them.
 */

const WRITTEN = join(REPOSITORY, 'test/fixtures/tables-of-others');
const UNREADABLE = join(REPOSITORY, 'test/fixtures/tables-that-arrow-cannot-read');
const PROGRAM = join(REPOSITORY, 'test/foreign/tables.py');
const PREPARED = join(REPOSITORY, '.build/python/bin/python');
const python = existsSync(PREPARED) ? PREPARED : 'python3';
const imports = 'import duckdb, pandas, polars, pyarrow';
const areThere = spawnSync(python, ['-c', imports]).status === 0;
const skip = areThere ? false : 'npm run python -- tables installs the libraries';

interface Row extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly person: string;
}

const EXPLAINED = { status: 200, isExplained: true };
const PLAIN = { status: 200, isExplained: false };
const NO_BOOLEAN = { status: 422, detail: [{ loc: ['body', 'explain'], type: 'bool_type' }] };
/** A member beside the session, and what is answered. */
const ASKED: readonly (readonly [member: string, answer: object])[] = [
  ['"explain":true', EXPLAINED],
  ['"explain":false', PLAIN],
  ['"explain":null', PLAIN],
  ['"explain":"true"', NO_BOOLEAN],
  ['"explain":1', NO_BOOLEAN],
  ['"explain":[true]', NO_BOOLEAN],
  // As JSON is read nearly everywhere: the last one counts.
  ['"explain":false,"explain":true', EXPLAINED],
  ['"explain":true,"explain":false', PLAIN],
  ['"explain":"true","explain":true', EXPLAINED],
  ['"explain":true,"explain":1', NO_BOOLEAN],
  // An unknown field.
  ['"EXPLAIN":true', PLAIN],
  ['"Explain":1', PLAIN],
];

function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'acuity-interop-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function acuity(...args: readonly string[]): Promise<Ended> {
  const env = cleanEnvironment({ ACUITY_WORKERS: '1', ACUITY_MODEL: MODEL });
  return ended(process.execPath, [join(REPOSITORY, 'dist/main.js'), ...args], { cwd: REPOSITORY, env });
}

/** Scores every table of `from`. @returns the folder of the scores */
async function score(t: Test, from: string, to: string): Promise<string> {
  const out = folder(t);
  const state = join(folder(t), 'state');
  const args = [
    '--explain',
    '--person',
    'person',
    '--order',
    'at',
    '--state',
    state,
    '--keep',
    'id,person,token',
    '--to',
    to,
  ];
  const { code, stderr } = await acuity('score', join(from, '*'), ...args, '--out-dir', out);
  t.equal(code, 65, stderr); // a row of each table is refused
  return out;
}

function linesOf(text: string): Row[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Row);
}

/** The name of a file up to its first dot. */
function stemOf(name: string): string {
  return name.replace(/\..*$/, '');
}

/** The rows of a file of scores, of no matter which table; people have the name of theirs in front. */
function rowsOf(out: string, stem: string, ending = 'scores'): Row[] {
  const rows = linesOf(readFileSync(join(out, `${stem}.${ending}.ndjson`), 'utf8'));
  return rows.map(
    ({ person, ...row }) =>
      ({
        ...row,
        person: person.replace(stem, 'one'),
        at: typeof row['at'] === 'string' ? Date.parse(row['at'].replace(/\+00$/, 'Z')) : row['at'],
        ...('file' in row ? { file: stemOf(String(row['file'])).replace(stem, 'one') } : {}),
      }) as Row,
  );
}

/** Every table has the scores, explanations and refusals of the requests. */
function holdAgainstRequests(t: Test, from: string, out: string): void {
  const names = readdirSync(from);
  t.ok(names.length > 14, names.join());
  const rows = rowsOf(out, 'requests');
  t.equal(rows.length, 11);
  t.ok(rows.every(({ explanation }) => typeof explanation === 'object' && explanation !== null));
  for (const name of names) {
    const stem = stemOf(name);
    t.strictSame(rowsOf(out, stem), rows, name);
    t.strictSame(rowsOf(out, stem, 'bad'), rowsOf(out, 'requests', 'bad'), `the bad rows of ${name}`);
  }
}

t.test('tables of pyarrow, Polars, DuckDB and pandas are explained as the same requests are', async (t) => {
  holdAgainstRequests(t, WRITTEN, await score(t, WRITTEN, 'ndjson'));
});

t.test('what is no table for Arrow, and people of many files without a state, are said', async (t) => {
  const out = folder(t);
  // The first form of Feather; the second with its batches compressed; pasts in a column that holds structs.
  for (const [name, expected, said] of [
    ['older.feather', 65, /older.feather: the Arrow file can't be read/],
    ['compressed.feather', 65, /compressed.feather: the Arrow file can't be read.*: write it uncompressed/],
    ['pasts.parquet', 64, /pasts.parquet: the column past_sessions: a row of a table is one session/],
  ] as const) {
    const { code, stderr } = await acuity('score', join(UNREADABLE, name), '--out-dir', out);
    t.equal(code, expected);
    t.match(stderr, said);
  }
  const { code, stderr } = await acuity('score', join(WRITTEN, '*'), '--person', 'person', '--order', 'at');
  t.equal(code, 1);
  t.match(stderr, /these are \d+ files: --person needs --state/);
});

t.test('those libraries write them and read the explanations, the same as over HTTP', { skip }, async (t) => {
  const server = await startServer(t);
  const run = async (...args: readonly string[]): Promise<Row[]> => {
    const env = cleanEnvironment({ PYTHONUTF8: '1', ACUITY_API_KEY: server.key });
    const { code, stdout, stderr } = await ended(python, ['-B', PROGRAM, ...args], { cwd: REPOSITORY, env });
    t.equal(code, 0, stderr);
    return linesOf(stdout);
  };
  const from = folder(t);
  await run('write', from);
  const lines = await score(t, from, 'ndjson');
  holdAgainstRequests(t, from, lines);

  const asked = ASKED.map(([member]) => member);
  const answers = await run('ask', String(server.port), from, ...asked);
  const explained = new Map(rowsOf(lines, 'requests').map(({ id, explanation }) => [id, explanation]));
  for (const { id, status, explanation } of answers.slice(0, -ASKED.length)) {
    t.equal(status, explained.has(id) ? 200 : 422, id);
    t.strictSame(explanation ?? undefined, explained.get(id), id);
  }
  for (const [place, [member, expected]] of ASKED.entries())
    t.match(answers.at(place - ASKED.length), expected, member);

  for (const to of ['parquet', 'arrow', 'csv']) {
    const rows = await run('read', await score(t, from, to));
    const libraries = new Set(rows.map(({ library }) => library));
    t.ok(libraries.size >= 3, [...libraries].join());
    t.equal(rows.length, libraries.size * readdirSync(from).length * explained.size);
    const lineOf = new Map<string, Row>();
    for (const stem of readdirSync(from).map(stemOf))
      for (const { id, ...line } of linesOf(readFileSync(join(lines, `${stem}.scores.ndjson`), 'utf8')))
        lineOf.set(`${stem} ${id}`, { id, ...line });
    for (const { file, library, ...row } of rows) {
      const line = lineOf.get(`${stemOf(String(file))} ${row.id}`);
      const expected = Object.keys(row).map((name) => [name, line?.[name]]);
      t.strictSame(row, Object.fromEntries(expected), `${String(library)} reads ${String(file)}`);
    }
  }
});
