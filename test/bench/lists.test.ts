import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { runLists } from '#bench/lists.js';
import { UsageError } from '#bench/usage.js';
import { REPOSITORY } from '../fixtures/repository.js';

const run = promisify(execFile);

t.test('npm run bench -- lists measures lines against requests of their own', async (t) => {
  const sizes = ['--repetitions', '1', '--seconds', '3', '--lines', '2,300'];
  const options = [...sizes, '--payloads', 'history,history-field', '--deadline-ms', '60000']; // others run beside
  const bench = join(REPOSITORY, '.build/bench/main.js');
  const { stdout } = await run(process.execPath, [bench, 'lists', ...options], { timeout: 200_000 });
  const rowsOf = (kind: string): number[][] =>
    stdout
      .split('\n')
      .filter((line) => line.startsWith(`| ${kind} `))
      .map((line) => line.split('|').slice(2, 6).map(Number.parseFloat));
  t.match(stdout, /\| history \|[^]*\| history:field \|/);
  for (const kind of ['requests of their own', 'lists of 2']) {
    t.equal(rowsOf(kind).length, 2, kind);
    t.ok(
      rowsOf(kind)
        .flat()
        .every((value) => value > 0),
      kind,
    );
  }
  t.equal(rowsOf('lists of 300').length, 1, 'one is too long with history in lists');
  t.match(stdout, /Lists of 300 are left out: \d+ bytes, more than a body may have\./);
});

t.test(
  'npm run bench -- lists --p99 measures requests at a fixed rate beside lists and others',
  async (t) => {
    const sizes = ['--repetitions', '1', '--seconds', '1', '--lines', '2', '--payloads', 'baseline'];
    const bench = join(REPOSITORY, '.build/bench/main.js');
    const options = [bench, 'lists', '--p99', ...sizes, '--deadline-ms', '60000'];
    const { stdout } = await run(process.execPath, options, { timeout: 200_000 });
    const rows = stdout
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) => line.split('|').map((cell) => cell.trim()));
    t.strictSame(
      rows.map(([, name]) => name),
      ['baseline, beside', 'nothing', 'other requests', 'lists of 2'],
    );
    for (const [, name = '', ...values] of rows.slice(1)) {
      const [p50 = NaN, p99 = NaN, , , answered, , beside = NaN] = values.map(Number.parseFloat);
      t.ok(p50 > 0 && p99 >= p50, name);
      t.not(answered, 0, name);
      t.equal(beside > 0, name !== 'nothing', name);
    }
  },
);

t.test('a mistake is named', async (t) => {
  for (const args of [
    ['--lines', '0'],
    ['--lines', '1001'],
    ['--payloads', 'x'],
    ['--p99', '--rust'],
    ['--nonsense'],
  ]) {
    await t.rejects(runLists(args), UsageError, args.join(' '));
  }
});
