/**
 * Installs and builds, each only where it is needed. Plain JavaScript without a dependency: it runs before there
 * is anything to depend on. (It runs no install script of a dependency.)
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { httpBinaryProblem } from './httpBinary.js';
import { holding } from './lock.js';
import { problemOf, thisMachine } from './platform.cjs';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * @typedef {object} BuildStep
 * @property {readonly string[]} [needs]  steps that come first
 * @property {readonly string[]} inputs   files and folders that the outputs are made of
 * @property {readonly string[]} outputs  files that must exist afterwards
 * @property {readonly string[]} command  run by this Node
 * @property {string} [stamp]  what it was last run on, where that is not below .build
 * @property {Readonly<Record<string, string>>} compiled  folders of TypeScript and where they are compiled to
 */

const TSC = 'node_modules/typescript/bin/tsc';

/** The rules that the service and its clients share. */
const RULES = ['packages/rules/tsconfig.json', 'packages/rules/src'];
/** The TypeScript client, which the server's package has as `acuity/client`. */
const CLIENT = ['packages/client-ts/tsconfig.json', 'packages/client-ts/src'];

/** @type {Readonly<Record<string, BuildStep>>} */
export const STEPS = {
  // The test runner without what `.taprc` leaves out.
  runner: {
    inputs: ['.taprc'],
    outputs: ['node_modules/@tapjs/test/test-built/dist/esm/index.js'],
    command: ['node_modules/@tapjs/run/dist/esm/index.js', 'build'],
    // It changes a dependency in its place: another install of that is another matter.
    stamp: 'node_modules/@tapjs/test/test-built/.acuity-hash',
    compiled: {},
  },
  parser: {
    inputs: ['package-lock.json', 'assembly'],
    outputs: ['dist/reading/parser.wasm'],
    command: [
      'node_modules/assemblyscript/bin/asc.js',
      'assembly/index.ts',
      '--outFile',
      'dist/reading/parser.wasm',
      '-O3',
      '--runtime',
      'stub',
      '--enable',
      'simd',
    ],
    compiled: {},
  },
  // What scripts/rules.js generates from; `src` compiles them by itself.
  rules: {
    inputs: ['package-lock.json', 'tsconfig.base.json', ...RULES],
    outputs: ['dist/rules/fields.js'],
    command: [TSC, '-b', 'packages/rules'],
    compiled: { 'packages/rules/src': 'dist/rules' },
  },
  // The package of the TypeScript client, which examples/backend has by a link.
  client: {
    inputs: [
      'package-lock.json',
      'tsconfig.base.json',
      'scripts/clientPackage.js',
      'packages/client-ts/tsconfig.esm.json',
      'packages/client-ts/tsconfig.cjs.json',
      ...RULES,
      ...CLIENT,
    ],
    outputs: ['packages/client-ts/dist/esm/entry.js', 'packages/client-ts/dist/cjs/package.json'],
    command: ['scripts/clientPackage.js'],
    compiled: {},
  },
  src: {
    needs: ['parser'],
    inputs: ['package-lock.json', 'tsconfig.base.json', 'src', ...RULES, ...CLIENT],
    outputs: ['dist/main.js'],
    command: [TSC, '-b', 'src', 'packages/client-ts'],
    compiled: { src: 'dist', 'packages/rules/src': 'dist/rules', 'packages/client-ts/src': 'dist/client' },
  },
  all: {
    needs: ['parser'],
    inputs: [
      'package-lock.json',
      'tsconfig.base.json',
      'tsconfig.json',
      'src',
      ...RULES,
      ...CLIENT,
      'test',
      'bench',
      'torture',
      'native-models/training',
    ],
    outputs: ['dist/main.js', '.build/test.tsbuildinfo'],
    command: [TSC, '-b'],
    compiled: {
      src: 'dist',
      'packages/rules/src': 'dist/rules',
      'packages/client-ts/src': 'dist/client',
      test: '.build/test',
      bench: '.build/bench',
      torture: '.build/torture',
      'native-models/training': '.build/training',
    },
  },
};

/** Says what takes long, on standard error: standard output belongs to the program. */
function say(line) {
  process.stderr.write(`${line}\n`);
}

/**
 * Installs the dependencies where node_modules is missing or is not what the lock file describes; nothing where they
 * would not run here. Refuses a binary of the HTTP library that is not the listed one.
 * @param {string} root
 */
export async function install(root = ROOT, run = runNode, machine = thisMachine) {
  await installMissing(root, run, machine);
  const problem = httpBinaryProblem(root);
  if (problem?.isFault) throw new StepFailed(problem.sentence);
  if (problem !== undefined) say(`acuity: ${problem.sentence}`);
}

async function installMissing(root, run, machine) {
  const stamp = join(root, 'node_modules/.acuity-lock-hash');
  const problem = problemOf(machine());
  if (problem !== undefined) throw new StepFailed(problem);
  const wanted = hashOf(root, ['package-lock.json']);
  if (readStamp(stamp) === wanted) return;
  await holding(join(root, '.build/install.lock'), async () => {
    if (readStamp(stamp) === wanted) return;
    if (!matchesLockFile(root)) {
      say('Installing the dependencies (once) …');
      await run(root, [
        npmCli(),
        'ci',
        '--include=dev',
        '--ignore-scripts',
        '--no-audit',
        '--no-fund',
        '--loglevel=error',
      ]);
    }
    writeAtomically(stamp, wanted);
  });
}

/**
 * Runs a build step, and before it those that it needs, where the content of the inputs differs from what it was
 * last run on.
 * @param {string} name  a key of `STEPS`
 * @param {string} root
 */
