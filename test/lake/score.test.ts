import { execFileSync, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  createWriteStream,
  existsSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { HistoryDesk } from '#acuity/history/historyDesk.js';
import { AcuityClient } from '#acuity/client/client.js';
import { History, memoryStorage } from '#acuity/client/history.js';
import type { Session } from '#acuity/client/contract.js';
import { requestsOf } from '#acuity/load/payloads.js';
import { MODEL } from '../fixtures/model.js';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { startServer } from '../fixtures/server.js';

const REQUEST = JSON.stringify(
  JSON.parse(readFileSync(join(REPOSITORY, 'docs/examples/request.json'), 'utf8')),
);

/** People whose nights are compared with `History` over HTTP, as with `ACUITY_TEST_PEOPLE=100 npm test -- batch/score`. */
const PEOPLE = Number(process.env['ACUITY_TEST_PEOPLE'] ?? 6);
const NIGHTS = 9;

type Environment = Readonly<Record<string, string>>;

function startScore(
  t: Test,
  env: Environment = {},
  args: readonly string[] = [],
): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [join(REPOSITORY, 'dist/main.js'), 'score', ...args], {
    cwd: REPOSITORY,
    env: cleanEnvironment({ ACUITY_WORKERS: '1', ACUITY_MODEL: MODEL, ...env }),
  });
  child.stdin.on('error', () => undefined); // a process that has ended takes no more
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

async function score(t: Test, input: string, env?: Environment, args?: readonly string[]) {
  const child = startScore(t, env, args);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr, lines: stdout.split('\n').slice(0, -1) };
}

/** Without what a line of the output has beyond an answer, and without the time. */
function answerOf(line: string): object {
  const answer = JSON.parse(line) as Record<string, unknown>;
  delete answer['model'];
  delete answer['model_version'];
  delete answer['row'];
  return { ...answer, inference_time_ms: 0 };
}

function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'acuity-score-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** What is being written in `path`, of files that begin so. */
function partials(path: string, begin: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path).filter((name) => name.startsWith(begin) && name.endsWith('.partial'));
}

interface Night {
  readonly person: string;
  readonly at: string;
  readonly session: Session;
}

/** The nights of some people, by time, with a night that can't be scored. */
function nights(): Night[] {
  const sessions = requestsOf('baseline', 64).map(({ current_session }) => current_session as Session);
  return Array.from({ length: NIGHTS * PEOPLE }, (_, row) => {
    const person = row % PEOPLE;
    const night = Math.floor(row / PEOPLE);
    const at = new Date(Date.UTC(2025, 0, 1 + night, 7, 0, person)).toISOString();
    const session = sessions[(row * 11) % 64] ?? {};
    return { person: `p${person}`, at, session: row === PEOPLE + 1 ? { ...session, age: 131 } : session };
  });
}

function textOf(rows: readonly Night[]): string {
  return rows
    .map(
      ({ person, at, session }, row) =>
        `${JSON.stringify({ id: row, person, at, current_session: session })}\n`,
    )
    .join('');
}

