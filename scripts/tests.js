/** Lists the test files, those that start no process, and those beside what changed. */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { filesBelow } from './prepare.js';

const TESTS = '.build/test';
/**
 * What `npm test` leaves to `npm run test:all`, as paths below test/ or their beginnings: callers in other languages and
 * examples of pages, proxies and other programs, pages in a browser, faults and floods, packages as they are released,
 * tables of other engines, starved threads, servers of others, benches, points of the evaluation.
 */
const LONG = [
  'bench/',
  'deploy/',
  'docs/commands',
  'docs/examples',
  'docs/steps',
  'faults/',
  'flow/example',
  'flow/floods',
  'flow/foreignClients',
  'flow/hanging',
  'flow/npm',
  'flow/oddFiles',
  'flow/pages',
  'flow/rawHttp',
  'flow/shadow',
  'flow/starving',
  'flow/systemCalls',
  'lake/kills',
  'model-behaviour/points',
  'packages/',
  'scripts/archive',
  'tune/tune',
];
/** Imports by which a test starts processes, servers and browsers among them; most commands of `acuity` are short. */
const STARTERS =
  /node:child_process|playwright-core|\b(ended|running)\b.*scripts\.js|acuity\(\['tune'|fixtures\/(proxies|redis|browser|promtool|server|stops)\.js/;

/**
 * Every test file, by its path from the root.
 * @param {string} root
 * @returns {string[]}
 */
export function testFiles(root) {
  return filesBelow(join(root, TESTS))
    .map((path) => relative(root, path))
    .filter((path) => path.endsWith('.test.js'))
    .toSorted();
}

/** Whether a test file is one that only `npm run test:all` runs. @param {string} path  from the root */
export function isLong(path) {
  return LONG.some((start) => path.startsWith(`${TESTS}/${start}`));
}

/** Whether a test file starts no process but, in a few, a command that ends: neither a server nor a browser. */
export function isQuick(root, path) {
  return !STARTERS.test(readFileSync(join(root, path), 'utf8'));
}

/** Folders whose tests are in folders of another name. */
const TESTED_IN = {
  assembly: ['read'],
  cases: ['client'],
  'client-python': ['packages'],
  'client-ts': ['client'],
  'native-models': ['model-behaviour'],
  norms: ['contract'],
  rules: ['rules', 'read'],
};

/** The test of what `npm run docs` writes: out of almost every folder. */
const GENERATED = `${TESTS}/docs/generated.test.js`;

/**
 * Parts of paths of the tests that mirror `sources`: of `src/http/lists/list.ts` the tests in `http`, of a test itself;
 * with any of them the test of what is generated.
 * @param {readonly string[]} sources  paths from the root
 */
export function testsBeside(sources) {
  const parts = sources.flatMap((path) => {
    if (path.endsWith('.test.ts')) return [`.build/${path.replace(/\.ts$/, '.js')}`];
    const [, folder] = /^(?:src\/|test\/|packages\/)?([\w-]+)\//.exec(path) ?? [];
    if (folder === undefined) return [];
    return (TESTED_IN[folder] ?? [folder]).map((one) => `${TESTS}/${one}/`);
  });
  if (sources.length > 0) parts.push(GENERATED);
  return [...new Set(parts)];
}
