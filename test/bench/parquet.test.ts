import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { runParquet } from '#bench/parquet.js';
import { UsageError } from '#bench/usage.js';
import { REPOSITORY } from '../fixtures/repository.js';

const run = promisify(execFile);
const FILE = join(REPOSITORY, 'test/fixtures/tables-of-others/pages-zstd.parquet');

t.test('npm run bench -- parquet reads a file with each reader', async (t) => {
  const main = join(REPOSITORY, '.build/bench/main.js');
  const readers = ['acuity', 'parquet-wasm', 'hyparquet'];
  const { stdout } = await run(process.execPath, [main, 'parquet', FILE, '--readers', readers.join(',')]);
  const rows = stdout.split('\n').filter((line) => line.startsWith('| pages-zstd.parquet'));
  t.strictSame(
    rows
      .map((row) => row.split('|').map((cell) => cell.trim()))
      .map(([, , reader, count]) => [reader, count]),
    readers.map((reader) => [reader, '12']),
  );
});

t.test('a mistake is named', async (t) => {
  for (const args of [[], [FILE, '--readers', 'csv'], [FILE, '--seconds', '0']]) {
    await t.rejects(runParquet(args), UsageError, args.join(' '));
  }
});
