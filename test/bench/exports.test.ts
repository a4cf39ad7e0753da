import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { runExports } from '#bench/exports.js';
import { UsageError } from '#bench/usage.js';
import { REPOSITORY } from '../fixtures/repository.js';

const run = promisify(execFile);

t.test('npm run bench -- exports reads an export', async (t) => {
  const options = ['exports', '--megabytes', '1,20', '--years', '1'];
  const bench = join(REPOSITORY, '.build/bench/main.js');
  const { stdout } = await run(process.execPath, [bench, ...options], { timeout: 200_000 });
  const rows = stdout.split('\n').filter((line) => /^\| \d+ MB/.test(line));
  t.match(rows[0], /^\| 1 MB, \d+ records \| given \|/);
  t.equal(rows.length, 4, stdout);
  for (const row of rows) {
    const [seconds = NaN, mib = NaN] = row.split('|').slice(3, 5).map(Number.parseFloat);
    t.ok(seconds >= 0);
    t.ok(mib > 10 && mib < 150, row);
  }
});

t.test('a mistake is named', async (t) => {
  for (const args of [['--megabytes', '0'], ['--years', 'x'], ['--nonsense']]) {
    await t.rejects(runExports(args), UsageError, args.join(' '));
  }
});
