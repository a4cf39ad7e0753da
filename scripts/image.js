/**
 * `node scripts/image.js`: builds deploy/Dockerfile unchanged with Debian's `buildah`, runs the image as its user with a
 * read-only root, asks it for a score and stops it with SIGTERM. Prints the size and the seconds to the first score.
 * Uses no image registry: the base is a small Debian by `debootstrap`, with Node and npm from the npm registry, under
 * the official image's name. As root on Linux; skipped elsewhere. The base stays in .build/image: remove that folder
 * to rebuild it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ROOT, failWith, StepFailed } from './prepare.js';

const FOLDER = join(ROOT, '.build/image');
const STORAGE = [
  '--root',
  join(FOLDER, 'storage'),
  '--runroot',
  join(FOLDER, 'run'),
  '--storage-driver',
  'vfs',
];
const DOCKERFILE = join(ROOT, 'deploy/Dockerfile');
const BODY = join(ROOT, 'docs/examples/request.json');
/** Takes the place of the volume. */
const DATA = join(FOLDER, 'data');
const NPM = '10';
/** The user of the official image. */
const USER = { name: 'node', id: 1000 };
const FIRST_SCORE_MAX_MS = 60_000;
const STOP_MAX_MS = 20_000;

/** The certificates that this machine trusts: present during the build, not in the image. */
const TRUSTED = '/etc/ssl/certs/ca-certificates.crt';

function whatIsMissing() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'images are built by root on Linux only';
  for (const command of ['buildah', 'debootstrap']) {
    const { error } = spawnSync(command, ['--version'], { stdio: 'ignore' });
    if (error !== undefined) return `${command} is not installed (Debian: apt-get install ${command})`;
  }
  return undefined;
}

async function tryImage() {
  const text = readFileSync(DOCKERFILE, 'utf8');
  const [, base, major, release] = /^FROM (node:(\d+)-([a-z]+)-slim)$/m.exec(text) ?? [];
  if (base === undefined) throw new StepFailed('deploy/Dockerfile has no base as node:22-trixie-slim');
  if (!isThere(base)) makeBase(base, { major, release });
  build();
  const { root, bytes } = unpacked('acuity');
  const added = bytes - unpacked(base).bytes;
  say(`\nsize: ${megabytes(bytes)} unpacked, ${megabytes(added)} of them on top of the base`);
  const { config } = JSON.parse(buildah('inspect', '--type', 'image', 'acuity')).Docker;
  await tryRunning(new Container(root, config, await freePorts()));
}

/** Debian as small as debootstrap makes it, with Node and npm where the official image has them. */
function makeBase(name, { major, release }) {
  const container = buildah('from', 'scratch');
  const root = buildah('mount', container);
  run('debootstrap', ['--variant=minbase', release, root]);
  run('chroot', [root, 'useradd', '--create-home', '--uid', String(USER.id), USER.name]);
  const node = join(FOLDER, 'node');
  run('npm', ['install', '--silent', '--prefix', node, `node@${major}`]);
  run('install', [join(node, 'node_modules/node/bin/node'), join(root, 'usr/local/bin/node')]);
  run('npm', ['install', '--silent', '--global', '--prefix', join(root, 'usr/local'), `npm@${NPM}`]);
  for (const path of [join(root, 'var/cache/apt'), join(root, 'var/lib/apt/lists'), node])
    rmSync(path, { recursive: true, force: true });
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  buildah('config', '--env', `PATH=${path}`, '--cmd', 'node', container);
  buildah('commit', '--quiet', '--rm', container, `docker.io/library/${name}`);
}

function build() {
  const registry = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim();
  const npmrc = join(FOLDER, 'npmrc');
  const volumes = [`${npmrc}:/usr/local/etc/npmrc:ro`];
  const settings = [`registry=${registry}`];
  if (existsSync(TRUSTED)) {
    volumes.push(`${TRUSTED}:${TRUSTED}:ro`);
    settings.push(`cafile=${TRUSTED}`);
  }
  writeFileSync(npmrc, `${settings.join('\n')}\n`);
  const format = ['--format', 'docker']; // the other format, OCI, has no health check
  const place = ['--isolation', 'chroot', '--network', 'host', '--pull-never'];
  const mounts = volumes.flatMap((volume) => ['--volume', volume]);
  run('buildah', [...STORAGE, 'bud', ...format, ...place, ...mounts, '-f', DOCKERFILE, '-t', 'acuity', ROOT]);
}

function isThere(image) {
  return (
    spawnSync('buildah', [...STORAGE, 'inspect', '--type', 'image', image], { stdio: 'ignore' }).status === 0
  );
}

/** Where an image's files are, and how many bytes they have. */
function unpacked(image) {
  const root = buildah('mount', buildah('from', '--pull-never', image));
  const { stdout } = spawnSync('du', ['--summarize', '--bytes', root], { encoding: 'utf8' });
  return { root, bytes: Number(stdout.split('\t')[0]) };
}

function removeAllButBase() {
  spawnSync('buildah', [...STORAGE, 'rm', '--all'], { stdio: 'ignore' });
  spawnSync('buildah', [...STORAGE, 'rmi', 'acuity'], { stdio: 'ignore' });
  rmSync(DATA, { recursive: true, force: true });
}

/** Runs an image's command in separate namespaces, on this machine's network. */
class Container {
  #root;
  #config;
  #settings;
  ports;