export async function build(name, root = ROOT, steps = STEPS, run = runNode) {
  const step = steps[name];
  if (step === undefined) throw new Error(`no build step is called ${name}`);
  for (const needed of step.needs ?? []) await build(needed, root, steps, run);
  const stamp = join(root, step.stamp ?? `.build/${name}.stamp`);
  const isCurrent = () =>
    readStamp(stamp) === hashOf(root, step.inputs) &&
    step.outputs.every((path) => existsSync(join(root, path)));
  if (isCurrent()) return;
  await holding(join(root, '.build/build.lock'), async () => {
    if (isCurrent()) return;
    say('Building …');
    rmSync(stamp, { force: true });
    const inputs = hashOf(root, step.inputs); // before the compiler reads: an edit meanwhile makes the next build run
    await run(root, step.command);
    for (const output of Object.values(step.compiled)) removeOrphans(root, output, step.compiled);
    writeAtomically(stamp, inputs);
  });
}

/**
 * Whether npm's own record of what it installed agrees with the lock file, as after an `npm ci` by hand.
 * Optional packages may be absent: they are other platforms'.
 */
function matchesLockFile(root) {
  const installed = readPackages(join(root, 'node_modules/.package-lock.json'));
  const wanted = readPackages(join(root, 'package-lock.json'));
  if (installed === undefined || wanted === undefined) return false;
  return Object.entries(wanted).every(([path, { version, integrity, optional }]) => {
    if (!path.startsWith('node_modules/')) return true; // this repository and its workspaces
    const found = installed[path];
    if (found === undefined) return optional === true;
    return found.version === version && found.integrity === integrity;
  });
}

/** @returns {Record<string, {version?: string, integrity?: string, optional?: boolean}> | undefined} */
function readPackages(lockFile) {
  if (!existsSync(lockFile)) return undefined;
  return JSON.parse(readFileSync(lockFile, 'utf8')).packages;
}

/** The hash of the names and contents of the sources (TypeScript and JSON) among the paths. */
function hashOf(root, paths) {
  const hash = createHash('sha256');
  for (const path of paths.flatMap((path) => sourcesBelow(root, path)).toSorted()) {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** @returns {string[]} paths relative to the root */
function sourcesBelow(root, path) {
  if (/\.\w+$/.test(path)) return existsSync(join(root, path)) ? [path] : [];
  return filesBelow(join(root, path))
    .filter((file) => /\.(ts|json)$/.test(file))
    .map((file) => relative(root, file));
}

/** @returns {string[]} */
export function filesBelow(dir) {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (!entry.isDirectory()) return [path];
    return entry.name === 'node_modules' || entry.name.startsWith('.') ? [] : filesBelow(path);
  });
}

/** The compiler leaves the output of a source that was deleted or renamed; a deleted test would go on running. */
function removeOrphans(root, output, compiled) {
  for (const declaration of filesBelow(join(root, output)).filter((path) => path.endsWith('.d.ts'))) {
    const stem = declaration.slice(0, -'.d.ts'.length);
    if (hasSource(root, stem, compiled)) continue;
    for (const suffix of ['.d.ts', '.js', '.js.map']) rmSync(stem + suffix, { force: true });
  }
}

/** One project may be compiled into a folder within another's. */
function hasSource(root, stem, compiled) {
  return Object.entries(compiled).some(([sources, output]) => {
    const path = relative(join(root, output), stem);
    return !path.startsWith('..') && existsSync(join(root, sources, `${path}.ts`));
  });
}

/** npm as a script for this Node: the one that runs us, else the one beside the Node binary. */
function npmCli() {
  const candidates = [
    process.env['npm_execpath'],
    join(dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js'),
    join(dirname(process.execPath), 'node_modules/npm/bin/npm-cli.js'),
  ];
  const cli = candidates.find(
    (path) => path !== undefined && path.endsWith('npm-cli.js') && existsSync(path),
  );
  if (cli === undefined)
    throw new Error('npm was not found beside Node; run this through `npm start` or `npm test`');
  return cli;
}

/** Runs a script of ours with this Node; its output goes to standard error. Rejects when it fails. */
function runNode(root, command) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 2, 2] });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (code === 0) resolve(undefined);
      else
        reject(new StepFailed(`${command.slice(0, 3).join(' ')} failed (${signal ?? `exit code ${code}`})`));
    });
  });
}

/** A step that failed and has said why on standard error. */
export class StepFailed extends Error {}

function readStamp(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

function writeAtomically(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, text);
  renameSync(temporary, path);
}

/** What a folder that can't be written to answers. */
const WRITE_FAILURES = new Map([
  ['EACCES', 'permission denied'],
  ['EPERM', 'not permitted'],
  ['EROFS', 'read-only file system'],
  ['ENOSPC', 'no space left on the disk'],
  ['EDQUOT', 'the disk quota is used up'],
]);

/** Ends a script: what failed in one line; with a stack where nobody foresaw it. */
export function failWith(error) {
  say(
    isForOperator(error)
      ? `acuity: ${error.message}`
      : (writeFailure(error) ?? error?.stack ?? String(error)),
  );
  process.exit(1);
}

/** A step of ours, or an error of the service that names its own remedy. */
function isForOperator(error) {
  return error instanceof StepFailed || error?.isForOperator === true;
}

function writeFailure({ code, path, dest } = {}) {
  const reason = WRITE_FAILURES.get(code);
  if (reason === undefined) return undefined;
  const place = dest ?? path ?? ROOT;
  return `acuity: cannot write ${place}: ${reason} (${code}); what is missing is installed and built in this folder, so use a copy of it that you may write to`;
}
