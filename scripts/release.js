/**
 * `npm run release`: makes the files of a release from the last commit, which carries the version's tag, into
 * `.build/release` with their SHA-256 (RELEASING.md). `npm run release -- --dry-run` needs no tag. The same commit gives the
 * same bytes in every folder, at every time and for every user.
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endOnError, install, outputOf, ROOT, say, StepFailed } from './prepare.js';
import { versionOf } from './version.js';

const OUT = join(ROOT, '.build/release');
const HATCHLING = join(ROOT, '.build/hatchling');
const CLIENT_PYTHON = 'packages/client-python';
const CHART = 'deploy/helm';
endOnError();
const isDry = process.argv.slice(2).includes('--dry-run');
const { version, problems } = versionOf(ROOT);
if (problems.length > 0) throw new StepFailed(problems.join('\n'));
if (git('status', '--porcelain') !== '')
  say('Files that are not committed are left out: a release is made from the last commit.');
const tags = git('tag', '--points-at', 'HEAD').split('\n');
if (!isDry && !tags.includes(`v${version}`))
  throw new StepFailed(`the last commit has no tag v${version}; without one: npm run release -- --dry-run`);
await install();
installHatchling();
make(version);

function make(version) {
  say(`Making acuity ${version} …`);
  const folder = mkdtempSync(join(tmpdir(), 'acuity-release-'));
  try {
    const [source, out] = [join(folder, 'source'), join(folder, 'out')];
    const run = runIn(source, folder);
    run('mkdir', [source, out], folder);
    outputOf('git', 'archive', `--output=${join(folder, 'source.tar')}`, 'HEAD');
    run('tar', ['-xf', '../source.tar']);
    const { workspaces } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
    for (const modules of ['.', ...workspaces].map((place) => join(place, 'node_modules')))
      if (existsSync(join(ROOT, modules))) symlinkSync(join(ROOT, modules), join(source, modules));
    const pack = ['pack', '--silent', '--pack-destination', out];
    run('npm', pack);
    run('npm', [...pack, '--workspace', 'packages/client-ts']);
    run('python3', ['-m', 'hatchling', 'build', '-d', out], join(source, CLIENT_PYTHON));
    packChart(run, join(out, `acuity-chart-${version}.tgz`));
    run('cp', ['dist/read/parser.wasm', out]);
    writeFileSync(join(out, `acuity-${version}.cdx.json`), billOf(run, source));
    const sums = run('sha256sum', readdirSync(out).toSorted(), out);
    writeFileSync(join(out, 'SHA256SUMS'), sums);
    rmSync(OUT, { recursive: true, force: true });
    run('cp', ['-r', out, OUT]);
    process.stdout.write(sums);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs programs in `source`. */
function runIn(source, home) {
  return (command, args, cwd = source) => {
    const { status, stdout, stderr, error } = spawnSync(
      'sh',
      ['-c', 'umask 022 && exec "$@"', 'sh', command, ...args], // npm packs modes as they are
      {
        cwd,
        env: {
          PATH: process.env.PATH,
          HOME: home,
          TZ: 'UTC',
          LC_ALL: 'C',
          npm_config_cache: join(home, 'npm'),
          PYTHONPATH: HATCHLING,
          SOURCE_DATE_EPOCH: git('log', '-1', '--format=%ct'),
        },
      },
    );
    if (status !== 0)
      throw new StepFailed(`${command} ${args.slice(0, 3).join(' ')} failed: ${error ?? stderr}`);
    return stdout;
  };
}

/**
 * Every package that ships, on any platform, from the lock file. Workspaces and development go first: `npm sbom --omit=dev`
 * would leave out packages that these need too.
 */
function billOf(run, source) {
  rmSync(join(source, 'node_modules'));
  run('npm', ['pkg', 'delete', 'devDependencies', 'workspaces']);
  run('npm', ['install', '--package-lock-only', '--offline', '--ignore-scripts']);
  const bill = JSON.parse(
    run('npm', ['sbom', '--omit=dev', '--package-lock-only', '--sbom-format=cyclonedx']),
  );
  // npm names the folder, the moment and a random number.
  bill.metadata.component.name = 'acuity';
  delete bill.metadata.timestamp;
  delete bill.serialNumber;
  return `${JSON.stringify(bill, undefined, 2)}\n`;
}

/** As `helm package` names and lays it out; helm itself writes the time of packing. */
function packChart(run, file) {
  const plain = ['--format=ustar', '--sort=name', `--mtime=@${git('log', '-1', '--format=%ct')}`];
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
  const form = [...plain, ...owner, `--transform=s,^${CHART},acuity,`, '--use-compress-program=gzip -9n'];
  run('tar', ['--create', `--file=${file}`, ...form, CHART]);
}

/** Below .build, so that the system's Python stays as it is. */
function installHatchling() {
  const wanted = readFileSync(join(ROOT, CLIENT_PYTHON, 'build-requirements.txt'), 'utf8');
  const stamp = join(HATCHLING, 'build-requirements.txt');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  rmSync(HATCHLING, { recursive: true, force: true });
  const requirements = join(ROOT, CLIENT_PYTHON, 'build-requirements.txt');
  const args = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', HATCHLING, '-r', requirements];
  const { status } = spawnSync('python3', args, { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new StepFailed('Python 3.10 with pip is needed to build the Python client');
  writeFileSync(stamp, wanted);
}

function git(...args) {
  return outputOf('git', ...args).trim();
}
