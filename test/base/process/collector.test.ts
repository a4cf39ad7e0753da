import { join } from 'node:path';
import t from 'tap';
import { REPOSITORY } from '../../fixtures/repository.js';
import { ended } from '../../fixtures/scripts.js';

t.test('the flag is one that this Node knows: of others V8 complains, and goes on without', async (t) => {
  const module = join(REPOSITORY, 'dist/base/process/collector.js');
  const code = `import { collectWithoutHelpers } from ${JSON.stringify(module)}; collectWithoutHelpers();`;
  const outcome = await ended(process.execPath, ['--input-type=module', '--eval', code]);
  t.strictSame(outcome, { code: 0, stdout: '', stderr: '' });
});
