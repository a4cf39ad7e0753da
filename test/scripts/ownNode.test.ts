/** Scripts under a Node for which the HTTP library has no binary. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { cleanEnvironment, REPOSITORY, script, textOf } from '../fixtures/repository.js';
import { ended, writeRepository } from '../fixtures/scripts.js';

t.setTimeout(180_000); // it builds eight small repositories

interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly arch: string;
  readonly glibc: string | undefined;
}
const { fittingNode, problemOf, thisMachine } = await script<{
  problemOf(machine: Machine): string | undefined;
  thisMachine(): Machine;
  fittingNode(machine: Machine): { readonly name: string; readonly line: number } | undefined;
}>('platform.cjs');

/** Node’s version, glibc’s (or none, and what there is), and what is said: nothing where it runs. */
const SENTENCES = `
linux 22.0.0 2.38 |
linux 24.0.0 3.0 |
linux 20.19.0 2.28 |
linux 22.23.3 2.36 | on Node 22 the HTTP library needs glibc 2.38
linux 24.21.0 2.37 | on Node 24 the HTTP library needs glibc 2.38
linux 18.20.8 2.41 | this is Node 18.20.8: use Node 24 or 22
linux 18.20.8 2.36 | this is Node 18.20.8: use Node 20.19 or newer of that line (glibc is 2.36)
linux 20.18.3 2.36 | this is Node 20.18.3: use Node 20.19
linux 21.7.3 2.41 | this is Node 21.7.3: use Node 24 or 22
linux 25.9.0 2.41 | this is Node 25.9.0: use Node 24 or 22
linux 26.10.0 2.41 | has no binary for Node 26 yet: use Node 24 or 22
linux 26.10.0 2.36 | has no binary for Node 26 yet: use Node 20.19
linux 22.23.3 none | (Alpine has musl): use a system with glibc 2.38
linux 20.19.0 2.27 | need glibc 2.28, and this system has 2.27
darwin 24.0.0 none |
darwin 26.0.0 none | no binary for Node 26
freebsd 24.0.0 none | no native libraries for freebsd`;

t.test('what does not run here is said in one sentence, with the remedy', async (t) => {
  for (const line of SENTENCES.trim().split('\n')) {
    const [machine = '', said = ''] = line.split(' |').map((part) => part.trim());
    const [platform = '', node = '', glibc = ''] = machine.split(' ');
    const problem =
      problemOf({ node, platform, arch: 'arm64', glibc: glibc === 'none' ? undefined : glibc }) ?? '';
    const isSaid = said === '' ? problem === '' : problem.includes(said) && !problem.includes('\n');
    t.ok(isSaid, `${line}: ${problem}`);
  }
  for (const [platform, arch] of [
    ['darwin', 'x64'],
    ['linux', 'arm'],
  ] as const)
    // prettier-ignore
    t.match(problemOf({ node: '24.0.0', platform, arch, glibc: '2.41' }), `no native libraries for ${platform} on ${arch}`);
  t.equal(problemOf(thisMachine()), undefined, 'the service runs wherever the tests run');
});

interface Pin {
  readonly name: string;
  readonly version: string;
  readonly os: string;
  readonly cpu: string;
}
const { packages } = JSON.parse(readFileSync(join(REPOSITORY, 'scripts/node/package-lock.json'), 'utf8')) as {
  packages: Record<string, Pin>;
};
const pinOf = ({ name, line }: { name: string; line: number }) => packages[`node_modules/${name}-${line}`];

