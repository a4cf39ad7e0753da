/**
 * `npm test`: installs, builds and runs the tests. Arguments select the test files whose path contains one of them;
 * `--quick` (`npm run test:quick`) leaves out those that start a process. At the end it names the slowest files; the
 * last line is `N passed, N failed`; the exit code is zero only when something passed and nothing failed.
 */
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as util from 'node:util';
import { build, failWith, install, ROOT } from './prepare.js';
import { countAfterAnother, countFrom, failedFiles, isSuccess, slowest, summary } from './tapCount.js';
import { quickTests, testFiles } from './tests.js';

/** More files than this that fail are no accident of a busy machine. */
const MOST_RUN_AGAIN = 8;

try {
  await install();
  await build('runner');
  await build('all');
  accessSync(ROOT, constants.W_OK); // the runner keeps its notes here
  process.exitCode = await test(process.argv.slice(2));
} catch (error) {
  failWith(error);
}

async function test(args) {
  const filters = args.filter((argument) => argument !== '--quick');
  const isQuick = filters.length < args.length;
  const { count, failed, slow } = await counted(selected(isQuick, filters), 2);
  const isAll = args.length === 0;
  if (isAll || isQuick) process.stdout.write(`\nThe slowest files, in seconds:\n${slow.join('\n')}\n`);
  const total = isAll && failed.length > 0 ? await afterAnother(count, failed) : count;
  process.stdout.write(`${summary(total)}\n`);
  return isSuccess(total) ? 0 : 1;
}

/**
 * The service's tests share the cores with one another, and some wait for what a starved process does late. Of a run of
 * all files, those that fail run once more, one at a time: what fails again is a failure, what doesn't is named.
 */
async function afterAnother(first, files) {
  if (files.length > MOST_RUN_AGAIN) return first;
  process.stdout.write(`\nRun again, one at a time: ${files.join(', ')}\n`);
  const { count, failed } = await counted(files, 1);
  const passed = files.filter((file) => !failed.includes(file));
  if (passed.length > 0) process.stdout.write(`Failed beside others, passed alone: ${passed.join(', ')}\n`);
  return countAfterAnother(first, count);
}

/** Runs the files, so many at a time. */
async function counted(files, jobs) {
  const dir = mkdtempSync(join(tmpdir(), 'acuity-test-'));
  const path = join(dir, 'output.tap');
  try {
    const exitCode = files.length === 0 ? 0 : await runTap(files, jobs, path);
    const output = existsSync(path) ? readFileSync(path, 'utf8') : '';
    return { count: countFrom(output, exitCode), failed: failedFiles(output), slow: slowest(output, 10) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function selected(isQuick, filters) {
  const files = isQuick ? quickTests(ROOT) : testFiles(ROOT);
  return files.filter((path) => filters.length === 0 || filters.some((part) => path.includes(part)));
}

function runTap(files, jobs, output) {
  const isTerminal = process.stdout.isTTY === true;
  const command = [
    'node_modules/tap/dist/esm/run.mjs',
    'run',
    '--disable-coverage',
    '--allow-empty-coverage',
    // The live display rewrites itself by moving the cursor, which makes nothing readable in a log.
    `--reporter=${isTerminal ? 'terse' : 'min'}`,
    `--jobs=${jobs}`,
    '--timeout=300',
    `--output-file=${output}`,
    ...files,
  ];
  return new Promise((resolve, reject) => {
    const stdout = isTerminal ? 'inherit' : 'pipe';
    // On a build server tap's report would draw nothing of what failed.
    const env = { ...process.env };
    delete env['CI'];
    const child = spawn(process.execPath, command, { cwd: ROOT, env, stdio: ['ignore', stdout, 'inherit'] });
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
