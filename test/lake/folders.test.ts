import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import t, { type Test } from 'tap';
import type { FindOptions } from '#acuity/lake/inputs.js';
import { filesOf } from '#fixtures/lake.js';

function tree(t: Test, paths: readonly string[]): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'acuity-folders-')));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
  }
  return root;
}

async function read(root: string, names: readonly string[], options: Partial<FindOptions> = {}) {
  const told: string[] = [];
  const tell = (line: string): void => void told.push(line);
  const files = await filesOf(
    names.map((name) => join(root, name)),
    { outDir: join(root, 'out'), tell, ...options },
  );
  const shown = files.map(({ path, output }) => [relative(root, path), relative(root, output)]);
  return { files, told, shown, names: shown.map(([name]) => name) };
}

t.test('numbers in names are sorted by their size', async (t) => {
  const names = ['2025-9-30', '2025-10-01', 'a', 'a9', 'a09', 'a10', 'a10b', 'a99999999999999999999', 'b'];
  const root = tree(
    t,
    names.toSorted().map((name) => `lake/${name}.csv`),
  );
  const found = (await read(root, ['lake'])).names.map((name) => name?.slice(5, -4));
  t.strictSame(new Set(found.slice(3, 5)), new Set(['a9', 'a09']));
  t.strictSame(found.toSpliced(3, 2), names.toSpliced(3, 2));
});

t.test('the scores of a folder lie in its folders, with all that are partitions', async (t) => {
  const root = tree(t, ['lake/month=10/a.csv', 'lake/month=9/a.csv', 'lake/b.ndjson.gz', 'flat/c.parquet']);
  const all = [
    ['lake/b.ndjson.gz', 'out/b.scores.ndjson'],
    ['lake/month=9/a.csv', 'out/month=9/a.scores.csv'],
    ['lake/month=10/a.csv', 'out/month=10/a.scores.csv'],
  ];
  t.strictSame((await read(root, ['lake'])).shown, all);
  t.strictSame((await read(root, ['lake/*'])).shown, all);
  t.strictSame((await read(root, ['lake/month=*'])).shown, all.slice(1));
  t.strictSame((await read(root, ['lake/*/*.csv'])).shown, all.slice(1));
  t.strictSame((await read(root, ['lake/month=9'])).shown, [all[1]]);
  t.strictSame((await read(root, ['lake/month=10/a.csv', 'lake/month=9/a.csv'])).shown, [all[2], all[1]]);
  t.strictSame((await read(root, ['flat/c.parquet', 'flat', 'flat/*'])).shown, [
    ['flat/c.parquet', 'out/c.scores.parquet'],
  ]);
  const beside = (await read(root, ['lake'], { outDir: undefined, to: 'csv' })).shown[1];
  t.strictSame(beside, ['lake/month=9/a.csv', 'lake/month=9/a.scores.csv']);
});

t.test('no name leads out of the folder of the scores', async (t) => {
  const root = tree(t, ['lake/x/a.csv', 'lake/..b=%2e%2e/a.csv', 'other/a.ndjson', 'lake/y=..%2f../c.csv']);
  const { shown } = await read(root, ['lake/*/../../other/*', 'lake', 'lake/x/../x/a.csv']);
  t.strictSame(shown, [
    ['other/a.ndjson', 'out/a.scores.ndjson'],
    ['lake/x/a.csv', 'out/x/a.scores.csv'],
    ['lake/y=..%2f../c.csv', 'out/y=..%2f../c.scores.csv'],
  ]);
});

