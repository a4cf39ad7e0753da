import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { runExplained } from '#bench/explained.js';
import { UsageError } from '#bench/usage.js';
import { REPOSITORY } from '../fixtures/repository.js';

const run = promisify(execFile);

t.test('npm run bench -- explained measures plain requests beside both kinds', async (t) => {
  const sizes = ['--repetitions', '1', '--seconds', '1', '--rate', '20', '--connections', '4'];
  const options = [...sizes, '--deadline-ms', '60000']; // other tests run beside, and the explaining worker gives way
  const bench = join(REPOSITORY, '.build/bench/main.js');
  const { stdout } = await run(process.execPath, [bench, 'explained', ...options], { timeout: 200_000 });
  const tables = stdout.split('\n\n').slice(1);
  t.strictSame(
    tables.map((table) => /^\| (\w+) \|/.exec(table)?.[1]),
    ['baseline', 'history'],
  );
  for (const table of tables) {
    const values = (name: RegExp): number[] => {
      const line = table.split('\n').find((row) => name.test(row)) ?? '';
      return line.split('|').slice(2, 4).map(Number.parseFloat);
    };
    for (const name of [/plain requests a second/, /p50 of those beside/, /fixed rate: p50/]) {
      t.ok(
        values(name).every((value) => value > 0),
        `${name}`,
      );
    }
    // A difference of two runs: on a busy machine it may be negative, or a dash where nothing was answered in time.
    t.match(table, /\| processor µs of one of those, alone \|\s+(–|-?\d+)[^|]*\|\s+(–|-?\d+)/);
  }
});

t.test('a mistake is named', async (t) => {
  for (const args of [['--rate', '0'], ['--seconds', 'x'], ['--nonsense']]) {
    await t.rejects(runExplained(args), UsageError, args.join(' '));
  }
});