  constructor(root, config, ports) {
    this.#root = root;
    this.#config = config;
    this.ports = ports;
    this.#settings = [
      `ACUITY_PORT=${ports.http}`,
      `ACUITY_ADMIN_PORT=${ports.admin}`,
      'ACUITY_HOST=127.0.0.1',
    ];
    // As in a new volume: what the image has there.
    rmSync(DATA, { recursive: true, force: true });
    run('cp', ['--archive', join(root, 'data'), DATA]);
  }

  get healthCheck() {
    const [kind, ...command] = this.#config.Healthcheck?.Test ?? [];
    if (kind !== 'CMD') throw new StepFailed('the image has no health check');
    return command.map((part) => part.replaceAll(':9464/', `:${this.ports.admin}/`));
  }

  /** The arguments of spawn that run `command`, or the image's own command with these arguments. */
  command(args, { entry = this.#config.Entrypoint, user = this.#config.User } = {}) {
    const mounts = [
      'mount --bind "$0" "$0"',
      'mount -t proc proc "$0/proc"',
      'mount --rbind /dev "$0/dev"',
      'mount --bind "$1" "$0/data"',
      'mount -o remount,bind,ro "$0"',
    ].join(' && ');
    const script = `${mounts} && root="$0" && user="$2" && shift 2 && exec chroot --userspec="$user" "$root" "$@"`;
    const env = ['/usr/bin/env', '-i', '-C', this.#config.WorkingDir, ...this.#config.Env, ...this.#settings];
    // Runs as process 1, as in a container: no signal ends it by default.
    const namespaces = ['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child'];
    return [
      'unshare',
      [...namespaces, 'sh', '-c', script, this.#root, DATA, user, ...env, ...entry, ...args],
    ];
  }

  /** Exit code and output. */
  run(args, options) {
    const { status, stdout, stderr } = spawnSync(...this.command(args, options), { encoding: 'utf8' });
    return { status, stdout, stderr };
  }

  serve() {
    return spawn(...this.command(this.#config.Cmd), { stdio: ['ignore', 'pipe', 'inherit'] });
  }
}

async function tryRunning(container) {
  const issued = container.run(['keys', 'issue', '--kind', 'demo', '--json']);
  if (issued.status !== 0) throw new StepFailed(`no key can be issued: ${issued.stderr}`);
  const { key } = JSON.parse(issued.stdout);
  const startedMs = performance.now();
  const child = container.serve();
  child.stdout.resume();
  const ended = once(child, 'exit');
  try {
    const score = await firstScore(container.ports.http, key, child);
    say(`first score: ${seconds(startedMs)} after the start: ${score}`);
    const pid = childOf(child.pid);
    expect(`runs as ${USER.name}`, new RegExp(`^Uid:\\s+${USER.id}\\s`, 'm').test(statusOf(pid)));
    expect('is process 1 of its own', /^NSpid:.*\s1$/m.test(statusOf(pid)));
    const write = container.run(['/acuity/written'], { entry: ['touch'], user: 'root' });
    expect("its root can't be written, not by root either", /Read-only/.test(write.stderr));
    expect('the health check is content', container.run([], { entry: container.healthCheck }).status === 0);
    const stoppedMs = performance.now();
    process.kill(pid, 'SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MAX_MS);
    const [code] = await ended;
    clearTimeout(timer);
    expect(`ends at SIGTERM with 0, after ${seconds(stoppedMs)}`, code === 0);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

/** The first response with scores, as text. */
async function firstScore(port, key, child) {
  const body = readFileSync(BODY);
  const headers = { 'content-type': 'application/json', 'x-api-key': key };
  const endsMs = performance.now() + FIRST_SCORE_MAX_MS;
  while (performance.now() < endsMs && child.exitCode === null) {
    const answer = await fetch(`http://127.0.0.1:${port}/predict`, { method: 'POST', headers, body }).catch(
      () => undefined,
    );
    const text = await answer?.text();
    if (answer?.status === 200) return text;
    if (answer !== undefined && answer.status < 500) throw new StepFailed(`the image answers ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new StepFailed('the image gives no score');
}

function childOf(pid) {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
}

function statusOf(pid) {
  return readFileSync(`/proc/${pid}/status`, 'utf8');
}

function expect(what, holds) {
  if (!holds) throw new StepFailed(`not so: ${what}`);
  say(`holds: ${what}`);
}

async function freePorts() {
  const servers = [createServer(), createServer()];
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
  const [http, admin] = servers.map((server) => server.address().port);
  for (const server of servers) server.close();
  return { http, admin };
}

/** The output of a buildah command. */
function buildah(...args) {
  const { status, stdout, stderr } = spawnSync('buildah', [...STORAGE, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new StepFailed(`buildah ${args[0]} failed: ${stderr}`);
  return stdout.trim();
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (error !== undefined) throw new StepFailed(`${command} can't be run: ${error.message}`);
  if (status !== 0) throw new StepFailed(`${command} ${args[0]} … failed (exit code ${status})`);
}

function megabytes(bytes) {
  return `${Math.round(bytes / 1e6)} MB`;
}

function seconds(sinceMs) {
  return `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;
}

function say(line) {
  process.stdout.write(`${line}\n`);
}

const missing = whatIsMissing();
if (missing !== undefined) {
  say(`skipped: ${missing}`);
} else {
  mkdirSync(FOLDER, { recursive: true });
  try {
    await tryImage();
  } catch (error) {
    removeAllButBase();
    failWith(error);
  }
  removeAllButBase();
}