t.test(
  'a line gets the scores that the service gives for it, and rows the past that History gives',
  async (t) => {
    const server = await startServer(t);
    const other = JSON.stringify({ current_session: { age: 70, sex: 'M', HR_night: [80, 82, 81] } });
    const answers: unknown[] = [];
    for (const body of [REQUEST, other]) {
      const headers = { 'X-API-Key': server.key, 'Content-Type': 'application/json' };
      const answer = await fetch(`http://127.0.0.1:${server.port}/predict`, {
        method: 'POST',
        headers,
        body,
      });
      answers.push(answerOf(await answer.text()));
    }
    const { code, lines, stderr } = await score(t, `${REQUEST}\nnonsense\n${other}\n${REQUEST}`);
    t.equal(code, 65, stderr);
    t.strictSame(
      [0, 2, 3].map((line) => answerOf(lines[line] ?? '')),
      [answers[0], answers[1], answers[0]],
    );
    t.strictSame(JSON.parse(lines[1] ?? ''), {
      row: 2,
      error: { line: 2, status: 400, detail: 'Malformed JSON at byte 1' },
    });
    const [found, bad, summary] = stderr.split('\n');
    t.match(found, /^acuity score: standard input: all 16 fields of a session found$/);
    t.equal(bad, 'acuity score: standard input: row 2 has no scores (400): Malformed JSON at byte 1');
    t.match(summary, /^acuity score: 4 lines in [\d.]+ s \([\d,]+\/s\), 1 bad, the first is row 2$/);

    const dir = folder(t);
    const rows = nights();
    const half = 4 * PEOPLE + 2;
    writeFileSync(join(dir, 'nights-1.ndjson'), textOf(rows.slice(0, half)));
    writeFileSync(join(dir, 'nights-2.ndjson'), textOf(rows.slice(half)));
    const args = [join(dir, 'nights-*.ndjson'), '--keep', 'person,at', '--person', 'person', '--order', 'at'];
    const client = new AcuityClient({ url: `http://127.0.0.1:${server.port}`, apiKey: server.key });
    const history = new History(client, memoryStorage());
    const expected: unknown[] = [];
    for (const { person, at, session } of rows) {
      const prediction = await history.score(person, session).catch(() => undefined);
      if (prediction !== undefined) expected.push({ person, at, ...prediction.scores });
    }
    t.equal(expected.length, rows.length - 1);
    const outputs: string[][] = [];
    for (const workers of ['1', '2']) {
      const out = join(dir, workers);
      const more = ['--out-dir', out, '--state', join(dir, `state-${workers}`)];
      const run = await score(t, '', { ACUITY_WORKERS: workers }, [...args, ...more]);
      t.equal(run.code, 65, run.stderr);
      t.strictSame(readdirSync(out), [
        'nights-1.bad.ndjson',
        'nights-1.scores.ndjson',
        'nights-2.scores.ndjson',
      ]);
      const text = ['nights-1', 'nights-2'].map((name) =>
        readFileSync(join(out, `${name}.scores.ndjson`), 'utf8'),
      );
      outputs.push([...text, readFileSync(join(dir, `state-${workers}`), 'utf8')]);
    }
    t.strictSame(
      outputs[0]?.slice(0, 2),
      outputs[1]?.slice(0, 2),
      'the same bytes with any number of workers',
    );
    t.equal(outputs[0]?.[2], outputs[1]?.[2], 'and the same state');
    const scored = `${outputs[0]?.[0]}${outputs[0]?.[1]}`.split('\n').slice(0, -1);
    const plain = scored.map((line) => {
      const { model: _, model_version: __, row: ___, ...rest } = JSON.parse(line) as Record<string, unknown>;
      return rest;
    });
    t.strictSame(plain, expected, 'to the last digit');
    t.match(JSON.parse(readFileSync(join(dir, '1/nights-1.bad.ndjson'), 'utf8')), {
      person: 'p1',
      file: 'nights-1.ndjson',
      row: PEOPLE + 2,
      status: 422,
      detail: [{ loc: ['body', 'current_session', 'age'] }],
    });
  },
);

