import { join } from 'node:path';
import t from 'tap';
import { MODEL, copyModel, replaceFile } from '../fixtures/model.js';
import { REPOSITORY, cleanEnvironment } from '../fixtures/repository.js';
import { ended, type Ended } from '../fixtures/scripts.js';

function check(folder: string): Promise<Ended> {
  const args = [join(REPOSITORY, 'dist/main.js'), 'model', 'check', folder];
  return ended(process.execPath, args, { cwd: REPOSITORY, env: cleanEnvironment() });
}

t.test('a bundle that serves passes every check', async (t) => {
  const { code, stdout } = await check(MODEL);
  t.equal(code, 0);
  for (const part of ['manifest', 'base', 'history', 'explain', 'golden'])
    t.match(stdout, new RegExp(`^ok {2}${part}:`, 'm'));
  t.match(stdout, /base: \d+\.\d\d µs a row/);
});

t.test('a bundle that does not serve fails with one line that says why', async (t) => {
  const spoilt = copyModel(t.testdir());
  replaceFile(spoilt, 'explain.onnx', 'no graph');
  for (const [folder, reason] of [
    [spoilt, /explain\.onnx/],
    [join(t.testdirName, 'absent'), /no such model folder/],
  ] as const) {
    const { code, stderr } = await check(folder);
    t.equal(code, 1);
    t.match(stderr, reason);
    t.equal(stderr.match(/^acuity model:/gm)?.length, 1);
  }
});