t.test('what is not read of a folder is told', async (t) => {
  const hidden = ['_SUCCESS', '.a.parquet.crc', '_temporary/0/a.parquet', '.hidden/a.csv', 'k=1/_b.csv'];
  const root = tree(t, [
    ...hidden.map((name) => `lake/${name}`),
    'lake/k=1/a.csv',
    'lake/_k=1/a.csv',
    'lake/README.md',
    'lake/000000_0',
    'far/deep/b.csv',
    'far/c.csv',
  ]);
  execFileSync('mkfifo', [join(root, 'lake/pipe.csv')]);
  const link = (target: string, name: string): void => symlinkSync(target, join(root, 'lake', name));
  link('.', 'round');
  link('..', 'up');
  link('k=1', 'a-latest');
  link('k=1/a.csv', 'a-latest.csv');
  link('nothing', 'lost.csv');
  link('self', 'self');
  link('../far/deep', 'k=2');
  link('../far', 'k=3');
  link('../far/c.csv', 'n.csv');
  const { names, told, shown } = await read(root, ['lake']);
  t.strictSame(names, ['lake/_k=1/a.csv', 'lake/k=1/a.csv', 'lake/n.csv']);
  t.strictSame(shown[2], ['lake/n.csv', 'out/n.scores.csv'], 'a link to elsewhere is followed');
  t.equal(told.length, 1);
  for (const part of [
    /5 hidden or begun with _ \(_SUCCESS, _temporary\/0\/a\.parquet, \.a\.parquet\.crc, …\)/,
    /2 without a known ending \(000000_0, README\.md\)/,
    /1 no regular file \(pipe\.csv\)/,
    /2 a link to nothing \(lost\.csv, self\)/,
    /1 a link to what is read anyway \(a-latest\.csv\)/,
    /5 a link to no file: name what it leads to \(a-latest, k=2, k=3, …\)/,
  ])
    t.match(told[0], part);
  t.ok(
    (await read(root, ['lake'], { format: 'parquet' })).names.includes('lake/000000_0'),
    'as Hive names its files',
  );
});

t.test('what runs have written and remember is not read again', async (t) => {
  const written = ['a.scores.csv', 'a.scores.parquet', 'a.bad.ndjson', 'out/a.scores.csv', 'state.json'];
  const root = tree(t, ['lake/a.csv', ...written.map((name) => `lake/${name}`)]);
  for (const outDir of [undefined, join(root, 'lake/out'), join(root, 'out')]) {
    const state = join(root, 'lake/state.json');
    t.strictSame((await read(root, ['lake'], { outDir, state })).names, ['lake/a.csv']);
    t.strictSame((await read(root, ['lake/*.*'], { outDir, state })).names, ['lake/a.csv']);
  }
  t.match((await read(root, ['lake'])).told, [
    /4 scores or bad rows \(a\.bad\.ndjson, a\.scores\.csv, a\.scores\.parquet, …\)/,
  ]);
});

t.test('what would be written twice is refused', async (t) => {
  const root = tree(t, ['a/x.csv', 'b/x.csv', 'b/x.parquet', 'c/k=1/k=2/x.csv']);
  await t.rejects(
    read(root, ['a', 'b/x.csv']),
    /would both be scored to .*x\.scores\.csv: name the folder above/,
  );
  await t.rejects(read(root, ['b']), /would both be scored to .*x\.bad\.ndjson/);
  await t.rejects(read(root, ['c']), /two of its folders are partitions by one column/);
});

t.test('a table with versions is no folder of files', async (t) => {
  const root = tree(t, [
    'delta/_delta_log/0.json',
    'delta/a.parquet',
    'up/hudi/.hoodie/x',
    'up/hudi/a.parquet',
    'ice/metadata/v1.metadata.json',
    'ice/data/a.parquet',
    'empty/_SUCCESS',
  ]);
  await t.rejects(read(root, ['delta']), /delta is a Delta table, whose files hold deleted rows too/);
  await t.rejects(read(root, ['up']), /hudi is a Hudi table/);
  await t.rejects(read(root, ['ice']), /is an Iceberg table/);
  await t.rejects(read(root, ['empty']), /no file in it can be scored; not read: 1 hidden/);
});

t.test('names of folders are columns', async (t) => {
  const path = 'x=1/lake/a b%20c=%C3%BC%2F/n=__HIVE_DEFAULT_PARTITION__/p=50%/e=/q=a=b';
  const { files } = await read(tree(t, [`${path}/a.csv`]), ['x=1']);
  t.strictSame(files[0]?.partitions, [
    { name: 'a b c', value: 'ü/' },
    { name: 'n', value: null },
    { name: 'p', value: '50%' },
    { name: 'e', value: '' },
    { name: 'q', value: 'a=b' },
  ]);
});

t.test('files come in the order of the partition that --order names', async (t) => {
  const paths = ['eu/night=2026-01-01', 'eu/night=2026-01-03', 'us/night=2026-01-02'];
  const root = tree(
    t,
    paths.map((path) => `lake/region=${path}/a.csv`),
  );
  const nights = ({ names }: Awaited<ReturnType<typeof read>>) => names.map((name) => name?.slice(-8, -6));
  t.strictSame(nights(await read(root, ['lake'], { order: 'night' })), ['01', '02', '03']);
  t.strictSame(nights(await read(root, ['lake'], { order: 'at' })), ['01', '03', '02']);
});
