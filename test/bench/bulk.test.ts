import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { runBulk } from '#bench/bulk.js';
import { UsageError } from '#bench/usage.js';
import { REPOSITORY } from '../fixtures/repository.js';

const run = promisify(execFile);
const ROWS = 300;

t.test('npm run bench -- lake scores a lake in each way, beside HTTP', async (t) => {
  const sizes = ['--rows', String(ROWS), '--people', '10', '--repetitions', '1', '--seconds', '1'];
  const { stdout } = await run(
    process.execPath,
    [
      join(REPOSITORY, '.build/bench/main.js'),
      'lake',
      ...sizes,
      '--formats',
      'arrow',
      '--folder',
      t.testdir(),
    ],
    { timeout: 200_000 },
  );
  t.match(stdout, `${ROWS} rows of 10 people`);
  const lines = stdout.split('\n').filter((line) => /^\| \w/.test(line));
  const costs = lines.map((line) => line.split('|').slice(1, -1));
  t.strictSame(
    costs.map(([name]) => name?.trim()),
    ['HTTP', 'arrow', 'arrow with history'],
  );
  for (const [name, ...values] of costs) {
    const numbers = values.map((value) => Number.parseFloat(value));
    t.equal(numbers.length, 6);
    t.ok(
      numbers.slice(0, 3).every((value) => value > 0),
      `${name}: rows a second, processor time, memory`,
    );
    // So few rows cost little but their start: the ratios round to nothing.
    t.ok(
      [3, 5].every((column) => (numbers[column] ?? NaN) >= 0),
      `${name}: ratios`,
    );
  }
});

t.test('a mistake is named', async (t) => {
  for (const args of [['--formats', 'xml'], ['--rows', '0'], ['--nonsense']]) {
    await t.rejects(runBulk(args), UsageError, args.join(' '));
  }
});
