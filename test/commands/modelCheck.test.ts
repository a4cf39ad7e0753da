import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { MODEL, copyModel, replaceFile } from '../fixtures/model.js';
import { REPOSITORY, cleanEnvironment } from '../fixtures/repository.js';

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function check(folder: string): Promise<Outcome> {
  const args = [join(REPOSITORY, 'dist/main.js'), 'model', 'check', folder];
  const run = promisify(execFile)(process.execPath, args, { env: cleanEnvironment({}) });
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
}

t.test('a bundle that serves passes every check', async (t) => {
  const { code, stdout } = await check(MODEL);
  t.equal(code, 0);
  for (const line of [
    /^ok {2}manifest:/m,
    /^ok {2}base:/m,
    /^ok {2}history:/m,
    /^ok {2}explain:/m,
    /^ok {2}golden:/m,
  ]) {
    t.match(stdout, line);
  }
  t.match(stdout, /base: \d+\.\d\d µs a row/);
});

t.test('a bundle that does not serve fails with one line that says why', async (t) => {
  const cases: readonly [name: string, spoil: (folder: string) => void, reason: RegExp][] = [
    [
      'a graph of explanations that is none',
      (folder) => replaceFile(folder, 'explain.onnx', 'no graph'),
      /explain\.onnx/,
    ],
    ['no bundle', () => undefined, /no such model folder/],
  ];
  for (const [name, spoil, reason] of cases) {
    const folder = name === 'no bundle' ? join(t.testdir(), 'absent') : copyModel(t.testdir());
    spoil(folder);
    const { code, stderr } = await check(folder);
    t.equal(code, 1, name);
    t.match(stderr, reason, name);
    t.equal(
      stderr
        .trim()
        .split('\n')
        .filter((line) => line.startsWith('acuity model:')).length,
      1,
      name,
    );
  }
});
