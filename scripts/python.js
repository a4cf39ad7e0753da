/**
 * `npm run python`: a Python environment below .build with what the Python client and its tests use. Without it those
 * tests are skipped. `npm run python -- engines` adds Ray and Spark, and runs their tests, with a number on so many
 * nights; `npm run python -- tables` adds the libraries of test/foreign/tables.py for test/lake/others.test.ts.
 */
import { join } from 'node:path';
import { endOnError, ROOT, runToEnd } from './prepare.js';

const FOLDER = join(ROOT, '.build/python');
const PACKAGE = join(ROOT, 'packages/client-python');
const PYTHON = join(FOLDER, 'bin/python');

const [kind, nights] = process.argv.slice(2);

endOnError();
runToEnd('python3', '-m', 'venv', FOLDER);
install('packages/client-python/tests/requirements.txt');
if (kind === 'tables') install('test/foreign/requirements.txt');
if (kind === 'engines') {
  install('packages/client-python/tests/requirements-engines.txt');
  const length = nights === undefined ? {} : { TEST_ENGINES_NIGHTS: nights };
  Object.assign(process.env, { TEST_ENGINES: '1', ...length, PYTHONPATH: join(PACKAGE, 'src') });
  runToEnd(PYTHON, '-B', '-m', 'pytest', '-v', join(PACKAGE, 'tests/test_engines.py'));
}

function install(requirements) {
  runToEnd(PYTHON, '-m', 'pip', 'install', '--quiet', '-r', join(ROOT, requirements));
}
