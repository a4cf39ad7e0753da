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

/** @param {Count} count */
export function summary({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** A run in which nothing passed has shown nothing. @param {Count} count */
export function isSuccess({ passed, failed }) {
  return failed === 0 && passed > 0;
}