t.test('wherever a Node does not fit, a pinned one does', async (t) => {
  const used = new Set<Pin>();
  const machines = [
    'linux x64 2.36',
    'linux x64 2.41',
    'linux arm64 2.28',
    'linux arm64 2.38',
    'darwin arm64',
    'win32 x64',
  ];
  for (const [platform = '', arch = '', glibc] of machines.map((machine) => machine.split(' ')))
    for (const node of ['18.0.0', '20.18.0', '25.9.0', '26.12.1', '30.0.0']) {
      const pin = pinOf(fittingNode({ node, platform, arch, glibc }) ?? { name: '', line: 0 });
      if (pin === undefined) throw new Error(`${platform} ${arch} ${glibc}: none`);
      t.match(pin, { os: platform, cpu: arch });
      t.equal(problemOf({ node: pin.version, platform, arch, glibc }), undefined, pin.version);
      used.add(pin);
    }
  t.equal(used.size, Object.keys(packages).length - 1, 'and none is pinned in vain');
  for (const [glibc, node] of [
    ['2.36', '20.20.2'],
    ['2.41', '24.0.0'],
    [undefined, '18.0.0'],
    ['2.27', '20.20.2'],
  ] as const) {
    const other = fittingNode({ node, platform: 'linux', arch: 'x64', glibc });
    t.equal(other, undefined, 'it fits, or no Node would');
  }
});

/** What Node calls the interface of a line's binaries. */
const LINES = { 20: 115, 22: 127, 24: 137, 25: 141 };

t.test('the library’s package has binaries for the lines that we say, and for no newer one', async (t) => {
  const folder = join(REPOSITORY, 'node_modules/uWebSockets.js');
  const here = new RegExp(`^uws_${process.platform}_${process.arch}_(\\d+)\\.node$`);
  const files = readdirSync(folder).flatMap((file) => Number(here.exec(file)?.[1] ?? []));
  for (const [line, abi] of Object.entries(LINES)) t.ok(files.includes(abi), `Node ${line}`);
  const newest = Math.max(...files);
  const remedy = `there is one for a newer Node now (${newest}): say so in engines and platform.cjs`;
  t.equal(newest, LINES[25], remedy);
  if (process.platform !== 'linux') return;
  for (const [line, abi] of Object.entries(LINES)) {
    const text = readFileSync(join(folder, `uws_linux_${process.arch}_${abi}.node`), 'latin1');
    const needs = Math.max(...[...text.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor)));
    const remedy = `Node ${line} needs glibc 2.${needs}: if 2.28 is enough, scripts/node needs no Node 20`;
    t.equal(needs > 28, line !== '20', remedy);
    t.ok(needs <= 38, `no more than platform.cjs says`);
  }
});

const ALIAS = 'node-test-24';
/**
 * A repository in which this Node does not fit, but the one of `scripts/node` does: this one, by another program. Its
 * `npm start` says which signals it gets, and ends as it is told.
 */
function writeUnfit(t: Test, tests: Readonly<Record<string, string>> = {}): string {
  const dir = t.testdir();
  const { platform, arch } = process;
  const program = `.build/node-24.0.0-${platform}-${arch}/node_modules/${ALIAS}/bin/node`;
  writeRepository(
    dir,
    {
      'scripts/platform.cjs': `
      const { FITS, NONE } = process.env;
      const thisMachine = () => ({});
      const problemOf = () => (FITS ? undefined : 'the sentence of before');
      const fittingNode = () => (FITS ? undefined : { name: 'node-test', line: NONE ? 22 : 24 });
      module.exports = { fittingNode, problemOf, thisMachine };`,
      'scripts/node/package-lock.json': JSON.stringify({
        packages: {
          [`node_modules/${ALIAS}`]: { name: 'node-test', version: '24.0.0', bin: { node: 'bin/node' } },
          'node_modules/node-test-22': {
            name: 'node-test',
            version: '22.0.0',
            integrity: 'sha512-AAAA',
            bin: { node: 'bin/node' },
          },
        },
      }),
      [program]: `#!/bin/sh\nFITS=1 exec '${process.execPath}' "$@"\n`,
      'dist/main.js': `
      export async function run(argv, { stopWhen, areSignalsPassedOn }) {
        const say = (text) => process.stdout.write(text + '\\n');
        for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2', 'SIGALRM'])
          process.on(signal, () => say(signal));
        stopWhen.addEventListener('abort', () => { say('orphaned'); process.exit(3); });
        process.stdin.on('data', (text) => {
          const [verb, what] = String(text).trim().split(' ');
          if (verb === 'exit') process.exit(Number(what));
          process.removeAllListeners(what);
          process.kill(process.pid, what);
        });
        setInterval(() => undefined, 1000);
        say(['up', process.pid, areSignalsPassedOn, ...argv].join(' '));
      }`,
      'dist/config/options.js': `
      export const environment = () => process.env;
      export const readConfig = () => ({ ok: false });`,
      ...tests,
    },
    ['tap', '@tapjs', 'tap-parser'],
  );
  chmodSync(join(dir, program), 0o755);
  return dir;
}

