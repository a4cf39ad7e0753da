/**
 * `npm test`: installs, builds and runs the tests. Arguments select the test files whose path contains one of them.
 * The last line is `N passed, N failed`; the exit code is zero only when something passed and nothing failed.
 */
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import * as util from 'node:util';
import { build, failWith, filesBelow, install, ROOT } from './prepare.js';
import { countFrom, isSuccess, summary } from './tapCount.js';

try {
  await install();
  await build('all');
  accessSync(ROOT, constants.W_OK); // the runner keeps its notes here
  process.exitCode = await test(process.argv.slice(2));
} catch (error) {
  failWith(error);
}

async function test(filters) {
  const files = testFiles(filters);
  const dir = mkdtempSync(join(tmpdir(), 'acuity-test-'));
  const output = join(dir, 'output.tap');
  try {
    const exitCode = files.length === 0 ? 0 : await runTap(files, output);
    const count = countFrom(existsSync(output) ? readFileSync(output, 'utf8') : '', exitCode);
    process.stdout.write(`${summary(count)}\n`);
    return isSuccess(count) ? 0 : 1;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function testFiles(filters) {
  return filesBelow(join(ROOT, '.build/test'))
    .map((path) => relative(ROOT, path))
    .filter((path) => path.endsWith('.test.js'))
    .filter((path) => filters.length === 0 || filters.some((part) => path.includes(part)))
    .toSorted();
}

function runTap(files, output) {
  const isTerminal = process.stdout.isTTY === true;
  const command = [
    'node_modules/tap/dist/esm/run.mjs',
    'run',
    '--disable-coverage',
    '--allow-empty-coverage',
    // The live display rewrites itself by moving the cursor, which makes nothing readable in a log.
    `--reporter=${isTerminal ? 'terse' : 'min'}`,
    '--jobs=2',
    '--timeout=300',
    `--output-file=${output}`,
    ...files,
  ];
  return new Promise((resolve, reject) => {
    const stdout = isTerminal ? 'inherit' : 'pipe';
    const child = spawn(process.execPath, command, { cwd: ROOT, stdio: ['ignore', stdout, 'inherit'] });
    if (child.stdout) plainLines(child.stdout);
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** tap moves the cursor even where there is none; what is left of that would stand before our last line. */
function plainLines(stream) {
  createInterface({ input: stream }).on('line', (line) => {
    process.stdout.write(`${util.stripVTControlCharacters(line)}\n`);
  });
}
