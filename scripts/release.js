/**
 * `npm run release`: makes the files of a release from the last commit, in .build/release, with their SHA-256. The
 * commit must have the tag of its version. It publishes nothing: the workflow does (RELEASING.md).
 *
 * `npm run release -- --dry-run` needs no tag, and makes everything a second time: in another folder, under another
 * user (as root; else the same), with other times, language and time zone. It fails where a byte differs.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failWith, install, ROOT, StepFailed } from './prepare.js';
import { versionOf } from './version.js';

const OUT = join(ROOT, '.build/release');
const HATCHLING = join(ROOT, '.build/hatchling');
const CLIENT_PYTHON = 'packages/client-python';
const CHART = 'deploy/helm';
/** `nobody` where that exists; any number without rights will do. */
const OTHER_USER = 65_534;

/** Where and how the files are made. */
const HERE = {
  name: 'release',
  touched: undefined,
  user: undefined,
  env: { TZ: 'UTC', LC_ALL: 'C' },
};
const ELSEWHERE = {
  name: 'release made again, in a folder of a longer name',
  touched: '2001-02-03T04:05:06',
  user: process.getuid?.() === 0 ? OTHER_USER : undefined,
  env: { TZ: 'Asia/Kathmandu', LC_ALL: 'C.UTF-8' },
};

try {
  const isDry = process.argv.slice(2).includes('--dry-run');
  const { version, problems } = versionOf(ROOT);
  if (problems.length > 0) throw new StepFailed(problems.join('\n'));
  if (git('status', '--porcelain') !== '')
    say('Files that are not committed are left out: a release is made from the last commit.');
  if (!isDry) demandTag(`v${version}`);
  await install();
  installHatchling();
  const files = make(HERE, version);
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  const digests = Object.entries(files).map(([name, bytes]) => [name, sha256(bytes)]);
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(OUT, name), bytes);
  const sums = digests.map(([name, digest]) => `${digest}  ${name}\n`).join('');
  writeFileSync(join(OUT, 'SHA256SUMS'), sums);
  process.stdout.write(sums);
  if (isDry) demandSame(files, make(ELSEWHERE, version));
} catch (error) {
  failWith(error);
}

/** @returns {Record<string, Buffer>} the files by their names */
function make(way, version) {
  say(`Making acuity ${version}${way.user === undefined ? '' : `, as user ${way.user}`} …`);
  const folder = mkdtempSync(join(tmpdir(), 'acuity-release-'));
  try {
    if (way.user !== undefined) chownSync(folder, way.user, way.user);
    const [source, out] = [join(folder, way.name), join(folder, 'out')];
    const run = runIn(source, way, folder);
    run('mkdir', [source, out], folder);
    run('tar', ['-x'], source, archiveOf('HEAD'));
    if (way.touched !== undefined) run('find', ['.', '-exec', 'touch', '-d', way.touched, '{}', '+']);
    symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'));
    const pack = ['pack', '--silent', '--pack-destination', out];
    run('npm', pack);
    run('npm', [...pack, '--workspace', 'packages/client-ts']);
    run('python3', ['-m', 'hatchling', 'build', '-d', out], join(source, CLIENT_PYTHON));
    return {
      ...filesOf(out),
      [`acuity-chart-${version}.tgz`]: chartOf(run),
      [`acuity-${version}.cdx.json`]: run(process.execPath, ['scripts/sbom.js']),
      'parser.wasm': readFileSync(join(source, 'dist/reading/parser.wasm')),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs programs in `source`, as `way` says. */
function runIn(source, { user, env }, home) {
  return (command, args, cwd = source, input = undefined) => {
    const { status, stdout, stderr, error } = spawnSync(
      'sh',
      ['-c', 'umask 022 && exec "$@"', 'sh', command, ...args], // npm packs modes as they are
      {
        cwd,
        input,
        maxBuffer: 2 ** 30,
        ...(user === undefined ? {} : { uid: user, gid: user }),
        env: {
          PATH: process.env.PATH,
          HOME: home,
          npm_config_cache: join(home, 'npm'),
          PYTHONPATH: HATCHLING,
          SOURCE_DATE_EPOCH: git('log', '-1', '--format=%ct'),
          ...env,
        },
      },
    );
    if (status !== 0)
      throw new StepFailed(`${command} ${args.slice(0, 3).join(' ')} failed: ${error ?? stderr}`);
    return stdout;
  };
}

/** As `helm package` names and lays it out; helm itself writes the time of packing. */
function chartOf(run) {
  const tar = run('tar', [
    '--create',
    '--format=ustar',
    '--sort=name',
    `--mtime=@${git('log', '-1', '--format=%ct')}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u=rwX,go=rX',
    `--transform=s,^${CHART},acuity,`,
    CHART,
  ]);
  return run('gzip', ['-9n'], undefined, tar);
}

function filesOf(folder) {
  return Object.fromEntries(
    readdirSync(folder)
      .toSorted()
      .map((name) => [name, readFileSync(join(folder, name))]),
  );
}

function archiveOf(revision) {
  return spawnSync('git', ['archive', revision], { cwd: ROOT, maxBuffer: 2 ** 30 }).stdout;
}

/** Below .build, so that the system's Python stays as it is. */
function installHatchling() {
  const wanted = readFileSync(join(ROOT, CLIENT_PYTHON, 'build-requirements.txt'), 'utf8');
  const stamp = join(HATCHLING, 'build-requirements.txt');
  try {
    if (readFileSync(stamp, 'utf8') === wanted) return;
  } catch {
    // Not installed yet.
  }
  rmSync(HATCHLING, { recursive: true, force: true });
  const requirements = join(ROOT, CLIENT_PYTHON, 'build-requirements.txt');
  const args = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', HATCHLING, '-r', requirements];
  const { status } = spawnSync('python3', args, { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new StepFailed('Python 3.10 with pip is needed to build the Python client');
  writeFileSync(stamp, wanted);
}

function demandTag(tag) {
  if (!git('tag', '--points-at', 'HEAD').split('\n').includes(tag))
    throw new StepFailed(`the last commit has no tag ${tag}; without one: npm run release -- --dry-run`);
}

function demandSame(files, again) {
  const names = [...new Set([...Object.keys(files), ...Object.keys(again)])];
  const other = names.filter((name) => !(files[name] && again[name] && files[name].equals(again[name])));
  if (other.length > 0) throw new StepFailed(`made twice, these differ: ${other.join(', ')}`);
  const users = ELSEWHERE.user === undefined ? 'one user' : 'two users';
  process.stdout.write(
    `made twice, in two folders, at two times, under ${users}: all ${names.length} files are equal\n`,
  );
}

function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new StepFailed(`git ${args[0]} failed: ${stderr}`);
  return stdout.trim();
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

function say(line) {
  process.stderr.write(`${line}\n`);
}
