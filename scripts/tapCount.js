/**
 * @typedef {object} Count
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped  those marked "todo" included
 */

/**
 * Counts the test points of a run from the line with which tap ends its output: `# { total: 3, pass: 2, fail: 1 }`.
 * A runner that failed without a failed test point, or without that line, counts as one failure.
 * @param {string} tapOutput
 * @param {number} exitCode
 * @returns {Count}
 */
export function countFrom(tapOutput, exitCode) {
  const [, totals = ''] = [...tapOutput.matchAll(/^# \{ (total: .*) \}$/gm)].at(-1) ?? [];
  const numberOf = (name) => Number(new RegExp(`\\b${name}: (\\d+)`).exec(totals)?.[1] ?? 0);
  const failed = numberOf('fail');
  return {
    passed: numberOf('pass'),
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: numberOf('skip') + numberOf('todo'),
  };
}

/**
 * The test files that failed, by the lines with which tap ends each of them.
 * @param {string} tapOutput
 * @returns {string[]} paths as they were given to tap
 */
export function failedFiles(tapOutput) {
  return [...tapOutput.matchAll(/^not ok \d+ - (\S+\.test\.js)/gm)].map(([, path]) => path);
}

/**
 * The files that took longest, a line each.
 * @param {string} tapOutput
 * @param {number} most
 * @returns {string[]}
 */
export function slowest(tapOutput, most) {
  const lines = [...tapOutput.matchAll(/^(?:not )?ok \d+ - (\S+\.test\.js) # time=([\d.]+)(m?s)/gm)];
  return lines
    .map(([, path, time, unit]) => ({ path, seconds: Number(time) / (unit === 'ms' ? 1000 : 1) }))
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, most)
    .map(({ path, seconds }) => `${seconds.toFixed(1).padStart(6)}  ${path}`);
}

/**
 * The count of a run whose failed files were run again: a point that failed and does not fail alone has passed.
 * @param {Count} first  of all files
 * @param {Count} again  of the failed ones
 * @returns {Count}
 */
export function countAfterAnother(first, again) {
  const passed = first.passed + Math.max(0, first.failed - again.failed);
  return { ...first, passed, failed: again.failed };
}

/** @param {Count} count */
export function summary({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** A run in which nothing passed has shown nothing. @param {Count} count */
export function isSuccess({ passed, failed }) {
  return failed === 0 && passed > 0;
}
