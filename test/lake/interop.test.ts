import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { tableFromIPC, tableToIPC } from 'apache-arrow';
import t, { type Test } from 'tap';
import { folder, linesOf, modelScorer, runLake, runStream, scoreOne, type Asked } from '#fixtures/lake.js';
import { REPOSITORY, cleanEnvironment } from '#fixtures/repository.js';
import { ended } from '#fixtures/scripts.js';
import { startServer } from '#fixtures/server.js';
import type { TableRow } from '#fixtures/tables.js';

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

const scorer = await modelScorer();
t.teardown(() => scorer.close());

/** The name of a file up to its first dot. */
function stemOf(name: string): string {
  return name.replace(/\..*$/, '');
}

const isArrow = (name: string): boolean => /arrow|feather/.test(name);

/** Scores every table of `from` to `outDir`, Arrow as streams. @returns the rows of each, and of those refused the details */
async function score(t: Test, from: string, to: 'ndjson' | 'parquet' | 'csv', outDir = folder(t)) {
  const names = readdirSync(from);
  const asked: Asked = {
    explain: true,
    history: { person: 'person', order: 'at' },
    keep: ['id', 'person', 'token'],
    scorer,
  };
  const state = join(folder(t), 'state');
  const paths = names.filter((name) => !isArrow(name)).map((name) => join(from, name));
  const { files, error } = await runLake(paths, { ...asked, state, to, outDir });
  t.equal(error, undefined);
  const all = new Map(
    files.map(
      ({ input, rows, bad }) => [input.name, { rows, bad: bad.map(({ detail }) => detail) }] as const,
    ),
  );
  if (to !== 'ndjson') return all;
  for (const name of names.filter(isArrow)) {
    const bytes = readFileSync(join(from, name));
    const stream = name.endsWith('.arrows') ? bytes : tableToIPC(tableFromIPC(bytes), 'stream');
    const { output } = await runStream([stream], { ...asked, format: 'arrow', to: 'ndjson' });
    const lines = linesOf(output.toString());
    const errors = lines.flatMap(({ error: own }) =>
      own === undefined ? [] : [(own as TableRow)['detail']],
    );
    all.set(name, { rows: lines.filter((line) => !('error' in line)), bad: errors });
  }
  return all;
}

/** What every table says of a row: without the name of its own in its people, and the form of its times. */
function plain(name: string, { person, at: _at, inference_time_ms: _ms, ...row }: TableRow): TableRow {
  return { ...row, person: String(person).replace(stemOf(name), 'one') };
}

/** Every table has the scores, explanations and refusals of the requests. */
function holdAgainstRequests(t: Test, from: string, scored: Awaited<ReturnType<typeof score>>): void {
  t.ok(scored.size > 14);
  t.equal(scored.size, readdirSync(from).length);
  const requests = scored.get('requests.ndjson');
  const expected = requests?.rows.map((row) => plain('requests', row)) ?? [];
  t.equal(expected.length, 11);
  t.ok(expected.every(({ explanation }) => typeof explanation === 'object' && explanation !== null));
  for (const [name, { rows, bad }] of scored) {
    t.strictSame(
      rows.map((row) => plain(name, row)),
      expected,
      name,
    );
    t.strictSame(bad, requests?.bad, `the bad rows of ${name}`);
  }
}

t.test('tables of pyarrow, Polars, DuckDB and pandas are explained as the same requests are', async (t) => {
  holdAgainstRequests(t, WRITTEN, await score(t, WRITTEN, 'ndjson'));
});

t.test('what is no table here, and people of many files without a state, are said', async (t) => {
  for (const [name, message] of [
    ['older.feather', /Make Parquet of a file: python3 -c/],
    ['pasts.parquet', /the column past_sessions: a row of a table is one session/],
  ] as const)
    await t.rejects(scoreOne(join(UNREADABLE, name), { outDir: folder(t) }), { message });
  const { error } = await runLake([join(WRITTEN, '*.parquet')], {
    history: { person: 'person', order: 'at' },
  });
  t.match(error, { message: /these are \d+ files: --person needs --state/ });
});

t.test('those libraries write them and read the explanations, the same as over HTTP', { skip }, async (t) => {
  const server = await startServer(t);
  const run = async (...args: readonly string[]): Promise<Row[]> => {
    const env = cleanEnvironment({ PYTHONUTF8: '1', ACUITY_API_KEY: server.key });
    const { code, stdout, stderr } = await ended(python, ['-B', PROGRAM, ...args], { cwd: REPOSITORY, env });
    t.equal(code, 0, stderr);
    return linesOf(stdout) as Row[];
  };
  const from = folder(t);
  await run('write', from);
  const scored = await score(t, from, 'ndjson');
  holdAgainstRequests(t, from, scored);

  const asked = ASKED.map(([member]) => member);
  const answers = await run('ask', String(server.port), from, ...asked);
  const lines = scored.get('requests.ndjson')?.rows ?? [];
  const explained = new Map(lines.map(({ id, explanation }) => [String(id), explanation]));
  for (const { id, status, explanation } of answers.slice(0, -ASKED.length)) {
    t.equal(status, explained.has(id) ? 200 : 422, id);
    t.strictSame(explanation ?? undefined, explained.get(id), id);
  }
  for (const [place, [member, expected]] of ASKED.entries())
    t.match(answers.at(place - ASKED.length), expected, member);

  for (const to of ['parquet', 'csv'] as const) {
    const outDir = folder(t);
    const files = await score(t, from, to, outDir);
    const rows = await run('read', outDir);
    const libraries = new Set(rows.map(({ library }) => library));
    t.ok(libraries.size >= 3, [...libraries].join());
    t.equal(rows.length, libraries.size * files.size * explained.size);
    for (const { file, library, ...row } of rows) {
      const own = [...scored].find(([name]) => stemOf(name) === stemOf(String(file)))?.[1].rows;
      const line = own?.find(({ id }) => id === row.id);
      const expected = Object.keys(row).map((name) => [name, name === 'at' ? row[name] : line?.[name]]);
      t.strictSame(row, Object.fromEntries(expected), `${String(library)} reads ${String(file)}`);
    }
  }
});
