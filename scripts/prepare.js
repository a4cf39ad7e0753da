/**
 * Installs and builds, each only if needed. Plain JavaScript without dependencies: it runs before any are
 * installed. (It runs no install script of a dependency.)
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getSystemErrorMap } from 'node:util';
import { holding } from './lock.js';
import { keepOnePlatform } from './onePlatform.js';
import { problemOf, thisMachine } from './platform.cjs';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * @typedef {object} BuildStep
 * @property {readonly string[]} [needs]  steps that are run beside it: the compiler reads nothing of theirs
 * @property {readonly string[]} inputs   files and folders that the outputs are made of
 * @property {readonly string[]} outputs  files that must exist afterwards
 * @property {readonly string[]} command  run by this Node
 * @property {string} [lock]  name of the lock that it holds, if it is not that of the compiler
 * @property {string} [stamp]  file with the hash of its last inputs, if that is not below .build
 * @property {Readonly<Record<string, string>>} compiled  folders of TypeScript and where they are compiled to
 */

/** The compiler that builds; the one of the root is what tools and tests call as a library. */
export const TSC = 'packages/build-tools/node_modules/typescript/bin/tsc';

/** The rules shared by the service and its clients. */
const RULES = ['packages/rules/tsconfig.json', 'packages/rules/src'];
/** Code that makes sessions of providers' answers, in the service and in the TypeScript client. */
const ADAPTERS = ['packages/adapters/tsconfig.json', 'packages/adapters/src'];
/** The TypeScript client, which the server's package contains as `acuity/client`. */
const CLIENT = ['packages/client-ts/tsconfig.json', 'packages/client-ts/src'];

/** Sources of `dist`. */
const SERVICE = [
  'package-lock.json',
  'tsconfig.base.json',
  'src',
  ...RULES,
  ...ADAPTERS,
  'packages/norms', // copied beside the code that reads them
  ...CLIENT,
];
const COMPILED = {
  src: 'dist',
  'packages/rules/src': 'dist/rules',
  'packages/adapters/src': 'dist/adapters',
  'packages/client-ts/src': 'dist/client',
};
/** Other compiled folders, for those who change the service. */
const TOOLS = { test: '.build/test', bench: '.build/bench', 'native-models/training': '.build/training' };

/** @type {Readonly<Record<string, BuildStep>>} */
export const STEPS = {
  // The test runner without what `.taprc` leaves out.
  runner: {
    inputs: ['.taprc'],
    outputs: ['node_modules/@tapjs/test/test-built/dist/esm/index.js'],
    command: ['node_modules/@tapjs/run/dist/esm/index.js', 'build'],
    // It changes a dependency in place, and a new install undoes that.
    stamp: 'node_modules/@tapjs/test/test-built/.acuity-hash',
    lock: 'runner',
    compiled: {},
  },
  parser: {
    inputs: ['package-lock.json', 'assembly'],
    outputs: ['dist/read/parser.wasm'],
    lock: 'parser',
    command:
      'node_modules/assemblyscript/bin/asc.js assembly/index.ts --outFile dist/read/parser.wasm -O3 --runtime stub --enable simd'.split(
        ' ',
      ),
    compiled: {},
  },
  // Sources that scripts/docs.js generates from; `src` compiles them by itself.
  rules: {
    inputs: ['package-lock.json', 'tsconfig.base.json', ...RULES],
    outputs: ['dist/rules/fields.js'],
    command: [TSC, '-b', 'packages/rules'],
    compiled: { 'packages/rules/src': 'dist/rules' },
  },
  // The package of the TypeScript client, which examples/backend links to.
  client: {
    inputs: [
      'package-lock.json',
      'tsconfig.base.json',
      'scripts/clientPackage.js',
      'packages/client-ts/tsconfig.esm.json',
      'packages/client-ts/tsconfig.cjs.json',
      ...RULES,
      ...ADAPTERS,
      ...CLIENT,
    ],
    outputs: ['packages/client-ts/dist/esm/entry.js', 'packages/client-ts/dist/cjs/package.json'],
    command: ['scripts/clientPackage.js'],
    compiled: {},
  },
  src: {
    needs: ['parser'],
    inputs: SERVICE,
    outputs: ['dist/main.js'],
    command: [TSC, '-b', 'src', 'packages/client-ts'],
    compiled: COMPILED,
  },
  all: {
    needs: ['parser'],
    inputs: [...SERVICE, 'tsconfig.json', ...Object.keys(TOOLS)],
    outputs: ['dist/main.js', '.build/test.tsbuildinfo'],
    command: [TSC, '-b'],
    compiled: { ...COMPILED, ...TOOLS },
  },
};