t.test(
  'killed half-way and run again: complete, nothing twice, nothing finished is scored again',
  async (t) => {
    const dir = folder(t);
    const rows = nights();
    const third = Math.ceil(rows.length / 3);
    const [first = '', second = '', last = ''] = [0, 1, 2].map((part) =>
      textOf(rows.slice(part * third, (part + 1) * third)),
    );
    const files = ['a', 'b', 'c'].map((name) => join(dir, `${name}.ndjson`));
    const [a = '', b = '', c = ''] = files;
    writeFileSync(a, first);
    writeFileSync(c, last);
    // A pipe that gives half of what it has, and then nothing: so the run is in the middle of the second file.
    execFileSync('mkfifo', [b]);
    const out = join(dir, 'out');
    const args = [
      ...files,
      '--person',
      'person',
      '--order',
      'at',
      '--state',
      join(dir, 'state'),
      '--out-dir',
      out,
    ];
    const child = startScore(t, {}, args);
    child.stdin.end();
    const pipe = createWriteStream(b);
    pipe.on('error', () => undefined); // its reader is killed
    t.teardown(() => {
      pipe.destroy();
      // If the pipe got no reader, its opening is still pending, and this process would wait for it.
      closeSync(openSync(b, constants.O_RDONLY | constants.O_NONBLOCK));
    });
    pipe.write(second.slice(0, second.length / 2));
    const ended = once(child, 'close');
    const endsMs = Date.now() + 60_000;
    // It is open once somebody reads it.
    while (pipe.pending || partials(out, 'b.scores.ndjson').length === 0) {
      if (Date.now() > endsMs || child.exitCode !== null) throw new Error('the second file was never begun');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    child.kill('SIGKILL');
    await ended;
    pipe.destroy();
    t.notOk(existsSync(join(out, 'b.scores.ndjson')));
    t.ok(readdirSync(dir).includes('state.lock'), 'and its lock stays');
    const finished = join(out, 'a.scores.ndjson');
    const { mtimeMs, ino } = statSync(finished);
    rmSync(b);
    writeFileSync(b, second);
    const again = await score(t, '', {}, args);
    t.equal(again.code, 0, again.stderr);
    t.strictSame(partials(out, ''), [], 'nothing of the killed run is left');
    t.notOk(readdirSync(dir).includes('state.lock'));
    t.match(again.stderr, /1 of 3 files are finished already/);
    t.match(statSync(finished), { mtimeMs, ino }, 'the first file is the one of before');
    const names = ['a', 'b', 'c'].map((name) => readFileSync(join(out, `${name}.scores.ndjson`), 'utf8'));
    const whole = join(dir, 'whole.ndjson');
    writeFileSync(whole, first + second + last);
    const atOnce = await score(t, '', {}, [whole, '--person', 'person', '--order', 'at']);
    t.equal(atOnce.code, 65);
    // Rows are counted in each file.
    const withoutRows = (text: string): string => text.replaceAll(/"row":\d+,/g, '');
    const wholeText = readFileSync(join(dir, 'whole.scores.ndjson'), 'utf8');
    t.equal(withoutRows(names.join('')), withoutRows(wholeText), 'as from one run');
    const third2 = await score(t, '', {}, args);
    t.match(third2, { code: 0, stderr: /3 of 3 files are finished already/ });
  },
);

t.test('of two runs with one state the second refuses, under any name of the file', async (t) => {
  const dir = folder(t);
  const state = join(dir, 'state');
  const night = (day: number): string =>
    `${JSON.stringify({ person: 'p', at: `2025-01-0${day}T07:00:00Z`, current_session: { age: 30 } })}\n`;
  const args = ['--person', 'person', '--order', 'at', '--state'];
  t.equal((await score(t, night(1), {}, [...args, state])).code, 0);
  symlinkSync(state, join(dir, 'link'));
  const first = startScore(t, {}, [...args, state]);
  const ended = once(first, 'close');
  const endsMs = Date.now() + 60_000;
  while (!readdirSync(dir).includes('state.lock')) {
    if (Date.now() > endsMs) throw new Error('the first run never took the state');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  for (const name of ['state', 'link']) {
    const second = await score(t, night(2), {}, [...args, join(dir, name)]);
    t.match(second, { code: 1, lines: [] });
    const held = `${join(dir, 'state.lock')} is held by process ${first.pid} on `;
    t.match(second.stderr, held);
    t.match(second.stderr, /wait until it ends, or delete the lock/);
  }
  first.stdin.end(night(2));
  t.strictSame(await ended, [0, null]);
  const third = await score(t, night(3), {}, [...args, join(dir, 'link')]);
  t.equal(third.code, 0, third.stderr);
  t.strictSame(readdirSync(dir), ['link', 'state']);
  const [, person = '[]'] = readFileSync(state, 'utf8').split('\n');
  const [, history = ''] = JSON.parse(person) as string[];
  const desk = new HistoryDesk();
  t.ok(desk.read(history));
  t.equal(desk.history.count, 3, 'three nights');
});

t.test('files of health data are new ones, their owner’s alone', async (t) => {
  const dir = folder(t);
  const elsewhere = join(dir, 'elsewhere');
  writeFileSync(elsewhere, 'of somebody else');
  writeFileSync(join(dir, 'a.ndjson'), `${REQUEST.replace('{', '{"custom_id":1,"at":null,')}\nnonsense\n`);
  const names = ['a.scores.ndjson', 'a.bad.ndjson'];
  for (const name of [...names, 'state']) symlinkSync(elsewhere, join(dir, `${name}.partial`));
  const person = ['--person', 'custom_id', '--order', 'at', '--state', join(dir, 'state')];
  const { code, stderr } = await score(t, '', {}, [join(dir, 'a.ndjson'), ...person]);
  t.equal(code, 65, stderr);
  t.equal(readFileSync(elsewhere, 'utf8'), 'of somebody else');
  for (const name of ['a.bad.ndjson', 'a.scores.ndjson', 'state']) {
    t.notOk(lstatSync(join(dir, name)).isSymbolicLink(), name);
    t.equal(statSync(join(dir, name)).mode & 0o777, 0o600, name);
  }
});

t.test('what can’t be done is said before anything is done', async (t) => {
  const dir = folder(t);
  writeFileSync(join(dir, 'a.txt'), '');
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['--person', 'p'], /--person and --order need each other/],
    [['--state', 's'], /--state needs/],
    [['--out-dir', 'o'], /--out-dir needs files/],
    [[join(dir, 'a.txt')], /the name does not say the format/],
    [[join(dir, '*.ndjson')], /no file matches/],
  ];
  const runs = await Promise.all(
    cases.map(async ([args, message]) => ({ message, ...(await score(t, '', {}, args)) })),
  );
  for (const { code, stderr, message } of runs) {
    t.ok(code === 64 || code === 1, String(code));
    t.match(stderr, message);
  }
});

