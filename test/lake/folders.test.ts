import { execFileSync } from 'node:child_process';
import { realpathSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import t, { type Test } from 'tap';
import { Engine } from '#acuity/lake/input/engine.js';
import { findInputs, type FindOptions } from '#acuity/lake/input/inputs.js';
import { requestsOf } from '#acuity/tune/load/payloads.js';
import { PAST, folder, runLake } from '#fixtures/lake.js';
import { writeFiles } from '#fixtures/repository.js';
import { writeRows, type TableRow } from '#fixtures/tables.js';

/** Files, folders and patterns, and folders that are partitions: their names are columns, in every format. */

function tree(t: Test, ...paths: readonly string[]): string {
  const root = realpathSync(folder(t));
  writeFiles(root, Object.fromEntries(paths.map((path) => [path, ''])));
  return root;
}

const engine = Engine.open({});
t.teardown(async () => (await engine).close());

/** Finds the files of patterns. */
async function read(root: string, names: readonly string[], options: Partial<FindOptions> = {}) {
  const told: string[] = [];
  const paths = names.map((name) => join(root, name));
  const say = (line: string): void => void told.push(line);
  const usual = { outDir: join(root, 'out'), say, engine: () => engine };
  const files = await findInputs({ files: paths, ...usual, ...options });
  const shown = files.map(({ path, output }) => [relative(root, path), relative(root, output)]);
  return { files, told, shown, names: shown.map(([name]) => name) };
}

t.test('files come by path, numbers by their size, or by the partition of --order', async (t) => {
  const names = ['2025-9-30', '2025-10-01', 'a', 'a9', 'a09', 'a10', 'a10b', 'a99999999999999999999', 'b'];
  const root = tree(t, ...names.toSorted().map((name) => `lake/${name}.csv`));
  const found = (await read(root, ['lake'])).names.map((name) => name?.slice(5, -4));
  t.strictSame(new Set(found.slice(3, 5)), new Set(['a9', 'a09']));
  t.strictSame(found.toSpliced(3, 2), names.toSpliced(3, 2));
  const regions = ['eu/night=01', 'eu/night=03', 'us/night=02'].map((path) => `lake/region=${path}/a.csv`);
  const lake = tree(t, ...regions);
  const nights = async (order: string) =>
    (await read(lake, ['lake'], { history: { ...PAST, order }, state: 'state' })).names
      .map((name) => name?.slice(-8, -6))
      .join();
  t.strictSame([await nights('night'), await nights('at')], ['01,02,03', '01,03,02']);
});

t.test('the scores of a folder lie in its folders, and no name leads out of it', async (t) => {
  const lake = 'lake/month=10/a.csv lake/month=9/a.csv lake/b.ndjson.gz flat/c.parquet';
  const far = 'far/x/a.csv far/..b=%2e%2e/a.csv other/a.ndjson far/y=..%2f../c.csv';
  const root = tree(t, ...`${lake} ${far}`.split(' '));
  const lines = ['lake/b.ndjson.gz', 'out/b.scores.ndjson'];
  const nine = ['lake/month=9/a.csv', 'out/month=9/a.scores.csv'];
  const ten = ['lake/month=10/a.csv', 'out/month=10/a.scores.csv'];
  const outside = [
    ['other/a.ndjson', 'out/a.scores.ndjson'],
    ['far/x/a.csv', 'out/x/a.scores.csv'],
    ['far/y=..%2f../c.csv', 'out/y=..%2f../c.scores.csv'],
  ];
  const cases: readonly (readonly [names: string, shown: unknown, options?: Partial<FindOptions>])[] = [
    ['lake', [lines, nine, ten]],
    ['lake/*', [lines, nine, ten]],
    ['lake/month=*', [nine, ten]],
    ['lake/*/?.csv', [nine, ten]],
    ['lake/**/a.csv', [nine, ten]],
    ['lake/month=9', [nine]],
    ['lake/month=10/a.csv lake/month=9/a.csv', [ten, nine]],
    ['flat/c.parquet flat flat/*', [['flat/c.parquet', 'out/c.scores.parquet']]],
    ['flat', [['flat/c.parquet', 'out/c.scores.csv']], { to: 'csv' }],
    ['lake/month=9', [['lake/month=9/a.csv', 'lake/month=9/a.scores.csv']], { outDir: undefined }],
    ['far/*/../../other/* far far/x/../x/a.csv', outside],
  ];
  for (const [names, shown, options] of cases)
    t.strictSame((await read(root, names.split(' '), options)).shown, shown, names);
});

t.test('what is not read of a folder is told', async (t) => {
  const hidden = '_SUCCESS .a.parquet.crc _temporary/0/a.parquet .hidden/a.csv k=1/_b.csv';
  const seen = 'k=1/a.csv _k=1/a.csv README.md 000000_0';
  const inLake = `${hidden} ${seen}`.split(' ').map((name) => `lake/${name}`);
  const root = tree(t, ...inLake, 'far/deep/b.csv', 'far/c.csv');
  execFileSync('mkfifo', [join(root, 'lake/pipe.csv')]);
  const links = {
    round: '.',
    up: '..',
    'k=1/up': '..',
    'a-latest': 'k=1',
    'a-latest.csv': 'k=1/a.csv',
    'lost.csv': 'nothing',
    self: 'self',
    'k=2': '../far/deep',
    'k=3': '../far',
    'n.csv': '../far/c.csv',
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, 'lake', name));
  const { names, told, shown } = await read(root, ['lake']);
  t.strictSame(names, ['lake/_k=1/a.csv', 'lake/k=1/a.csv', 'lake/n.csv']);
  t.strictSame(shown[2], ['lake/n.csv', 'out/n.scores.csv'], 'a link to elsewhere is followed');
  t.equal(told.length, 1);
  for (const part of [
    /5 hidden or begun with _ \(\S+lake\/_SUCCESS, \S+_temporary\/0\/a\.parquet, \S+\.a\.parquet\.crc, …\)/,
    /2 without a known ending \(\S+\/000000_0, \S+\/README\.md\)/,
    /1 no regular file \(\S+pipe\.csv\)/,
    /2 a link to nothing \(\S+lost\.csv, \S+self\)/,
    /1 read by another name \(\S+a-latest\.csv\)/,
    /6 a link to no file: name what it leads to \(\S+a-latest, \S+k=1\/up, \S+k=2, …\)/,
  ])
    t.match(told[0], part);
  const through = await read(root, ['lake/k=*/?.csv']);
  t.strictSame(through.names, ['lake/k=1/a.csv']);
  t.match(through.told, [/^not read: 2 a link to no file: name what it leads to \(\S+k=2, \S+k=3\)$/]);
  const twice = await read(root, ['far', 'lake']);
  t.strictSame(twice.names, ['far/c.csv', 'far/deep/b.csv', 'lake/_k=1/a.csv', 'lake/k=1/a.csv']);
  t.match(twice.told, [/; 2 read by another name \(\S+a-latest\.csv, \S+lake\/n\.csv\)$/]);
  const hive = await read(root, ['lake'], { format: 'parquet' });
  t.ok(hive.names.includes('lake/000000_0'), 'as Hive names its files');
  const written = ['a.scores.csv', 'a.scores.parquet', 'a.bad.ndjson', 'out/a.scores.csv', 'state.json'];
  const scored = tree(t, 'lake/a.csv', ...written.map((name) => `lake/${name}`));
  for (const outDir of [undefined, join(scored, 'lake/out'), join(scored, 'out')])
    for (const name of ['lake', 'lake/*.*']) {
      const state = join(scored, 'lake/state.json');
      t.strictSame((await read(scored, [name], { outDir, state })).names, ['lake/a.csv']);
    }
  const listed = await read(scored, ['lake/a.csv', 'lake/out/a.scores.csv']);
  t.strictSame(listed.names, ['lake/a.csv']);
  const one = /^not read: 1 named as scores, bad rows, their records or the state \(.*a\.scores\.csv\)$/;
  t.match(listed.told, [one]);
  const four = /4 named as .* \(\S+a\.bad\.ndjson, \S+a\.scores\.csv, \S+a\.scores\.parquet, …\)/;
  t.match((await read(scored, ['lake'])).told, [four]);
});

