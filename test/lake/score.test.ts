import { execFileSync, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  createWriteStream,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { AcuityClient } from '#acuity/client/client.js';
import { History, memoryStorage } from '#acuity/client/history.js';
import type { Session } from '#acuity/client/contract.js';
import { requestsOf } from '#acuity/load/payloads.js';
import { acuity, folder, modelScorer, runLake, runStream, scoreOne, type Asked } from '#fixtures/lake.js';
import { MODEL } from '#fixtures/model.js';
import { cleanEnvironment, REPOSITORY } from '#fixtures/repository.js';
import { startServer } from '#fixtures/server.js';

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

/** Without what a line of the output has beyond an answer, and without the time. */
function answerOf(line: string): object {
  const answer = JSON.parse(line) as Record<string, unknown>;
  delete answer['model'];
  delete answer['model_version'];
  delete answer['row'];
  return { ...answer, inference_time_ms: 0 };
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
    const scorer = await modelScorer();
    t.teardown(() => scorer.close());
    const text = `${REQUEST}\nnonsense\n${other}\n${REQUEST}`;
    const { output, told, tally } = await runStream([Buffer.from(text)], { scorer });
    const lines = output.toString().split('\n').slice(0, -1);
    t.strictSame(
      [0, 2, 3].map((line) => answerOf(lines[line] ?? '')),
      [answers[0], answers[1], answers[0]],
    );
    t.strictSame(JSON.parse(lines[1] ?? ''), {
      row: 2,
      error: { line: 2, status: 400, detail: 'Malformed JSON at byte 1' },
    });
    t.strictSame(told, [
      'standard input: all 16 fields of a session found',
      'standard input: row 2 has no scores (400): Malformed JSON at byte 1',
    ]);
    t.match(tally, { lines: 4, badLines: 1, firstBadLine: 2 });

    const dir = folder(t);
    const rows = nights();
    const half = 4 * PEOPLE + 2;
    writeFileSync(join(dir, 'nights-1.ndjson'), textOf(rows.slice(0, half)));
    writeFileSync(join(dir, 'nights-2.ndjson'), textOf(rows.slice(half)));
    const asked: Asked = { keep: ['person', 'at'], history: { person: 'person', order: 'at' } };
    const client = new AcuityClient({ url: `http://127.0.0.1:${server.port}`, apiKey: server.key });
    const history = new History(client, memoryStorage());
    const expected: unknown[] = [];
    for (const { person, at, session } of rows) {
      const prediction = await history.score(person, session).catch(() => undefined);
      if (prediction !== undefined) expected.push({ person, at, ...prediction.scores });
    }
    t.equal(expected.length, rows.length - 1);
    const two = await modelScorer(MODEL, 2);
    t.teardown(() => two.close());
    const outputs: string[][] = [];
    for (const [workers, own] of [scorer, two].entries()) {
      const [outDir, state] = [join(dir, String(workers)), join(dir, `state-${workers}`)];
      const { files } = await runLake([join(dir, 'nights-*.ndjson')], {
        ...asked,
        scorer: own,
        outDir,
        state,
      });
      t.strictSame(readdirSync(outDir), [
        'nights-1.bad.ndjson',
        'nights-1.scores.ndjson',
        'nights-2.scores.ndjson',
      ]);
      outputs.push([...files.map(({ scores }) => scores.toString()), readFileSync(state, 'utf8')]);
      const plain = files.flatMap(({ rows: scored }) =>
        scored.map((row) =>
          Object.fromEntries(
            Object.entries(row).filter(([name]) => !/^(row|model|model_version)$/.test(name)),
          ),
        ),
      );
      t.strictSame(plain, expected, 'to the last digit');
      t.match(files[0]?.bad, [
        {
          person: 'p1',
          file: 'nights-1.ndjson',
          row: PEOPLE + 2,
          status: 422,
          detail: [{ loc: ['body', 'current_session', 'age'] }],
        },
      ]);
    }
    t.strictSame(outputs[0], outputs[1], 'the same bytes and the same state with any number of workers');
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
    const again = await acuity(['score', ...args]);
    t.equal(again.code, 0, again.stderr);
    t.strictSame(partials(out, ''), [], 'nothing of the killed run is left');
    t.notOk(readdirSync(dir).includes('state.lock'));
    t.match(again.stderr, /1 of 3 files are finished already/);
    t.match(statSync(finished), { mtimeMs, ino }, 'the first file is the one of before');
    const names = ['a', 'b', 'c'].map((name) => readFileSync(join(out, `${name}.scores.ndjson`), 'utf8'));
    const whole = join(dir, 'whole.ndjson');
    writeFileSync(whole, first + second + last);
    const scorer = await modelScorer();
    t.teardown(() => scorer.close());
    const atOnce = await scoreOne(whole, { history: { person: 'person', order: 'at' }, scorer });
    // Rows are counted in each file.
    const withoutRows = (text: string): string => text.replaceAll(/"row":\d+,/g, '');
    t.equal(withoutRows(names.join('')), withoutRows(atOnce.scores.toString()), 'as from one run');
  },
);

