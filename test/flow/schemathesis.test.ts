import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { startServer } from '../fixtures/server.js';

/** `npm run python -- schemathesis` runs this for a given time; a plain run makes few requests beyond the listed cases. */
const SECONDS = process.env['TEST_SCHEMATHESIS_S'];
const SEED = process.env['TEST_SCHEMATHESIS_SEED'] ?? '1';
const EXTENT = SECONDS === undefined ? ['--max-examples', '50'] : ['--max-time', SECONDS];

/** test/foreign/schemathesis_hooks.py has the excluded two, for bodies. */
const HOW =
  '--phases examples,coverage,fuzzing --continue-on-failure --suppress-health-check all ' +
  '--exclude-checks positive_data_acceptance,negative_data_rejection';

const DOCUMENT = join(REPOSITORY, 'docs/openapi.json');
const SCHEMATHESIS = join(REPOSITORY, '.build/python/bin/schemathesis');
const skip = existsSync(SCHEMATHESIS) ? false : 'npm run python -- schemathesis installs it';

t.test('the document allows what the service scores, and nothing else', { skip }, async (t) => {
  const server = await startServer(t, { env: { ACUITY_DEADLINE_MS: '60000', ACUITY_LOG_LEVEL: 'fatal' } });
  const address = ['--url', server.known.ACUITY_URL, '--header', `X-API-Key: ${server.key}`];
  const { code, stdout, stderr } = await ended(
    SCHEMATHESIS,
    ['run', DOCUMENT, ...address, ...HOW.split(' '), '--seed', SEED, ...EXTENT],
    {
      cwd: t.testdir({}), // it keeps findings where it runs
      env: cleanEnvironment({
        ...server.known,
        PYTHONPATH: join(REPOSITORY, 'test/foreign'),
        PYTHONDONTWRITEBYTECODE: '1',
        SCHEMATHESIS_HOOKS: 'schemathesis_hooks',
      }),
    },
  );
  if (SECONDS !== undefined) process.stderr.write(stdout);
  t.equal(code, 0, 'no findings', { stdout, stderr });
  t.match(stdout, /[1-9]\d* generated/);
});
