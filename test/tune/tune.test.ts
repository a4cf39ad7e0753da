import { join } from 'node:path';
import t from 'tap';
import { MODEL } from '../fixtures/model.js';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';

const MAIN = join(REPOSITORY, 'dist/main.js');
const options = { cwd: REPOSITORY, env: cleanEnvironment({ ACUITY_MODEL: MODEL }) };

t.test('a tiny budget is kept and still gives a block that can be pasted', async (t) => {
  const args = ['tune', '--minutes', '0.12', '--connections', '8'];
  const { code, stdout, stderr } = await ended(process.execPath, [MAIN, ...args], options);
  t.equal(code, 0, stderr);
  for (const name of ['HTTP_THREADS', 'WORKERS', 'INTRA_OP_THREADS', 'BATCH_MAX']) {
    t.match(stdout, new RegExp(`^ACUITY_${name}=\\d+$`, 'm'));
  }
  t.match(stdout, /^# (expected here, saturated: \d+|not measured)/m);
  t.notMatch(stdout + stderr, /sk_(live|demo)_/, 'no key is shown');
});

t.test('a mistake in the options ends it at once', async (t) => {
  for (const args of [
    ['--p99-ms', '0'],
    ['--minutes', '0'],
    ['--connections', '9999'],
  ]) {
    const { code, stdout } = await ended(process.execPath, [MAIN, 'tune', ...args], options);
    t.not(code, 0, args.join(' '));
    t.equal(stdout, '');
  }
});
