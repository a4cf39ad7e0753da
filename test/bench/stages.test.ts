import { join } from 'node:path';
import t from 'tap';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';

t.test('npm run bench -- stages tells what each part of a request takes', async (t) => {
  const args = [join(REPOSITORY, '.build/bench/main.js'), 'stages', '--seconds', '1'];
  const options = { cwd: REPOSITORY, env: cleanEnvironment() };
  const { code, stdout, stderr } = await ended(process.execPath, args, options);
  t.equal(code, 0, stderr);
  for (const stage of [
    'key and limit',
    'read',
    'features',
    'dispatch',
    'model',
    'answer',
    'metrics',
    'total',
  ])
    t.match(stdout, new RegExp(`^\\| ${stage}\\b.* \\| \\d+\\.\\d \\| \\d+\\.\\d \\|$`, 'm'), stage);
  t.match(stdout, /^\| queue \| \d+\.\d{3} \| \d+\.\d{3} \|$/m);
});
