import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { REPOSITORY } from '../fixtures/scripts.js';

const DIST = join(REPOSITORY, 'dist/client');

t.test('the package is imported by its name and has what the documents use', async (t) => {
  const client = (await import('acuity/client')) as Record<string, unknown>;
  for (const name of [
    'AcuityClient',
    'SessionBuilder',
    'History',
    'memoryStorage',
    'UnitError',
    'RefusedError',
  ]) {
    t.type(client[name], 'function', name);
  }
});

t.test('every error that a caller may meet can be told apart', async (t) => {
  const errors = Object.keys(await import('#acuity/client/errors.js')).filter((name) =>
    name.endsWith('Error'),
  );
  const published = Object.keys(await import('acuity/client'));
  t.strictSame(
    errors.filter((name) => !published.includes(name)),
    [],
  );
  t.ok(errors.length > 12);
});

t.test('at run time the client brings nothing of the service, and undici alone of others', async (t) => {
  const imported = new Set<string>();
  for (const file of readdirSync(DIST).filter((name) => name.endsWith('.js'))) {
    const source = readFileSync(join(DIST, file), 'utf8');
    for (const [, from = ''] of source.matchAll(/(?:from|import)\s*\(?'([^']+)'/g)) imported.add(from);
  }
  const foreign = [...imported].filter((from) => !from.startsWith('./') && !from.startsWith('node:'));
  t.strictSame(foreign, ['undici']);
});
