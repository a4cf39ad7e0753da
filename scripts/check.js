/**
 * `npm run check`: what must hold before a commit: format, lint, types, import rules, dead code, words, and the tests beside
 * the files that differ from HEAD; `npm run check -- --all` runs every test instead. It makes all checks, side by
 * side; then it fails if one failed.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { endOnError, install, ROOT, TSC } from './prepare.js';
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
const tests = beside.filter((part) => testFiles(ROOT).some((path) => path.includes(part)));
if (isAll || tests.length > 0) outcomes.push(await run('tests', ['scripts/test.js', ...tests]));

const failed = outcomes.filter(({ isOk }) => !isOk).map(({ name }) => name);
process.stdout.write(failed.length === 0 ? 'every check passed\n' : `failed: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** Runs one check; prints how long it took, and its output if it failed. */
function run(name, command) {
  const startMs = performance.now();
  const child = spawn(process.execPath, command, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece) => (text += piece));
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
      process.stdout.write(
        `${code === 0 ? 'ok' : 'FAILED'}  ${name} (${seconds} s)\n${code === 0 ? '' : text}`,
      );
      resolve({ name, isOk: code === 0 });
    });
  });
}

/** The files that differ from HEAD, as paths from the root. */
function changedFiles() {
  if (!existsSync(join(ROOT, '.git'))) return []; // an archive: nothing to compare with
  const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n');
  const paths = [...git('diff', '--name-only', 'HEAD'), ...git('ls-files', '--others', '--exclude-standard')];
  return paths.filter((path) => path !== '');
}
