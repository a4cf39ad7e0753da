import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { folder } from '#fixtures/lake.js';
import { MODEL } from '#fixtures/model.js';
import { REPOSITORY, cleanEnvironment } from '#fixtures/repository.js';
import { tableOf, writeArrow, writeParquetFile, type TableRow } from '#fixtures/tables.js';

const ROWS: TableRow[] = Array.from({ length: 200 }, (_, row) => ({
  id: `n${row}`,
  HR_night: [60, 61 + (row % 7)],
  sleepTimeSeconds: 20_000 + row,
}));

function start(args: readonly string[], stdin: 'pipe' | number, env = {}) {
  return spawn(process.execPath, [join(REPOSITORY, 'dist/main.js'), 'score', ...args], {
    env: cleanEnvironment({ ACUITY_WORKERS: '1', ACUITY_MODEL: MODEL, ...env }),
    stdio: [stdin, 'pipe', 'pipe'],
  });
}

/** Scores a file as standard input: a pipe, in pieces, or the file itself. */
async function score(t: Test, path: string, how: 'pipe' | 'file', args: readonly string[]) {
  const file = how === 'file' ? openSync(path, 'r') : undefined;
  const child = start(args, file ?? 'pipe');
  t.teardown(() => child.kill('SIGKILL'));
  const stdout: Buffer[] = [];
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin?.on('error', () => undefined);
  const bytes = readFileSync(path);
  child.stdin?.write(bytes.subarray(0, 3), () => child.stdin?.end(bytes.subarray(3)));
  const [code] = (await once(child, 'close')) as [number | null];
  if (file !== undefined) closeSync(file);
  return { code, stderr, stdout: Buffer.concat(stdout) };
}

const withoutTime = (bytes: Buffer): string =>
  bytes.toString().replaceAll(/"inference_time_ms":[\d.]+,/g, '');

t.test('each format comes through a pipe or as the file itself, or is refused with the remedy', async (t) => {
  const dir = folder(t);
  const path = (name: string): string => join(dir, name);
  await writeParquetFile(path('a.parquet'), tableOf(ROWS, 'float'));
  writeArrow(path('a.arrows'), tableOf(ROWS, 'float'), 'stream');
  const csv = ROWS.map(({ id, HR_night, sleepTimeSeconds }) => [
    id,
    (HR_night as number[]).join(' '),
    sleepTimeSeconds,
  ]);
  writeFileSync(
    path('a.csv'),
    `id,HR_night,sleepTimeSeconds\n${csv.map((cells) => `${cells.join()}\n`).join('')}`,
  );
  const cases = [
    ['a.parquet', 'file', undefined],
    ['a.parquet', 'pipe', /Parquet is read from its end.*name the file/],
    ['a.arrows', 'pipe', undefined],
    ['a.csv', 'file', undefined],
    ['a.csv', 'pipe', undefined],
  ] as const;
  let expected: string | undefined;
  for (const [name, how, refusal] of cases) {
    const format = name.split('.')[1]?.replace('arrows', 'arrow') ?? '';
    const { code, stderr, stdout } = await score(t, path(name), how, ['--format', format, '--to', 'ndjson']);
    if (refusal !== undefined) {
      t.match({ code, stderr }, { code: 65, stderr: refusal }, `${name} by ${how}`);
      continue;
    }
    t.equal(code, 0, stderr);
    expected ??= withoutTime(stdout);
    t.equal(expected.split('\n').length, ROWS.length + 1);
    t.equal(withoutTime(stdout), expected, `${name} by ${how}`);
  }
});

t.test('what the engine sets aside is its owner’s, gone at the end, and after a crash', async (t) => {
  const dir = folder(t);
  const child = start(['--format', 'csv'], 'pipe', { TMPDIR: dir });
  child.stdin?.write('id,age\n');
  const isThere = (): boolean => readdirSync(dir).some((name) => name.startsWith('acuity-lake-'));
  while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 20));
  for (const name of readdirSync(dir)) t.equal(statSync(join(dir, name)).mode & 0o777, 0o700);
  child.kill('SIGKILL');
  await once(child, 'close');
  t.ok(isThere());
  mkdirSync(join(dir, 'acuity-lake-of-another'));
  const next = start(['--format', 'csv'], 'pipe', { TMPDIR: dir });
  next.stdin?.end('id,age\n1,30\n');
  await once(next, 'close');
  t.strictSame(readdirSync(dir), ['acuity-lake-of-another']);
});
