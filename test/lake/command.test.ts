import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import { arrowStreams } from '#acuity/lake/input/arrowStreams.js';
import { BAD_AGES } from '#fixtures/ages.js';
import { folder, rowsOf, runStream, scoreOne, type Asked } from '#fixtures/lake.js';
import { MODEL } from '#fixtures/model.js';
import { REPOSITORY, cleanEnvironment } from '#fixtures/repository.js';
import { FAULTY, makePipe, skipElsewhere } from '#fixtures/stops.js';
import { arrowOf, bodiesOf, csvOf, rowsOfArrow, writeParquet, type TableRow } from '#fixtures/tables.js';
import { PIPE_VARIABLE } from '#fixtures/troubles.js';
import { until } from '#fixtures/until.js';

/** `acuity score` as a process, and its standard input and output. */

const HISTORY = { person: 'person', order: 'at' };

/** Nights of some people, by time. */
function nights(count: number, people = 2): TableRow[] {
  return Array.from({ length: count }, (_, row) => ({
    id: `n${row}`,
    person: `p${row % people}`,
    at: Date.UTC(2025, 0, 1 + Math.floor(row / people), 7),
    HR_night: [60, 61 + (row % 7)],
    sleepTimeSeconds: 20_000 + row,
    age: 30,
  }));
}

const textOf = (rows: readonly TableRow[]): string => bodiesOf(rows, ['id', 'person', 'at']);

interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: 'pipe' | number;
  readonly nodeOptions?: readonly string[];
}

function start(
  t: Test,
  args: readonly string[],
  { env = {}, stdin = 'pipe', nodeOptions = [] }: StartOptions = {},
) {
  const child = spawn(
    process.execPath,
    [...nodeOptions, join(REPOSITORY, 'dist/main.js'), 'score', ...args],
    {
      env: cleanEnvironment({ ACUITY_WORKERS: '1', ACUITY_MODEL: MODEL, ...env }),
      stdio: [stdin, 'pipe', 'pipe'],
    },
  );
  t.teardown(() => child.kill('SIGKILL'));
  const { stdin: input, stdout: output, stderr: errors } = child;
  if (output === null || errors === null) throw new Error('no output');
  const into = input ?? new PassThrough();
  into.on('error', () => undefined); // a process that has ended takes no more
  let said = '';
  errors.setEncoding('utf8').on('data', (text: string) => (said += text));
  const closed = once(child, 'close').then(([code]) => ({ code: code as number | null, said }));
  return { child, input: into, output, closed };
}

t.test('of two runs with one state the second refuses, under any name of the file', async (t) => {
  const dir = folder(t);
  const state = join(dir, 'state');
  const night = (day: number): Buffer =>
    Buffer.from(`{"person":"p","at":"2025-01-0${day}T07:00:00Z","current_session":{"age":30}}\n`);
  const run = (input: Iterable<Buffer> | AsyncIterable<Buffer>, name: string) =>
    runStream(input, { history: HISTORY, state: join(dir, name) });
  t.equal((await run([night(1)], 'state')).error, undefined);
  symlinkSync(state, join(dir, 'link'));
  async function* meanwhile(): AsyncGenerator<Buffer> {
    for (const name of ['state', 'link']) {
      const { error, output } = await run([night(2)], name);
      t.match(error, {
        message: /state\.lock is held by process \d+ on .*wait until it ends, or delete the lock/s,
      });
      t.equal(output.length, 0);
    }
    yield night(2);
  }
  t.equal((await run(meanwhile(), 'state')).error, undefined);
  t.equal((await run([night(3)], 'link')).error, undefined);
  t.strictSame(readdirSync(dir), ['link', 'state']);
});

t.test('files of health data are new ones, their owner’s alone', async (t) => {
  const lines = `${textOf([{ ...nights(1)[0], at: null }])}nonsense\n`;
  const dir = t.testdir({ elsewhere: 'of somebody else', 'a.ndjson': lines });
  const elsewhere = join(dir, 'elsewhere');
  const names = ['a.scores.ndjson', 'a.bad.ndjson', 'state'];
  for (const name of names) symlinkSync(elsewhere, join(dir, `${name}.partial`));
  const { bad } = await scoreOne(join(dir, 'a.ndjson'), { history: HISTORY, state: join(dir, 'state') });
  t.equal(bad.length, 2);
  t.equal(readFileSync(elsewhere, 'utf8'), 'of somebody else');
  for (const name of names) {
    t.notOk(lstatSync(join(dir, name)).isSymbolicLink(), name);
    t.equal(statSync(join(dir, name)).mode & 0o777, 0o600, name);
  }
});

