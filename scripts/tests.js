/** Lists the test files, those that start no process, and those that a change reaches. */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { importGraph, reachOf } from './importGraph.js';
import { filesBelow, STEPS } from './prepare.js';

const TESTS = '.build/test';
/** Where modules are compiled to, by source folder; longest first, because one may be inside another. */
const COMPILED = Object.entries(STEPS.all.compiled).toSorted(([a], [b]) => b.length - a.length);
/**
 * What `npm test` leaves to `npm run test:all`, as paths below test/ or their beginnings: callers in other languages,
 * proxies and other programs, pages in a browser, faults and floods, packages as they are released, tables of other
 * engines.
 */
const LONG = [
  'deploy/',
  'flow/coresTaken',
  'flow/exampleBackend',
  'flow/floods',
  'flow/foreignClients',
  'flow/generatedClients',
  'flow/hanging',
  'flow/npm',
  'flow/oddFiles',
  'flow/pages',
  'flow/rawHttp',
  'flow/reactionTest',
  'flow/readOnly',
  'flow/schemathesis',
  'flow/shadow',
  'flow/tryPage',
  'packages/',
  'torture/',
];
/** Modules with which a test starts a process, a server in one, or a browser. */
const STARTERS = new Set(['node:child_process', 'playwright-core']);

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

/**
 * The test files that start no process, and so neither a server nor a browser. Service code that a test calls in its
 * own process may still start one; such tests are not recognised.
 * @param {string} root
 */
export function quickTests(root) {
  const graph = importGraph(root, ['.build']);
  const isOurs = (path) => path.startsWith('.build/') || STARTERS.has(path);
  return testFiles(root).filter((path) => !hasOneOf(reachOf(graph, path, isOurs), STARTERS));
}

/**
 * The tests that a change of `sources` reaches: by imports, worker threads included, and for files that are no modules
 * (documents, assets, data) by a path or folder named in a test or its fixtures. A server that a test
 * starts as a process is not followed: `npm test` runs all tests.
 * @param {string} root
 * @param {readonly string[]} sources  paths from the root
 */
export function testsReached(root, sources) {
  const graph = importGraph(root, ['dist', '.build']);
  const modules = new Set(sources.flatMap((path) => compiledFrom(path) ?? []));
  const others = sources.filter((path) => compiledFrom(path) === undefined);
  const touched = new Set([...modules, ...[...graph.imports.keys()].filter(isNamedIn)]);
  return testFiles(root).filter((path) => hasOneOf(reachOf(graph, path), touched));

  function isNamedIn(path) {
    if (others.length === 0 || !path.startsWith(TESTS)) return false;
    const text = readFileSync(join(root, path), 'utf8');
    return others.some(
      (other) => text.includes(other) || foldersOf(other).some((name) => isFolderIn(text, name)),
    );
  }
}

/** `docs/examples/a.json` → `docs`, `docs/examples`. */
function foldersOf(path) {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** A name without a slash (`docs`) is also an ordinary word. */
function isFolderIn(text, name) {
  if (name.includes('/')) return text.includes(name);
  return [`'${name}'`, `"${name}"`, `\`${name}\``].some((quoted) => text.includes(quoted));
}

/** Node 20 has no methods for sets. */
function hasOneOf(set, wanted) {
  return [...wanted].some((item) => set.has(item));
}

/** The compiled file of a source; undefined if it is no source. */
function compiledFrom(path) {
  if (path.startsWith('assembly/')) return STEPS.parser.outputs[0];
  if (!path.endsWith('.ts')) return undefined;
  const [sources, output] = COMPILED.find(([folder]) => path.startsWith(`${folder}/`)) ?? [];
  return sources === undefined ? undefined : `${output}${path.slice(sources.length, -'.ts'.length)}.js`;
}