t.test('what would be written twice, a table with versions, and what is not there are refused', async (t) => {
  const files = 'a.scores.csv a/x.csv b/x.csv b/x.parquet c/k=1/k=2/x.csv empty/_SUCCESS';
  const versions = 'delta/_delta_log/0.json up/hudi/.hoodie/x ice/metadata/v1.metadata.json';
  const tables = 'delta/a.parquet up/hudi/a.parquet ice/data/a.parquet';
  const root = tree(t, ...`${files} ${versions} ${tables}`.split(' '));
  const cases: readonly (readonly [names: readonly string[], message: RegExp])[] = [
    [['a', 'b/x.csv'], /would both be scored to .*x\.scores\.csv: name the folder above/],
    [['b'], /would both be scored to .*x\.bad\.ndjson: rename one, or give each run/],
    [['c'], /two of its folders are partitions by one column/],
    [['delta'], /delta is a Delta table, whose files hold deleted rows too/],
    [['*/*.parquet'], /delta is a Delta table/],
    [['up'], /hudi is a Hudi table/],
    [['ice'], /is an Iceberg table/],
    [['ice/data'], /is an Iceberg table/],
    [['delta/*.parquet'], /is a Delta table/],
    [['up/hudi/a.parquet'], /is a Hudi table/],
    [['empty'], /empty: no file can be scored; not read: 1 hidden/],
    [['none.csv'], /there is no such file/],
    [['none/*.csv'], /there is no such file/],
    [['a/*.parquet'], /no file matches/],
    [['a.scores.csv'], /no file can be scored; not read: 1 named as scores/],
  ];
  symlinkSync('delta/a.parquet', join(root, 'link.parquet'));
  for (const [names, message] of [...cases, [['link.parquet'], /delta is a Delta table/]] as const)
    await t.rejects(read(root, names), message);
});

