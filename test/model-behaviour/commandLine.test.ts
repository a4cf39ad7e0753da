import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { REPOSITORY } from '../fixtures/repository.js';

/** The commands that train and evaluate refuse what they do not know, before they work for minutes. */
const CASES = [
  ['evaluate', '--points', '99'],
  ['evaluate', '--points', '1,x'],
  ['evaluate', '--people', 'many'],
  ['evaluate', '--point', '1'],
  ['build', '--serve'],
] as const;

function run(command: string, args: readonly string[]): { status: number | null; out: string; err: string } {
  const file = join(REPOSITORY, '.build/training', `${command}.js`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], { encoding: 'utf8' });
  return { status, out: stdout, err: stderr };
}

for (const [command, ...args] of CASES)
  t.test(`${command} ${args.join(' ')}: usage, without a stack`, async (t) => {
    t.match(run(command, args), {
      status: 64,
      out: /^$/,
      err: /^[^\n]+\n\nnpm run \S+ \[-- options\]\n(?![^]*^ {4}at )/m,
    });
  });

for (const command of ['evaluate', 'build'])
  t.test(`${command} --help prints its usage`, async (t) => {
    t.match(run(command, ['--help']), { status: 0, out: /^npm run \S+ \[-- options\]\n/, err: /^$/ });
  });
