import { join } from 'node:path';
import t from 'tap';
import { MODEL, copyModel, replaceFile } from '../fixtures/model.js';
import { acuity } from '../fixtures/scripts.js';

const check = (folder: string) => acuity(['model', 'check', folder]);

t.test('a bundle that serves passes every check', async (t) => {
  const { code, stdout } = await check(MODEL);
  t.equal(code, 0);
  for (const part of ['manifest', 'base', 'history', 'explain', 'golden'])
    t.match(stdout, new RegExp(`^ok {2}${part}:`, 'm'));
  t.match(stdout, /base: \d+\.\d\d µs a row/);
});

t.test('a bundle that does not serve fails with one line that says why', async (t) => {
  const spoilt = copyModel(t.testdir());
  replaceFile(spoilt, 'history.onnx', 'no graph');
  for (const [folder, reason] of [
    [spoilt, /history\.onnx/],
    [join(t.testdirName, 'absent'), /no such model folder/],
  ] as const) {
    const { code, stderr } = await check(folder);
    t.equal(code, 1);
    t.match(stderr, reason);
    t.equal(stderr.match(/^acuity model:/gm)?.length, 1);
  }
});
