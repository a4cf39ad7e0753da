/**
 * `npm test`: installs, builds and runs the tests, but for the long ones (`LONG` in tests.js), which `npm run test:all`
 * runs. Arguments select among all the test files whose path contains one of them; one that no path contains is an error,
 * before any test runs. It prints a line for each file as it ends, then the slowest files and what was skipped; the last
 * line is `N passed, N failed`. The exit code is zero only if something passed and nothing failed. With ALLOWED_SKIPS, a
 * regular expression, the reason of every skipped test must match too.
 */
import { accessSync, constants } from 'node:fs';
import { availableParallelism } from 'node:os';
import { underFittingNode } from './ownNode.js';
import { build, endOnError, install, ROOT, StepFailed } from './prepare.js';
import { isLong, isQuick, testFiles } from './tests.js';

/** Most files mainly wait, for a server or a clock: two for each core keep the cores busy. */
const JOBS = 2 * availableParallelism();

endOnError();
await underFittingNode('test');
await install();
// The tests are compiled with the runner's types, which its build writes anew.
await Promise.all([build('runner'), build('src')]);
await build('all');
accessSync(ROOT, constants.W_OK); // tests keep their folders here
process.exitCode = await test(process.argv.slice(2));

async function test(args) {
  // What it imports may just have been installed.
  const { countOf, line, runFiles, skippedIn, slowest, summary } = await import('./tapRun.js');
  const files = selected(args);
  let left = files.length;
  const results = await runFiles(ROOT, files, JOBS, (result) => {
    left--;
    process.stdout.write(`${line(result, left)}\n`);
  });
  process.stdout.write(`\nThe slowest files, in seconds:\n${slowest(results, 10).join('\n')}\n`);
  const skipped = skippedIn(results);
  if (skipped.length > 0) process.stdout.write(`\nSkipped:\n  ${skipped.join('\n  ')}\n`);
  const total = countOf(results);
  process.stdout.write(`${summary(total)}\n`);
  const allowed = process.env['ALLOWED_SKIPS'];
  const forbidden = allowed === undefined ? [] : skippedIn(results, new RegExp(allowed));
  // A run in which nothing passed has shown nothing.
  return total.failed === 0 && total.passed > 0 && forbidden.length === 0 ? 0 : 1;
}

/** Those that start processes take longest, so they come first: otherwise the last one runs alone. */
function selected(args) {
  const parts = args.filter((argument) => argument !== '--long');
  const isWanted =
    parts.length > 0
      ? (path) => parts.some((part) => path.includes(part))
      : (path) => isLong(path) === args.includes('--long');
  const all = testFiles(ROOT);
  const unknown = parts.filter((part) => !all.some((path) => path.includes(part)));
  if (unknown.length > 0) throw new StepFailed(`no test file has ${unknown.join(' or ')} in its path`);
  return [false, true].flatMap((is) => all.filter((path) => isWanted(path) && isQuick(ROOT, path) === is));
}
