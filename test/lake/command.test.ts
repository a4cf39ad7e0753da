import { once } from 'node:events';
import { chownSync, openSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text as wholeText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { arrowStreams } from '#acuity/lake/input/arrowStreams.js';
import { partialName } from '#acuity/base/files/atomicFile.js';
import { Engine, told } from '#acuity/lake/input/engine.js';
import { BAD_AGES } from '#fixtures/ages.js';
import { PAST, fileOf, rowsOf, runStream, type Asked } from '#fixtures/lake.js';
import { acuity, started } from '#fixtures/scripts.js';
import { FAULTY, makePipe, skipElsewhere } from '#fixtures/stops.js';
import { arrowOf, bodiesOf as textOf, nights, rowsOfArrow, table, writeParquet } from '#fixtures/tables.js';
import { PIPE_VARIABLE } from '#fixtures/troubles.js';
import { until } from '#fixtures/until.js';

/** `acuity score` as a process, and its standard input and output. */

/** A batch that takes its time is no hang. */
const HANGS_SOON = { ACUITY_HANG_MS: '500', ACUITY_BATCH_MAX: '256', ACUITY_QUEUE_MAX: '64' };

t.test('a worker that hangs ends the run, and is told', { skip: skipElsewhere }, async (t) => {
  const env = { ...HANGS_SOON, NODE_OPTIONS: FAULTY.join(' '), [PIPE_VARIABLE]: makePipe(t) };
  t.match(await acuity(['score'], env, textOf([{ age: BAD_AGES.hangs }])), {
    code: 70,
    stderr: /a worker hangs after line 0: .*"worker 1 for scores.*"state":"S"/,
  });
});

t.test(
  'a worker that hangs takes no row from the next run, while another ends its own',
  { skip: skipElsewhere },
  async (t) => {
    const path = fileOf(
      t,
      'a.ndjson',
      textOf([...nights(255), { age: BAD_AGES.lags }, ...nights(255), { age: BAD_AGES.hangs }]),
    );
    const env = {
      ...HANGS_SOON,
      ACUITY_WORKERS: '2',
      NODE_OPTIONS: FAULTY.join(' '),
      [PIPE_VARIABLE]: makePipe(t),
    };
    const out = join(dirname(path), 'out');
    // A process that starves may be killed before its end.
    const { code, stderr } = await acuity(['score', '--out-dir', out, path], env);
    t.ok([70, null].includes(code), `${code}: ${stderr}`);
    t.match(stderr, /a worker hangs/);
    t.strictSame(readdirSync(out), ['_a.acuity.lock'], stderr);
  },
);

t.test('a reader that stops reading is no hang; one that goes away ends the work', async (t) => {
  const { child, stdout, closed } = started(t, ['score'], HANGS_SOON);
  const lines = 12_000;
  child.stdin?.write(textOf(nights(lines)));
  await once(stdout, 'readable');
  // Its lines do not fit into the pipe, and it waits for longer than counts for a hang.
  await sleep(2_000);
  t.equal(child.exitCode, null);
  let count = 0;
  stdout.on('data', (chunk: Buffer) => (count += chunk.toString('latin1').split('\n').length - 1));
  await until(() => count === lines);
  stdout.destroy();
  child.stdin?.end(textOf(nights(100)));
  t.match(await closed, { code: 141, stderr: /^(?!.*failed)/s });
});

t.test('what the engine sets aside is its owner’s, gone at the end, and after a crash', async (t) => {
  const left = (pid: number, host = '$1'): string =>
    partialName('acuity-lake').replace(/\.(\w+)-\d+-\w+-\d+/, `.${host}-${pid}-0123456789ab`);
  // No process here has this number; another user's folder stays where the test may make one.
  const [gone, theirs] = [left(99999999), `of-another-${left(99999999)}`];
  const others = ['acuity-lake', left(process.ppid), left(99999999, '0badcafe')];
  if (process.geteuid?.() === 0) others.push(theirs);
  const all = [...others, gone, left(process.pid)];
  const dir = t.testdir(Object.fromEntries(all.map((name) => [name, { spilled: '' }])));
  if (others.includes(theirs)) chownSync(join(dir, theirs), 65534, 65534);
  const text = '"a\n\n\r\n\nb"\u0001';
  const path = fileOf(t, 'a.csv', text);
  const full = told('a.csv', () =>
    Promise.reject(new Error('IO Error: Could not write: No space left on device')),
  );
  await t.rejects(full, { name: 'Error', message: "a.csv can't be read: TMPDIR has no room for what" });
  const { TMPDIR } = process.env;
  t.teardown(() => (TMPDIR === undefined ? delete process.env['TMPDIR'] : (process.env['TMPDIR'] = TMPDIR)));
  process.env['TMPDIR'] = dir;
  const listeners = process.listenerCount('exit');
  await runStream([]); // a run that needs no engine
  t.strictSame(new Set(readdirSync(dir)), new Set(others));
  const engine = await Engine.open({});
  t.equal(statSync(engine.folder).mode & 0o777, 0o700);
  t.strictSame(new Set(readdirSync(dir)), new Set([...others, basename(engine.folder)]));
  await engine.upload(path, `${path}.copy`);
  t.equal(readFileSync(`${path}.copy`, 'utf8'), text, 'byte by byte, as into a store');
  engine.close();
  t.strictSame(new Set(readdirSync(dir)), new Set(others));
  t.equal(process.listenerCount('exit'), listeners, 'of many that are closed none is left');
});

t.test('a file of Parquet is standard input too', async (t) => {
  const path = await writeParquet(fileOf(t, 'a.parquet'), nights(20));
  const args = ['score', '--format', 'parquet', '--to', 'ndjson'];
  const { stdout, closed } = started(t, args, {}, openSync(path, 'r'));
  t.equal(rowsOf(await wholeText(stdout)).length, 20);
  t.match(await closed, { code: 0 });
  const zoned = await table(fileOf(t, 'c.parquet'), `TIMESTAMPTZ '2026-01-02 03:00:00+00' AS at, 30 AS age`);
  const there = { TZ: 'America/New_York' };
  t.match(await acuity(['score', zoned, '--keep', 'at', '--to', 'csv'], there), { code: 0 });
  t.match(readFileSync(zoned.replace('parquet', 'scores.csv'), 'utf8'), '2026-01-02 03:00:00+00,1,');
  const refused = await acuity(['score', fileOf(t, 'b.parquet', 'no Parquet')]);
  t.match(refused, { code: 65, stderr: /^acuity score: b.parquet can't be read/ }, 'its name once');
});

t.test('--tables: each table is answered before the next is read, with no past but its own', async (t) => {
  const asked: Asked = { format: 'arrow', keep: ['id', 'person'], history: PAST };
  const bad = { ...nights(1)[0], age: 131 };
  const tables = [nights(6), nights(6), nights(9).slice(3), [bad, ...nights(3).slice(2)]];
  const stdout = new PassThrough();
  const write = async (bytes: string | Uint8Array): Promise<void> => void stdout.write(bytes);
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
      t.strictSame(scored, (await runStream([bytes], asked)).rows);
    }
  }
  const { told, ...run } = await runStream(input(), { ...asked, tables: true, write });
  t.match(run, { error: undefined, tally: { lines: 20, badLines: 1 } });
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