t.test('of two runs with one state the second refuses, under any name of the file', async (t) => {
  const dir = folder(t);
  const state = join(dir, 'state');
  const history = { person: 'person', order: 'at' };
  const night = (day: number): Buffer =>
    Buffer.from(`{"person":"p","at":"2025-01-0${day}T07:00:00Z","current_session":{"age":30}}\n`);
  const run = (input: Iterable<Buffer> | AsyncIterable<Buffer>, name: string) =>
    runStream(input, { history, state: join(dir, name) });
  t.equal((await run([night(1)], 'state')).error, undefined);
  symlinkSync(state, join(dir, 'link'));
  async function* while_(): AsyncGenerator<Buffer> {
    for (const name of ['state', 'link']) {
      const { error, output } = await run([night(2)], name);
      t.match(error, {
        message: /state\.lock is held by process \d+ on .*wait until it ends, or delete the lock/s,
      });
      t.equal(output.length, 0);
    }
    yield night(2);
  }
  t.equal((await run(while_(), 'state')).error, undefined);
  t.equal((await run([night(3)], 'link')).error, undefined);
  t.strictSame(readdirSync(dir), ['link', 'state']);
});

t.test('files of health data are new ones, their owner’s alone', async (t) => {
  const dir = folder(t);
  const elsewhere = join(dir, 'elsewhere');
  writeFileSync(elsewhere, 'of somebody else');
  writeFileSync(join(dir, 'a.ndjson'), `${REQUEST.replace('{', '{"custom_id":1,"at":null,')}\nnonsense\n`);
  const names = ['a.scores.ndjson', 'a.bad.ndjson'];
  for (const name of [...names, 'state']) symlinkSync(elsewhere, join(dir, `${name}.partial`));
  const history = { person: 'custom_id', order: 'at' };
  const { bad } = await scoreOne(join(dir, 'a.ndjson'), { history, state: join(dir, 'state') });
  t.equal(bad.length, 2);
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
    [['--to', 'arrow'], /--to arrow needs --format arrow/],
    [[join(dir, 'a.txt')], /the name does not say the format/],
    [[join(dir, '*.ndjson')], /no file matches/],
  ];
  const runs = cases.map(async ([args, message]) => ({ message, ...(await acuity(['score', ...args])) }));
  for (const { code, stderr, message } of await Promise.all(runs)) {
    t.ok(code === 64 || code === 1, String(code));
    t.match(stderr, message);
  }
  const { code, stderr, stdout } = await acuity(['score'], { ACUITY_MODEL: join(REPOSITORY, 'docs') });
  t.match({ code, stderr, stdout }, { code: 1, stderr: /manifest\.json cannot be read/, stdout: '' });
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