/** Reports long work on standard error: standard output belongs to the program. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/**
 * What is installed. `service`: what building and serving need, from packages/build-tools; `all`: also what
 * tests, checks and benches need, the root's development dependencies.
 * @typedef {'service' | 'all'} Scope
 */
const OMITTED = { service: '--omit=dev', all: '--include=dev' };

export const QUIETLY = ['--prefix=.', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

/**
 * Installs the dependencies if node_modules is missing or differs from the lock file, unless they would not
 * run on this machine. Under a Node that does not fit, the calling script begins anew under one that does.
 * @param {Scope} scope
 * @param {string} root
 */
export async function install(scope = 'all', root = ROOT, run = runNode, machine = thisMachine) {
  const problem = problemOf(machine());
  if (problem !== undefined) {
    // Every script of a clone comes by here: where only the Node does not fit, it goes on under one that does.
    const { underFittingNode } = await import('./ownNode.js');
    await underFittingNode(process.env['npm_lifecycle_event'] ?? 'install');
    throw new StepFailed(problem);
  }
  const { platform, arch } = process;
  const own = `${platform}-${arch}`;
  // Names the platform whose libraries alone are left.
  const stamp = join(root, 'node_modules/.acuity-platform');
  const has = (asked) => (readStamp(stamp) ?? own) === own && matchesLockFile(root, asked);
  if (has(scope)) return;
  await holding(join(root, '.build/install.lock'), async () => {
    if (has(scope)) return;
    // Keep the service's packages: it may be running. `--no-save` leaves the lock file as it is.
    const command = has('service') ? ['install', '--no-save'] : ['ci'];
    const packages = scope === 'service' ? 'packages' : 'development packages';
    say(`Installing the ${packages} (once, for half a minute) …`);
    await run(root, [npmCli(), ...command, OMITTED[scope], ...QUIETLY], npmNode());
    keepOnePlatform(join(root, 'node_modules'), { platform, arch });
    writeAtomically(stamp, own);
  });
}

/**
 * Runs a build step, and the steps that it needs beside it, each if the content of its inputs has changed since its last
 * run.
 * @param {string} name  a key of `STEPS`
 * @param {string} root
 */
export async function build(name, root = ROOT, steps = STEPS, run = runNode) {
  const step = steps[name];
  if (step === undefined) throw new Error(`no build step is called ${name}`);
  const stamp = join(root, step.stamp ?? `.build/${name}.stamp`);
  const isCurrent = () =>
    readStamp(stamp) === hashOf(root, step.inputs) &&
    step.outputs.every((path) => existsSync(join(root, path)));
  const needed = (step.needs ?? []).map((each) => build(each, root, steps, run));
  const own = async () => {
    if (isCurrent()) return;
    say(`Building ${name} …`);
    rmSync(stamp, { force: true });
    const inputs = hashOf(root, step.inputs); // before the compiler reads: an edit meanwhile makes the next build run
    await run(root, step.command);
    for (const output of Object.values(step.compiled)) removeOrphans(root, output, step.compiled);
    writeAtomically(stamp, inputs);
  };
  if (!isCurrent()) needed.push(holding(join(root, `.build/${step.lock ?? 'build'}.lock`), own));
  await Promise.all(needed);
}

/**
 * Whether npm's own record of what it installed agrees with the lock file. Optional packages may be absent: they are for other platforms. For `service`, development packages
 * may be absent too.
 */
function matchesLockFile(root, scope) {
  const installed = readPackages(join(root, 'node_modules/.package-lock.json'));
  const wanted = readPackages(join(root, 'package-lock.json'));
  if (installed === undefined || wanted === undefined) return false;
  return Object.entries(wanted).every(([path, { version, integrity, ...entry }]) => {
    if (!path.includes('node_modules/') || entry.link) return true; // this repository and its workspaces
    const found = installed[path];
    if (found === undefined) return !isWanted(entry, scope);
    return found.version === version && found.integrity === integrity;
  });
}

function isWanted({ optional, dev, devOptional }, scope) {
  return !optional && (scope === 'all' || !(dev || devOptional));
}

/** @returns {Record<string, {version?: string, integrity?: string, optional?: boolean, dev?: boolean, devOptional?: boolean, link?: boolean}> | undefined} */
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

/** The compiler leaves the output of a source that was deleted or renamed; a deleted test would still run. */
function removeOrphans(root, output, compiled) {
  for (const declaration of filesBelow(join(root, output)).filter((path) => path.endsWith('.d.ts'))) {
    const stem = declaration.slice(0, -'.d.ts'.length);
    // One project may be compiled into a folder within another's.
    const hasSource = Object.entries(compiled).some(([sources, folder]) => {
      const path = relative(join(root, folder), stem);
      return !path.startsWith('..') && existsSync(join(root, sources, `${path}.ts`));
    });
    if (hasSource) continue;
    for (const suffix of ['.d.ts', '.js', '.js.map']) rmSync(stem + suffix, { force: true });
  }
}

/** The Node that npm came with: an npm need not run under an older one. */
export const npmNode = () => process.env['npm_node_execpath'] ?? process.execPath;

/** npm as a script: the one that runs this script, else the one beside its Node. */
export function npmCli() {
  const beside = dirname(npmNode());
  const candidates = [
    process.env['npm_execpath'],
    join(beside, '../lib/node_modules/npm/bin/npm-cli.js'),
    join(beside, 'node_modules/npm/bin/npm-cli.js'),
  ];
  const cli = candidates.find(
    (path) => path !== undefined && path.endsWith('npm-cli.js') && existsSync(path),
  );
  if (cli === undefined)
    throw new StepFailed('npm was not found beside Node; run this through `npm start` or `npm test`');
  return cli;
}

/** Runs a script with this Node or another; its output goes to standard error. Rejects when it fails. */
export function runNode(cwd, command, node = process.execPath) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, command, { cwd, stdio: ['ignore', 2, 2] });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (code === 0) resolve(undefined);
      else
        reject(new StepFailed(`${command.slice(0, 3).join(' ')} failed (${signal ?? `exit code ${code}`})`));
    });
  });
}

