/**
 * `npm run check`: what must hold before a commit: format, lint, types, import rules, dead code, words, and if files differ
 * from HEAD, the tests beside them and that of what is generated; `npm run check -- --all` runs every test instead. It
 * makes all checks, side by side; then it fails if one failed.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { endOnError, install, outputOf, ROOT, TSC } from './prepare.js';
import { testsBeside, testFiles } from './tests.js';

const CRUISED = [
  'src',
  'packages/rules/src',
  'packages/adapters/src',
  'packages/client-ts/src',
  'test',
  'bench',
  'native-models/training',
];
const CHECKS = [
  ['format', 'node_modules/prettier/bin/prettier.cjs', '--check', '--cache', '--log-level=warn', '.'],
  ['lint', 'node_modules/oxlint/bin/oxlint', '--deny-warnings'],
  ['types', TSC, '-b'],
  ['import rules', 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs', ...CRUISED],
  ['dead code', 'node_modules/knip/bin/knip.js'],
  ['words', 'scripts/words.js'],
];

endOnError();
await install();

const isAll = process.argv.includes('--all');
const outcomes = await Promise.all(CHECKS.map(([name, ...command]) => run(name, command)));
// After the checks: the tests compile, and two compilers at once would write the same files.
const beside = isAll ? [] : testsBeside(changedFiles());
const compiled = testFiles(ROOT);
const tests = beside.filter((part) => isThere(part) && compiled.some((path) => path.includes(part)));
if (isAll || tests.length > 0) outcomes.push(await run('tests', ['scripts/test.js', ...tests]));

const failed = outcomes.filter(({ isOk }) => !isOk).map(({ name }) => name);
process.stdout.write(failed.length === 0 ? 'every check passed\n' : `failed: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** Runs one check; prints how long it took, and its output if it failed. */
async function run(name, command) {
  const startMs = performance.now();
  const ended = promisify(execFile)(process.execPath, command, { cwd: ROOT, maxBuffer: 2 ** 30 });
  const [isOk, text] = await ended.then(
    () => [true, ''],
    ({ stdout, stderr }) => [false, `${stdout}${stderr}`],
  );
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  process.stdout.write(`${isOk ? 'ok' : 'FAILED'}  ${name} (${seconds} s)\n${text}`);
  return { name, isOk };
}

/** Whether the sources of `part` are there: a test that was removed or moved is still compiled. */
function isThere(part) {
  return existsSync(join(ROOT, part.replace(/^\.build\//, '').replace(/\.js$/, '.ts')));
}

/** The files that differ from HEAD, as paths from the root. */
function changedFiles() {
  if (!existsSync(join(ROOT, '.git'))) return []; // an archive: nothing to compare with
  const git = (...args) => outputOf('git', ...args).split('\n');
  const paths = [...git('diff', '--name-only', 'HEAD'), ...git('ls-files', '--others', '--exclude-standard')];
  return paths.filter((path) => path !== '');
}
