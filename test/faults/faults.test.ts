import { join } from 'node:path';
import t from 'tap';
import { REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import type { Outcome } from './run.js';

/** `npm run faults`, little of two parts: the replicas take minutes, and a soak says nothing in one. */

const PARTS = ['mixup', 'smuggle'];
const MAIN = join(REPOSITORY, '.build/test/faults/main.js');

for (const part of PARTS) {
  t.test(part, async (t) => {
    const { stdout, stderr } = await ended(process.execPath, [MAIN, part, '--short', '--json']);
    const [outcome] = JSON.parse(stdout || '[]') as Outcome[];
    t.equal(outcome?.name, part, stderr);
    for (const { what, tried, held, skipped, failures } of outcome?.trials ?? [])
      t.equal(held, tried, `${what}: ${failures.join('; ')}`, { skip: skipped ?? false });
  });
}

t.test('an unknown part is an error', async (t) => {
  const { code, stderr } = await ended(process.execPath, [MAIN, 'other']);
  t.equal(code, 64);
  t.match(stderr, 'no part is called other');
});
