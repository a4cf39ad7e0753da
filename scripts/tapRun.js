/**
 * Runs test files, each in its own process, which writes TAP. `tap run` would load a coverage module into each
 * process, which costs more processor time than most of these files.
 */
import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { Parser } from 'tap-parser';

/** A file that takes longer is stopped and counts as failed. */
const FILE_S = 300;

/**
 * @typedef {object} FileResult
 * @property {string} path
 * @property {number} seconds
 * @property {number} passed   test points, those of subtests included
 * @property {number} failed
 * @property {number} skipped  those marked "todo" included
 * @property {readonly string[]} skips  why, a reason for each
 */

/**
 * @param {string} root
 * @param {readonly string[]} files  paths from the root
 * @param {number} jobs  so many files run at once
 * @param {(result: FileResult) => void} ended  is called as each file ends
 * @returns {Promise<FileResult[]>}  in the order of `files`; what failed is written to standard output on the way
 */
export async function runFiles(root, files, jobs, ended) {
  const results = files.map(() => undefined);
  const waiting = files.entries();
  const work = async () => {
    for (const [index, path] of waiting) {
      const result = await runFile(root, path);
      results[index] = result;
      ended(result);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return results;
}

async function runFile(root, path) {
  const startMs = performance.now();
  // tap's own time-out says which test did not end; this one is for a process that does not respond.
  const env = { ...process.env, TAP: '1', TAP_TIMEOUT: String(FILE_S) };
  delete env['CI']; // with it, tap would show no differences
  const child = spawn(process.execPath, ['--enable-source-maps', path], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: (FILE_S + 10) * 1000,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal ?? code));
  });
  const parser = new Parser();
  const count = { passed: 0, failed: 0, skipped: 0 };
  const skips = [];
  // The points of a test and of its subtests, but not the line that sums up a subtest.
  parser.on('result', ({ ok, skip, todo }) => {
    count[skip || todo ? 'skipped' : ok ? 'passed' : 'failed']++;
    if (skip || todo) skips.push(String(skip || todo));
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (piece) => {
    output += piece;
    parser.write(piece);
  });
  child.stderr.setEncoding('utf8').on('data', (piece) => (errors += piece));
  const end = await ended;
  parser.end();
  if (end !== 0 && count.failed === 0) count.failed = 1;
  if (count.failed > 0) process.stdout.write(`\nFAILED ${path} (${end}):\n${failuresIn(output)}${errors}\n`);
  return { path, seconds: (performance.now() - startMs) / 1000, ...count, skips };
}

/** A file's TAP without the points that passed. */
function failuresIn(output) {
  const lines = stripVTControlCharacters(output).split('\n');
  return lines.filter((line) => !/^ *ok \d/.test(line)).join('\n');
}

/** The sums of the files of a run. @param {readonly FileResult[]} results */
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

/** The reasons of what was skipped, a line for each with the files; `allowed` leaves out the reasons that match. */
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

export function summary({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
