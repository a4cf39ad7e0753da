import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { REPOSITORY, script, temporaryFolder } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';

t.test('the archive runs elsewhere without a PATH, and contains the Python client', async (t) => {
  const folder = temporaryFolder(t);
  const { writeDistribution } = await script<{ writeDistribution(folder: string): void }>('archive.js');
  writeDistribution(join(folder, 'acuity'));
  // As an engine's worker starts it, by a name below its own folder.
  const scored = await ended('acuity/bin/acuity', ['score', '--help'], { cwd: folder, env: { PATH: '' } });
  t.match(scored, { code: 0, stdout: /--tables/ });
  const served = ['-e', "await import('./acuity/dist/http/publicListener.js')"];
  t.match(await ended('acuity/bin/node', served, { cwd: folder, env: { PATH: '' } }), {
    code: 0,
    stderr: '',
  });
  const client = readFileSync(join(folder, 'acuity/python/acuity_client/ray.py'), 'utf8');
  t.equal(client, readFileSync(join(REPOSITORY, 'packages/client-python/src/acuity_client/ray.py'), 'utf8'));
  t.ok(existsSync(join(folder, 'acuity/python/acuity_client/_sync/client.py')));
});
