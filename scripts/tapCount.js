/**
 * What a run of test files is summed up as.
 * @typedef {Pick<import('./tapRun.js').FileResult, 'passed' | 'failed' | 'skipped'>} Count
 */

/** @param {readonly Count[]} results  of the files of a run */
export function countOf(results) {
  const sum = (name) => results.reduce((total, result) => total + result[name], 0);
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
}

/** The files that took longest, a line each. */
export function slowest(results, most) {
  return results
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, most)
    .map(({ path, seconds }) => `${seconds.toFixed(1).padStart(6)}  ${path}`);
}

/** What was skipped, a line for each reason with the files; `allowed` leaves out the reasons that match. */
export function skippedIn(results, allowed) {
  const files = new Map();
  for (const { path, skips } of results)
    for (const reason of skips.filter((reason) => !allowed?.test(reason)))
      files.set(reason, (files.get(reason) ?? new Set()).add(path));
  return [...files].map(([reason, paths]) => `${reason}: ${[...paths].join(', ')}`);
}

/** The line about a file that has ended; `left` have not. */
export function line({ path, seconds, passed, failed, skipped }, left) {
  const name = path.replace(/^\.build\/test\//, '').replace(/\.test\.js$/, '');
  const state = failed > 0 ? 'FAILED' : passed === 0 ? 'none' : 'ok';
  return `${state.padEnd(6)} ${seconds.toFixed(1).padStart(6)} s  ${name}: ${summary({ passed, failed, skipped })}; ${left} left`;
}

/** @param {Count} count */
export function summary({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** A run in which nothing passed has shown nothing. @param {Count} count */
export function isSuccess({ passed, failed }) {
  return failed === 0 && passed > 0;
}