/** `npm start`, until it is up; `next` gives what it says then. */
async function launched(t: Test, command = process.execPath, args = ['scripts/start.js', '--some', 'word']) {
  const cwd = writeUnfit(t);
  const launcher = spawn(command, args, { cwd, env: cleanEnvironment(), stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = launcher.stdout.setEncoding('utf8')[Symbol.asyncIterator]() as AsyncIterator<string>;
  const next = async () => String((await lines.next()).value).trim();
  const closed = once(launcher, 'close');
  return { launcher, next, closed, up: await next() };
}

t.test('signals, words and ends pass through', async (t) => {
  const { launcher, next, closed, up } = await launched(t);
  t.match(up, /^up \d+ true serve --some word$/);
  t.not(up.split(' ')[1], String(launcher.pid));
  for (const signal of ['SIGHUP', 'SIGUSR2', 'SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGALRM'] as const) {
    launcher.kill(signal);
    t.equal(await next(), signal);
  }
  launcher.stdin.write('exit 78\n');
  t.strictSame(await closed, [78, null]);
  const killed = await launched(t);
  killed.launcher.stdin.write('kill SIGTERM\n');
  t.strictSame(await killed.closed, [null, 'SIGTERM']);
});

t.test('its own death and npm’s stop what it started', async (t) => {
  const alone = await launched(t);
  alone.launcher.kill('SIGKILL');
  t.equal(await alone.next(), 'orphaned');
  await alone.closed;
  const npm = await launched(t, 'sh', [
    '-c',
    'npm_lifecycle_event=start "$@"; exit',
    'sh',
    process.execPath,
    'scripts/start.js',
  ]);
  npm.launcher.kill('SIGKILL');
  t.equal(await npm.next(), 'SIGTERM');
  process.kill(Number(npm.up.split(' ')[1]), 'SIGKILL');
  await npm.closed;
});

t.test('without a registry: the sentence of before, and nothing half-made', async (t) => {
  const cwd = writeUnfit(t);
  for (const name of ['start', 'test', 'build']) {
    const env = cleanEnvironment({
      NONE: '1',
      // Where this Node was brought, npm does not stand beside it.
      ...(process.env['npm_execpath'] !== undefined && { npm_execpath: process.env['npm_execpath'] }),
      npm_config_registry: 'http://127.0.0.1:1/',
      npm_config_cache: join(cwd, 'cache'),
    });
    const { code, stderr } = await ended(process.execPath, [`scripts/${name}.js`], { cwd, env });
    t.equal(code, 1);
    t.match(stderr, /installing Node 22\.0\.0[^]*\nacuity: the sentence of before\n$/);
  }
});

t.test('npm test goes on under it, and each program that npm runs, with its words and its end', async (t) => {
  const cwd = writeUnfit(t, {
    '.build/test/own.test.js': `
      import t from 'tap';
      import { execFileSync } from 'node:child_process';
      t.match(process.env.FITS, '1');
      t.match(execFileSync('node', ['-p', 'process.env.PATH'], { encoding: 'utf8' }), /^[^:]*\\.build.node-24/);`,
    '.build/own.js': `process.stdout.write(process.env.FITS + process.argv.slice(2)); process.exitCode = 5;`,
  });
  const env = cleanEnvironment();
  const tested = await ended(process.execPath, ['scripts/test.js'], { cwd, env });
  t.match(tested, { code: 0, stdout: /\n2 passed, 0 failed\n$/ });
  const args = ['scripts/run.js', '.build/own.js', '--some', 'word'];
  t.match(await ended(process.execPath, args, { cwd, env }), { code: 5, stdout: /^1--some,word$/ });
  const { scripts } = JSON.parse(textOf('package.json')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  for (const command of Object.values(scripts))
    t.match(command, /^node scripts\/(run\.js \.build\/[\w/]+\.js|\w+\.js( [\w-]+)?)$/);
});
