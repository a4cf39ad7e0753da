import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { MODEL } from '../fixtures/model.js';
import { cleanEnvironment, REPOSITORY } from '../fixtures/scripts.js';
import { startServer } from '../fixtures/server.js';

const REQUEST = JSON.stringify(
  JSON.parse(readFileSync(join(REPOSITORY, 'docs/examples/request.json'), 'utf8')),
);

function startScore(t: Test, env: Readonly<Record<string, string>> = {}): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [join(REPOSITORY, 'dist/main.js'), 'score'], {
    cwd: REPOSITORY,
    env: cleanEnvironment({ ACUITY_WORKERS: '1', ACUITY_MODEL: MODEL, ...env }),
  });
  child.stdin.on('error', () => undefined); // a process that has ended takes no more
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

async function score(t: Test, input: string, env?: Readonly<Record<string, string>>) {
  const child = startScore(t, env);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr, lines: stdout.split('\n').slice(0, -1) };
}

const withoutTime = (line: string): unknown => ({ ...(JSON.parse(line) as object), inference_time_ms: 0 });

t.test('a line gets the scores that the service gives for it', async (t) => {
  const server = await startServer(t);
  const other = JSON.stringify({ current_session: { age: 70, sex: 'M', HR_night: [80, 82, 81] } });
  const answers: unknown[] = [];
  for (const body of [REQUEST, other]) {
    const headers = { 'X-API-Key': server.key, 'Content-Type': 'application/json' };
    const answer = await fetch(`http://127.0.0.1:${server.port}/predict`, { method: 'POST', headers, body });
    answers.push(withoutTime(await answer.text()));
  }
  const { code, lines, stderr } = await score(t, `${REQUEST}\n${other}\n${REQUEST}`);
  t.equal(code, 0, stderr);
  t.strictSame(lines.map(withoutTime), [answers[0], answers[1], answers[0]]);
  t.match(stderr, /^acuity score: 3 lines in [\d.]+ s \([\d,]+\/s\), none bad\n$/);
});

t.test('bad lines cost nothing but themselves and the exit code', async (t) => {
  const { code, lines, stderr } = await score(t, `${REQUEST}\nnonsense\n${REQUEST}\n`);
  t.equal(code, 65);
  t.equal(lines.length, 3);
  t.strictSame(withoutTime(lines[0] ?? ''), withoutTime(lines[2] ?? ''));
  t.strictSame(JSON.parse(lines[1] ?? ''), {
    error: { line: 2, status: 400, detail: 'Malformed JSON at byte 1' },
  });
  t.match(stderr, /1 bad, the first is line 2/);
});

t.test('nothing in, nothing out', async (t) => {
  t.match(await score(t, ''), { code: 0, lines: [] });
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
  child.stdin.write(`${REQUEST}\n`.repeat(20_000));
  await once(child.stdout, 'data');
  child.stdout.destroy();
  child.stdin.end();
  const [code] = (await once(child, 'close')) as [number | null];
  t.equal(code, 74);
  t.match(stderr, /standard input or output failed/);
});