t.test('names of folders are columns', async (t) => {
  const path = 'x=1/lake/a b%20c=%C3%BC%2F/n=__HIVE_DEFAULT_PARTITION__/p=50%/e=/q=a=b/r=Zoë 50%/s=%FC';
  const { files } = await read(tree(t, `${path}/a.csv`), ['x=1']);
  // The last is not UTF-8, and yet apart from `Zoé 50%` and `%E9`.
  const values = { 'a b c': 'ü/', n: null, p: '50%', e: '', q: 'a=b', r: 'Zoë 50%', s: '%FC' };
  const columns = Object.entries(values).map(([name, value]) => ({ name, value }));
  t.strictSame(files[0]?.partitions, columns);
});

/** Nights of three people, four each, and one without a person. */
const NIGHTS: readonly TableRow[] = requestsOf('baseline', 13).map(({ current_session }, n) => ({
  ...current_session,
  ...(n === 1 ? { age: null } : n === 2 ? { sex: null } : {}),
  id: 'abcdefghijklm'[n],
  user_id: n === 12 ? null : String([7, 8, 10][n % 3]),
  night: `2026-01-0${1 + Math.floor(n / 3)}`,
}));
const GOOD = NIGHTS.slice(0, 12);

/** Rows as a partitioned tree: the columns `keys` stand in the names of folders alone. */
async function writeTree(root: string, rows: readonly TableRow[], keys: readonly string[], format: string) {
  const byFolder = new Map<string, TableRow[]>();
  for (const row of rows) {
    const none = (key: string): string => (key === 'age' ? '' : '__HIVE_DEFAULT_PARTITION__');
    const at = keys.map((key) => `${key}=${String(row[key] ?? none(key))}`).join('/');
    const rest = Object.fromEntries(Object.entries(row).filter(([name]) => !keys.includes(name)));
    byFolder.set(at, [...(byFolder.get(at) ?? []), rest]);
  }
  for (const [at, part] of byFolder) await writeRows(join(root, at, `part-0.${format}`), part);
}