/** Runs a command in the root to its end; its output goes to standard error. @throws StepFailed */
export function runToEnd(command, ...args) {
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new StepFailed(`${command} ${args.slice(0, 2).join(' ')} failed`);
}

/** What a command that runs in the root writes to standard output. @throws StepFailed */
export function outputOf(command, ...args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new StepFailed(`${command} ${args[0]} failed: ${stderr}`);
  return stdout;
}

/** A step failed and has printed the reason on standard error. */
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

/** Errors of a folder that can't be written to. */
const CANNOT_WRITE = /^(EACCES|EPERM|EROFS|ENOSPC|EDQUOT)$/;

/** From here on an error ends the script as `failWith` does. Not where a server follows: that has its own way. */
export function endOnError() {
  process.once('uncaughtException', failWith);
}

/** Ends a script with one line about the failure, or with the stack of an unexpected error. */
export function failWith(error) {
  // A failed step, or an error of the service that names its own remedy.
  const isForOperator = error instanceof StepFailed || error?.isForOperator === true;
  say(isForOperator ? `acuity: ${error.message}` : (writeFailure(error) ?? error?.stack ?? String(error)));
  process.exit(1);
}

function writeFailure({ code, errno, path, dest } = {}) {
  if (!CANNOT_WRITE.test(code)) return undefined;
  const [, reason] = getSystemErrorMap().get(errno);
  const place = dest ?? path ?? ROOT;
  return `acuity: cannot write ${place}: ${reason} (${code}); what is missing is installed and built in this folder, so use a copy of it that you may write to`;
}