t.test('a model that may not serve may not score', async (t) => {
  const { code, stderr, lines } = await score(t, REQUEST, { ACUITY_MODEL: join(REPOSITORY, 'docs') });
  t.equal(code, 1);
  t.match(stderr, /manifest\.json cannot be read/);
  t.strictSame(lines, []);
});

t.test('a reader that stops reading stops the work, and is no hang', async (t) => {
  const child = startScore(t, { ACUITY_HANG_MS: '300', ACUITY_QUEUE_MAX: '64' });
  const lines = 20_000;
  const step = `${REQUEST}\n`.repeat(50);
  let accepted = 0;
  const closed = once(child, 'close');
  const feed = async (): Promise<void> => {
    for (; accepted < lines && child.exitCode === null; accepted += 50) {
      if (!child.stdin.write(step)) await Promise.race([once(child.stdin, 'drain'), closed]);
    }
    child.stdin.end();
  };
  const fed = feed();
  // It has stopped when nothing was taken for ten times as long as counts for a hang.
  for (let before = -1, still = 0; still < 10;) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    still = accepted > 0 && accepted === before ? still + 1 : 0;
    before = accepted;
  }
  t.ok(accepted < lines / 2, `${accepted} of ${lines} lines were taken for a reader that does not read`);
  t.equal(child.exitCode, null);
  let count = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    for (const byte of chunk) if (byte === 0x0a) count++;
  });
  await fed;
  const [code] = (await closed) as [number | null];
  t.equal(code, 0);
  t.equal(count, lines);
});

t.test('a reader that goes away ends the work', async (t) => {
  const child = startScore(t);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.write(`${REQUEST}\n`.repeat(10_000));
  await once(child.stdout, 'data');
  child.stdout.destroy();
  child.stdin.end();
  const [code] = (await once(child, 'close')) as [number | null];
  t.equal(code, 74);
  t.match(stderr, /standard input or output failed/);
});
