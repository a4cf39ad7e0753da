/**
 * `node scripts/debian.js [NODE…]` (default 22 24): runs `npm test` of the last commit on Debian 13 under these versions
 * of Node, one after the other, in a root of its own below .build that is made and removed again. As root, with
 * Debian's `debootstrap`; some twenty minutes for each version.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, failWith, StepFailed } from './prepare.js';

const RELEASE = 'trixie';
const DEBIAN = join(ROOT, '.build/debian');
const DEFAULT_NODES = ['22', '24'];

/** What the tests use if present, beyond a minimal Debian. */
const PACKAGES = [
  'ca-certificates',
  'curl',
  'faketime',
  'g++',
  'git',
  'haproxy',
  'libatomic1',
  'make',
  'procps',
  'python3',
  'python3-venv',
  'redis-server',
  'strace',
];

/** How this machine reaches its package registries, as far as files configure it. */
const OF_THIS_MACHINE = [
  '/etc/resolv.conf',
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pip.conf',
  '/root/.npmrc',
];

try {
  if (process.getuid?.() !== 0) throw new StepFailed('a Debian root can be made by root only');
  const versions = process.argv.slice(2);
  makeRoot();
  const codes = (versions.length === 0 ? DEFAULT_NODES : versions).map((version) => testUnder(version));
  process.exitCode = codes.every((code) => code === 0) ? 0 : 1;
} catch (error) {
  process.exitCode = 1;
  failWith(error);
} finally {
  rmSync(DEBIAN, { recursive: true, force: true });
}

function makeRoot() {
  rmSync(DEBIAN, { recursive: true, force: true });
  mkdirSync(DEBIAN, { recursive: true });
  run('debootstrap', ['--variant=minbase', RELEASE, DEBIAN]);
  inside('apt-get update && apt-get install -y --no-install-recommends "$@"', PACKAGES);
  for (const path of OF_THIS_MACHINE) {
    if (existsSync(path)) copyFileSync(path, join(DEBIAN, path));
  }
}

/** Returns the exit code of `npm test`, whose output goes to this process's output. */
function testUnder(version) {
  const node = join('/opt', `node-${version}`);
  run('npm', ['install', '--silent', '--prefix', join(DEBIAN, node), `node@${version}`, 'npm@10']);
  const clone = join('/opt', `acuity-${version}`);
  run('git', ['clone', '--quiet', ROOT, join(DEBIAN, clone)]);
  const bin = join(node, 'node_modules/.bin');
  say(`\nDebian 13, Node ${version}`);
  return inside(
    `export PATH="$1:$PATH"; cd "$2"; node --version; cat /etc/debian_version; npm --silent test </dev/null`,
    [bin, clone],
    { mustWork: false },
  );
}

/** Runs a shell script within the root, whose mounts end with it. */
function inside(script, args, { mustWork = true } = {}) {
  const mounts = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys"';
  const enter = `${mounts} && exec chroot "$0" /usr/bin/env HOME=/root DEBIAN_FRONTEND=noninteractive sh -c "$@"`;
  const command = ['--mount', '--propagation', 'private', 'sh', '-c', enter, DEBIAN, script, 'sh', ...args];
  return run('unshare', command, mustWork);
}

function run(command, args, mustWork = true) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (error !== undefined) throw new StepFailed(`${command} can't be run: ${error.message}`);
  if (mustWork && status !== 0) throw new StepFailed(`${command} ${args[0]} … failed (exit code ${status})`);
  return status;
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
