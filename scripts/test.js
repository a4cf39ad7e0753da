/**
 * `npm test`: installs, builds and runs the tests. Arguments select the test files whose path contains one of
 * them; `--quick` (`npm run test:quick`) leaves out those that start a process. At the end it names the
 * slowest files; the last line is `N passed, N failed`. The exit code is zero only if something passed and
 * nothing failed. With ALLOWED_SKIPS, a regular expression, the reason of every skipped test must match too.
 */
import { accessSync, constants } from 'node:fs';
import { availableParallelism } from 'node:os';
import { build, failWith, install, ROOT } from './prepare.js';
import { countAfterAnother, countOf, isSuccess, skippedIn, slowest, summary } from './tapCount.js';
import { quickTests, testFiles } from './tests.js';

/** If more files than this fail, a busy machine is not the cause. */
const MOST_RUN_AGAIN = 8;
/** Most files mainly wait, for a server or a clock: two for each core keep the cores busy. */
const JOBS = 2 * availableParallelism();

try {
  await install();
  await build('runner');
  await build('all');
  accessSync(ROOT, constants.W_OK); // tests keep their folders here
  process.exitCode = await test(process.argv.slice(2));
} catch (error) {
  failWith(error);
}

async function test(args) {
  const { runFiles } = await import('./tapRun.js'); // what it imports may just have been installed
  const filters = args.filter((argument) => argument !== '--quick');
  const isQuick = filters.length < args.length;
  const isAll = args.length === 0;
  const results = await runFiles(ROOT, selected(isQuick, filters), JOBS);
  if (isAll || isQuick)
    process.stdout.write(`\nThe slowest files, in seconds:\n${slowest(results, 10).join('\n')}\n`);
  const skipped = skippedIn(results);
  if (skipped.length > 0) process.stdout.write(`\nSkipped:\n  ${skipped.join('\n  ')}\n`);
  const total = isAll ? await afterAnother(runFiles, results) : countOf(results);
  process.stdout.write(`${summary(total)}\n`);
  const allowed = process.env['ALLOWED_SKIPS'];
  const forbidden = allowed === undefined ? [] : skippedIn(results, new RegExp(allowed));
  return isSuccess(total) && forbidden.length === 0 ? 0 : 1;
}

/**
 * The service's tests share the cores with one another, and some depend on a starved process being on time.
 * In a run of all files, those that fail run once more, one at a time: a second failure counts, a pass is
 * named.
 */
async function afterAnother(runFiles, results) {
  const files = failedOf(results);
  if (files.length === 0 || files.length > MOST_RUN_AGAIN) return countOf(results);
  process.stdout.write(`\nRun again, one at a time: ${files.join(', ')}\n`);
  const again = await runFiles(ROOT, files, 1);
  const passed = files.filter((file) => !failedOf(again).includes(file));
  if (passed.length > 0) process.stdout.write(`Failed beside others, passed alone: ${passed.join(', ')}\n`);
  return countAfterAnother(countOf(results), countOf(again));
}

function failedOf(results) {
  return results.filter(({ failed }) => failed > 0).map(({ path }) => path);
}

/** Those that start processes take longest, so they come first: otherwise the last one runs alone. */
function selected(isQuick, filters) {
  const quick = quickTests(ROOT);
  const slow = isQuick ? [] : testFiles(ROOT).filter((path) => !quick.includes(path));
  return [...slow, ...quick].filter(
    (path) => filters.length === 0 || filters.some((part) => path.includes(part)),
  );
}