t.test('a worker that hangs ends the run, and is told', { skip: skipElsewhere }, async (t) => {
  const env = { ACUITY_HANG_MS: '500', ACUITY_BATCH_MAX: '256', [PIPE_VARIABLE]: makePipe(t) };
  const { input, closed } = start(t, [], { env, nodeOptions: FAULTY });
  input.end(`${JSON.stringify({ current_session: { age: BAD_AGES.hangs } })}\n`);
  const { code, said } = await closed;
  t.equal(code, 70);
  t.match(said, /a worker hangs after line 0: .*"worker 1 for scores.*"state":"S"/);
});

t.test('a reader that stops reading is no hang; one that goes away ends the work', async (t) => {
  const { child, input, output, closed } = start(t, [], {
    env: { ACUITY_HANG_MS: '500', ACUITY_BATCH_MAX: '256', ACUITY_QUEUE_MAX: '64' }, // for a batch
  });
  const lines = 12_000;
  input.write(textOf(nights(lines)));
  await once(output, 'readable');
  // Its lines do not fit into the pipe, and it waits for longer than counts for a hang.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  t.equal(child.exitCode, null);
  let count = 0;
  output.on('data', (chunk: Buffer) => {
    for (const byte of chunk) if (byte === 0x0a) count++;
  });
  await until(() => count === lines);
  output.destroy();
  input.end(textOf(nights(100)));
  const end = await closed;
  t.equal(end.code, 141);
  t.notMatch(end.said, /failed/);
});

t.test('what the engine sets aside is its owner’s, gone at the end, and after a crash', async (t) => {
  // No process has the number of the second; it is another user's where the test may say so, and stays.
  const isRoot = process.geteuid?.() === 0;
  const others = ['acuity-lake-of-another', ...(isRoot ? ['acuity-lake-99999999-theirs'] : [])];
  const dir = t.testdir({ temporary: Object.fromEntries(others.map((name) => [name, {}])) });
  const path = join(dir, 'a.parquet');
  const temporary = join(dir, 'temporary');
  if (isRoot) chownSync(join(temporary, 'acuity-lake-99999999-theirs'), 65534, 65534);
  await writeParquet(path, nights(20));
  const env = { TMPDIR: temporary };
  const { child, input, closed } = start(t, ['--format', 'csv'], { env });
  input.write('id,age\n');
  await until(() => readdirSync(temporary).length > others.length);
  const [own = ''] = readdirSync(temporary).filter((name) => !others.includes(name));
  t.equal(statSync(join(temporary, own)).mode & 0o777, 0o700);
  child.kill('SIGKILL');
  await closed;
  t.ok(existsSync(join(temporary, own)));
  // The file itself as standard input.
  const next = start(t, ['--format', 'parquet', '--to', 'ndjson'], { env, stdin: openSync(path, 'r') });
  const pieces: Buffer[] = [];
  for await (const piece of next.output) pieces.push(piece as Buffer);
  t.match(await next.closed, { code: 0 });
  t.equal(rowsOf(Buffer.concat(pieces).toString()).length, 20);
  t.strictSame(new Set(readdirSync(temporary)), new Set(others));
});

t.test('CSV comes through a pipe too', async (t) => {
  const rows = nights(120).map(({ at: _at, ...row }) => row);
  const bytes = Buffer.from(csvOf(rows));
  const asked = { format: 'csv', to: 'ndjson' } as const;
  const { output } = await runStream([bytes.subarray(0, 3), bytes.subarray(3)], asked);
  const lines = await runStream([Buffer.from(textOf(rows))]);
  const plain = (text: Buffer): unknown =>
    rowsOf(text.toString()).map((row) => ({ ...row, inference_time_ms: 0 }));
  t.strictSame(plain(output), plain(lines.output));
});

t.test('--tables: each table is answered before the next is read, with no past but its own', async (t) => {
  const asked: Asked = { format: 'arrow', keep: ['id', 'person'], history: HISTORY };
  const alone = async (rows: readonly TableRow[]): Promise<unknown> =>
    rowsOfArrow((await runStream([arrowOf(rows, 'float', 2)], asked)).output);
  const tables = [
    nights(6),
    nights(6),
    nights(9).slice(3),
    [{ ...nights(1)[0], age: 131 }, ...nights(3).slice(2)],
  ];
  const stdout = new PassThrough();
  const answers = arrowStreams(stdout);
  async function* input(): AsyncGenerator<Uint8Array> {
    for (const rows of tables) {
      const bytes = arrowOf(rows, 'float', 2);
      yield bytes.subarray(0, 1001);
      yield bytes.subarray(1001);
      // The input is still open: the answer waits for nothing after the table.
      const pieces: Uint8Array[] = [];
      for await (const piece of (await answers.next()).value ?? []) pieces.push(piece);
      const scored = rowsOfArrow(Buffer.concat(pieces));
      t.equal(scored.length, rows.length);
      t.strictSame(scored, await alone(rows));
    }
  }
  const { error, told, tally } = await runStream(input(), { ...asked, tables: true, stdout });
  t.equal(error, undefined);
  t.match(tally, { lines: 20, badLines: 1 });
  t.equal(told.filter((line) => / found HR_night/.test(line)).length, 1, told.join('\n'));
  for (const [bytes, message] of [
    [arrowOf(nights(6).toReversed(), 'float', 2), /row 3 is earlier than one of the same person/],
    [arrowOf(nights(6)).subarray(0, 1200), /the Arrow stream ends too early/],
    [Buffer.from('{"current_session":{}}\n'), /no message of Arrow's streaming format/],
  ] as const) {
    const ended = await runStream([arrowOf(nights(6)), bytes], { ...asked, tables: true, late: 'fail' });
    t.match(ended.error, { message });
    t.ok(ended.tally.lines >= 6, 'the table before is answered');
  }
});
