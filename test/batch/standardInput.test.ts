import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { requestsOf } from '#acuity/load/payloads.js';
import { MODEL } from '#fixtures/model.js';
import { REPOSITORY, cleanEnvironment } from '#fixtures/repository.js';
import { rowsOfTable, tableOf, writeArrow, writeParquetFile } from '#fixtures/tables.js';

const ROWS = requestsOf('baseline', 200).map(({ current_session }, n) => ({
  id: `n${n}`,
  ...current_session,
}));

function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'acuity-stdin-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function start(t: Test, args: readonly string[], stdin: 'pipe' | number, env = {}): ChildProcess {
  const child = spawn(process.execPath, [join(REPOSITORY, 'dist/main.js'), 'score', ...args], {
    env: cleanEnvironment({ ACUITY_WORKERS: '1', ACUITY_MODEL: MODEL, ...env }),
    stdio: [stdin, 'pipe', 'pipe'],
  });
  child.stdin?.on('error', () => undefined);
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

async function ended(child: ChildProcess) {
  const stdout: Buffer[] = [];
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr, stdout: Buffer.concat(stdout) };
}

/** Scores a file as standard input: a pipe, in pieces, or the file itself. */
async function score(t: Test, path: string, how: 'pipe' | 'file', args: readonly string[]) {
  if (how === 'file') {
    const file = openSync(path, 'r');
    t.teardown(() => closeSync(file));
    return ended(start(t, args, file));
  }
  const child = start(t, args, 'pipe');
  const done = ended(child);
  const bytes = readFileSync(path);
  child.stdin?.write(bytes.subarray(0, 3));
  await sleep(50);
  child.stdin?.end(bytes.subarray(3));
  return done;
}

const withoutTime = (bytes: Buffer): string =>
  bytes.toString().replaceAll(/"inference_time_ms":[\d.]+,/g, '');

t.test('Parquet and Arrow files come through a pipe, or as the file itself', async (t) => {
  const dir = folder(t);
  const path = (name: string): string => join(dir, name);
  writeParquetFile(path('a.parquet'), tableOf(ROWS, 'float'));
  writeArrow(path('a.arrow'), tableOf(ROWS, 'float'), 'file');
  writeArrow(path('a.arrows'), tableOf(ROWS, 'float'), 'stream');
  const cases = [
    ...(['a.parquet', 'a.arrow', 'a.arrows'] as const).map((name) => ({ how: 'pipe', name }) as const),
    ...(['a.parquet', 'a.arrow'] as const).map((name) => ({ how: 'file', name }) as const),
  ];
  let expected: string | undefined;
  for (const { how, name } of cases) {
    const format = name.endsWith('parquet') ? 'parquet' : 'arrow';
    const { code, stderr, stdout } = await score(t, path(name), how, ['--format', format, '--to', 'ndjson']);
    t.equal(code, 0, stderr);
    expected ??= withoutTime(stdout);
    t.equal(expected.split('\n').length, ROWS.length + 1);
    t.equal(withoutTime(stdout), expected, `${name} by ${how}`);
  }
  const { stdout } = await score(t, path('a.parquet'), 'pipe', ['--format', 'parquet']);
  const rows = rowsOfTable(stdout, 'parquet');
  t.equal(rows.length, ROWS.length);
  t.match(rows[199], { id: 'n199', memory: Number, error: null });
});

t.test('what is no such file is refused', async (t) => {
  const { code, stderr } = await score(t, join(REPOSITORY, 'package.json'), 'pipe', ['--format', 'parquet']);
  t.equal(code, 65);
  t.match(stderr, /the Parquet file can't be read/);
});

t.test('the copy of standard input has no name, so that no end leaves it', async (t) => {
  const dir = folder(t);
  const child = start(t, ['--format', 'parquet'], 'pipe', { TMPDIR: dir });
  const done = ended(child);
  child.stdin?.write('PAR1');
  const open = `/proc/${child.pid}/fd`;
  const isCopied = (): boolean => {
    try {
      return readdirSync(open).some((fd) => /acuity-input.*\(deleted\)/.test(linkOf(join(open, fd))));
    } catch {
      return false;
    }
  };
  for (let look = 0; look < 600 && !isCopied(); look++) await sleep(100);
  t.ok(isCopied());
  t.strictSame(readdirSync(dir), []);
  child.kill('SIGKILL');
  await done;
  t.strictSame(readdirSync(dir), []);
});

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // closed since
  }
}