/** Scores all below `path`, with one memory of people. @returns rows and bad rows, by id */
async function score(t: Test, path: string, keep: readonly string[], sort = false) {
  const [outDir, state] = [folder(t), join(folder(t), 'state')];
  const history = { person: 'user_id', order: 'night' };
  const { files, told } = await runLake([path], { outDir, to: 'ndjson', keep, history, state, sort });
  const rows = files
    .flatMap(({ rows: scored, bad }) => [...scored, ...bad])
    // An empty cell of CSV is left out.
    .map(({ file: _file, row: _row, user_id: own, ...rest }): TableRow => {
      return { ...rest, user_id: own ? String(own) : null };
    })
    .toSorted((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1));
  return { told, rows, text: files.map(({ text }) => text).join('') };
}

t.test('a partition is what a column would be, in every format and layout, also of a session', async (t) => {
  const dir = folder(t);
  const keep = ['id', 'user_id', 'night'];
  await writeRows(join(dir, 'all.ndjson'), NIGHTS);
  const { rows: expected } = await score(t, join(dir, 'all.ndjson'), keep);
  t.equal(expected.length, 13);
  t.match(expected[11], { id: 'l', user_id: '10', night: '2026-01-04', memory: Number });
  t.match(expected[12], { user_id: null, status: 422, detail: /the person of this row is missing/ });
  for (const format of ['ndjson', 'csv', 'parquet']) {
    // NDJSON has the fields of a session within an object.
    for (const keys of [['night', 'user_id'], format === 'ndjson' ? ['user_id'] : ['night', 'sex', 'age']]) {
      const root = join(dir, `${format}-${keys.join('-')}`);
      await writeTree(root, NIGHTS, keys, format);
      for (const sort of format === 'parquet' ? [false, true] : [false])
        t.strictSame((await score(t, root, keep, sort)).rows, expected, `${format} by ${keys.join()}`);
    }
    // A column of the file counts, not the folder; of the path only what is kept is written.
    const root = join(dir, `own-${format}/age=99/user_id=99/night=1999-01`);
    await writeRows(`${root}-01/all.${format}`, GOOD.slice(0, 6));
    await writeRows(`${root}-02/all.${format}`, GOOD.slice(6));
    for (const sort of format === 'ndjson' ? [false] : [false, true]) {
      const own = await score(t, join(dir, `own-${format}`), keep, sort);
      t.strictSame(own.rows, expected.slice(0, 12), format);
      const warnings = own.told.filter((line) => line.includes('not the folder')).slice(0, 3);
      t.match(warnings, [/ age of the file/, / user_id of the file counts, not the/, / night of the file/]);
      const one = await score(t, `${root}-01/all.${format}`, ['id'], sort);
      t.match(one.rows[0], { id: 'a', user_id: null, night: undefined }, 'no column of its folder');
      t.match(one.told.join(), / user_id of the file counts, .*, which the output keeps: --keep user_id /);
    }
    const one = { user_id: 'u', night: '2026-01-01', age: 30 };
    await writeRows(join(dir, `mixed-${format}/user_id=b/a.${format}`), [one, { ...one, user_id: null }]);
    const { rows: mixed } = await score(t, join(dir, `mixed-${format}`), []);
    t.match(mixed[1], { row: undefined, detail: /the person of this row is missing/ }, 'not the folder’s');
    await writeTree(join(dir, `people-${format}`), GOOD, ['user_id'], format);
    const { rows } = await score(t, join(dir, `people-${format}`), ['id']);
    t.match(rows[0], { id: 'a', user_id: null, night: '2026-01-01' }, format);
    const trees = [
      `people-${format} user_id`,
      ...(format === 'ndjson' ? [] : [`${format}-night-sex-age age`]),
    ];
    for (const [tree = '', name = ''] of trees.map((one) => one.split(' ')))
      for (const sort of format === 'ndjson' ? [false] : [false, true])
        t.match((await score(t, join(dir, tree), [name], sort)).text, RegExp(`"${name}":"\\d`), 'as text');
  }
});
