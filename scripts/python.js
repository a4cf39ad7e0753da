/**
 * `npm run python`: a Python environment below .build with what the Python client and its tests use. Without it those
 * tests are skipped. `npm run python -- engines` adds Ray and Spark, and runs their tests, with a number on so many
 * nights;
 * `npm run python -- tables` adds the libraries of test/foreign/tables.py for test/lake/interop.test.ts;
 * `npm run python -- schemathesis` adds that, and runs it against a service for a number of seconds, with a seed.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build, failWith, install as installPackages, ROOT, StepFailed } from './prepare.js';

const FOLDER = join(ROOT, '.build/python');
const PACKAGE = join(ROOT, 'packages/client-python');
const PYTHON = join(FOLDER, 'bin/python');

try {
  run('python3', '-m', 'venv', FOLDER);
  install(join(PACKAGE, 'tests/requirements.txt'));
  if (process.argv[2] === 'engines') {
    install(join(PACKAGE, 'tests/requirements-engines.txt'));
    testEngines(process.argv[3]);
  }
  if (process.argv[2] === 'tables') install(join(ROOT, 'test/foreign/requirements.txt'));
  if (process.argv[2] === 'schemathesis') {
    install(join(ROOT, 'test/foreign/requirements-schemathesis.txt'));
    await installPackages();
    await build('all');
    testDocument(process.argv[3], process.argv[4]);
  }
} catch (error) {
  failWith(error);
}

function install(requirements) {
  run(PYTHON, '-m', 'pip', 'install', '--quiet', '-r', requirements);
}

function testEngines(nights) {
  const length = nights === undefined ? {} : { TEST_ENGINES_NIGHTS: nights };
  const { status } = spawnSync(PYTHON, ['-B', '-m', 'pytest', '-v', 'tests/test_engines.py'], {
    cwd: PACKAGE,
    env: { ...process.env, TEST_ENGINES: '1', ...length, PYTHONPATH: join(PACKAGE, 'src') },
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new StepFailed('the tests of the engines failed');
}

/** Writes what schemathesis writes. */
function testDocument(seconds = '120', seed = '1') {
  const { status } = spawnSync(process.execPath, ['.build/test/flow/schemathesis.test.js'], {
    cwd: ROOT,
    env: {
      ...process.env,
      TEST_SCHEMATHESIS_S: seconds,
      TEST_SCHEMATHESIS_SEED: seed,
      TAP_TIMEOUT: String(60 + 2 * Number(seconds)),
    },
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new StepFailed('schemathesis has findings');
}

function run(command, ...args) {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new StepFailed(`${command} ${args.slice(0, 2).join(' ')} failed`);
}
