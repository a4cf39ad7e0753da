/**
 * `npm run python`: a Python environment below .build with what the Python client's tests use beside the standard
 * library. Without it those tests are skipped.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { failWith, ROOT, StepFailed } from './prepare.js';

const FOLDER = join(ROOT, '.build/python');
const REQUIREMENTS = join(ROOT, 'packages/client-python/tests/requirements.txt');

try {
  run('python3', '-m', 'venv', FOLDER);
  run(join(FOLDER, 'bin/python'), '-m', 'pip', 'install', '--quiet', '-r', REQUIREMENTS);
} catch (error) {
  failWith(error);
}

function run(command, ...args) {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new StepFailed(`${command} ${args.slice(0, 2).join(' ')} failed`);
}
