import { existsSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { script, writeFiles } from '../fixtures/repository.js';

type Run = (root: string, command: readonly string[]) => Promise<void>;

interface Step {
  readonly needs?: readonly string[];
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly command: readonly string[];
  readonly compiled: Readonly<Record<string, string>>;
}

const { build, install } = await script<{
  build(name: string, root: string, steps: Readonly<Record<string, Step>>, run: Run): Promise<void>;
  install(scope: 'all' | 'service', root: string, run: Run): Promise<void>;
}>('prepare.js');

const STEPS = {
  src: {
    inputs: ['package-lock.json', 'src'],
    outputs: ['dist/main.js'],
    command: ['compiler', 'src'],
    compiled: { src: 'dist' },
  },
};

/** A folder with one source, and a compiler that counts its runs. */
function project(dir: string) {
  writeFiles(dir, { 'package-lock.json': '{}', 'src/main.ts': 'one', 'src/tsconfig.json': '{}' });
  let runs = 0;
  const run: Run = async (root, command) => {
    t.strictSame(command, STEPS.src.command);
    runs += 1;
    writeFiles(root, { 'dist/main.js': 'compiled', 'dist/main.d.ts': '' });
  };
  return { runs: () => runs, build: () => build('src', dir, STEPS, run) };
}

t.test('an unchanged project is built once', async (t) => {
  const dir = t.testdir();
  const { build, runs } = project(dir);
  await build();
  await build();
  t.equal(runs(), 1);
  const later = new Date(Date.now() + 60_000);
  utimesSync(join(dir, 'src/main.ts'), later, later);
  await build();
  t.equal(runs(), 1, 'a new date alone changes nothing');
});

const CHANGES: Readonly<Record<string, (dir: string) => void>> = {
  'a source that changed': (dir) => writeFileSync(join(dir, 'src/main.ts'), 'two'),
  'a source that is new': (dir) => writeFiles(dir, { 'src/deep/er.ts': '' }),
  'a source that was renamed': (dir) => {
    rmSync(join(dir, 'src/main.ts'));
    writeFiles(dir, { 'src/main2.ts': 'one' });
  },
  'compiler settings that changed': (dir) => writeFileSync(join(dir, 'src/tsconfig.json'), '{ }'),
  'a lock file that changed': (dir) => writeFileSync(join(dir, 'package-lock.json'), '{ }'),
  'an output that is gone': (dir) => rmSync(join(dir, 'dist/main.js')),
};

for (const [name, change] of Object.entries(CHANGES)) {
  t.test(`${name} is built again`, async (t) => {
    const dir = t.testdir();
    const { build, runs } = project(dir);
    await build();
    change(dir);
    await build();
    t.equal(runs(), 2);
  });
}

t.test('a build that failed is not taken for done', async (t) => {
  const dir = t.testdir();
  const { build: succeed, runs } = project(dir);
  await succeed();
  writeFileSync(join(dir, 'src/main.ts'), 'broken');
  const broken = build('src', dir, STEPS, () => Promise.reject(new Error('type error')));
  await t.rejects(broken, { message: 'type error' });
  writeFileSync(join(dir, 'src/main.ts'), 'one'); // as it was when the last build succeeded, but dist/ is not
  await succeed();
  t.equal(runs(), 2);
});

t.test('the output of a source that is gone is removed, and nothing else', async (t) => {
  const dir = t.testdir();
  const { build } = project(dir);
  writeFiles(dir, {
    'dist/gone.js': '',
    'dist/gone.d.ts': '',
    'dist/gone.js.map': '',
    'dist/parser.wasm': '',
    'dist/copied.js': 'not compiled: it has no declaration',
  });
  await build();
  for (const gone of ['dist/gone.js', 'dist/gone.d.ts', 'dist/gone.js.map'])
    t.notOk(existsSync(join(dir, gone)), gone);
  for (const kept of ['dist/main.js', 'dist/parser.wasm', 'dist/copied.js'])
    t.ok(existsSync(join(dir, kept)), kept);
});

t.test('the steps that a step needs are built beside it', async (t) => {
  const dir = t.testdir();
  const step = { inputs: [], outputs: [], compiled: {} };
  const steps = {
    all: { ...step, needs: ['parser'], command: ['all'] },
    parser: { ...step, command: ['parser'] },
  };
  const commands: string[] = [];
  const run: Run = async (_, command) => {
    commands.push(...command);
  };
  await build('all', dir, steps, run);
  await build('all', dir, steps, run);
  t.strictSame(commands.toSorted(), ['all', 'parser']);
});

const LOCK = { packages: { '': {}, 'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' } } };

/** A folder with a lock file, and an npm that counts its runs. */
function packages(dir: string) {
  writeFiles(dir, { 'package-lock.json': JSON.stringify(LOCK) });
  const commands: (readonly string[])[] = [];
  const npm: Run = async (root, command) => {
    commands.push(command);
    rmSync(join(root, 'node_modules'), { recursive: true, force: true }); // as npm ci does
    writeFiles(root, { 'node_modules/a/index.js': '' });
  };
  return { commands, install: (scope: 'all' | 'service' = 'all') => install(scope, dir, npm) };
}

t.test('the dependencies are installed once, those for development included', async (t) => {
  const { commands, install } = packages(t.testdir());
  await install();
  await install();
  t.equal(commands.length, 1);
  t.strictSame(commands[0]?.slice(1, 3), ['ci', '--include=dev']);
});

t.test(
  'the service is installed without what development needs, which is added when it is asked for',
  async (t) => {
    const { commands, install } = packages(t.testdir());
    await install('service');
    await install('service');
    t.strictSame(
      commands.map((command) => command.slice(1, 3)),
      [['ci', '--omit=dev']],
    );
    await install('all');
    await install('service');
    t.strictSame(
      commands.slice(1).map((command) => command.slice(1, 4)),
      [['install', '--no-save', '--include=dev']],
    );
  },
);

t.test('other platforms’ libraries are removed, those of other Nodes stay', async (t) => {
  const dir = t.testdir();
  const ours = `uws_${process.platform}_${process.arch}_`;
  const files = [`${ours}115.node`, `${ours}137.node`, 'uws_os_cpu_115.node', 'uws.js'];
  writeFiles(dir, { 'package-lock.json': JSON.stringify(LOCK) });
  await install('service', dir, async (root) => {
    writeFiles(root, Object.fromEntries(files.map((name) => [`node_modules/uWebSockets.js/${name}`, ''])));
  });
  t.strictSame(
    readdirSync(join(dir, 'node_modules/uWebSockets.js')).toSorted(),
    files.filter((name) => name !== 'uws_os_cpu_115.node').toSorted(),
  );
});

const BY_HAND = [
  { name: 'agrees with the lock file', installed: LOCK.packages, runs: 0 },
  { name: 'lacks a package', installed: { '': {} }, runs: 1 },
  {
    name: 'holds another version',
    installed: { 'node_modules/a': { version: '1.0.1', integrity: 'sha512-a' } },
    runs: 1,
  },
  {
    name: 'holds other bytes',
    installed: { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-b' } },
    runs: 1,
  },
];

t.test('an installation by hand without what development needs is enough for the service', async (t) => {
  const dir = t.testdir();
  const { commands, install } = packages(dir);
  const dev = { version: '2.0.0', integrity: 'sha512-b', dev: true };
  const wanted = { packages: { ...LOCK.packages, 'node_modules/b': dev } };
  writeFiles(dir, {
    'package-lock.json': JSON.stringify(wanted),
    'node_modules/.package-lock.json': JSON.stringify(LOCK),
  });
  await install('service');
  t.equal(commands.length, 0);
  await install('all');
  t.equal(commands.length, 1);
});

for (const { name, installed, runs } of BY_HAND) {
  t.test(`an installation by hand that ${name} is ${runs === 0 ? 'left alone' : 'replaced'}`, async (t) => {
    const dir = t.testdir();
    const { commands, install } = packages(dir);
    writeFiles(dir, { 'node_modules/.package-lock.json': JSON.stringify({ packages: installed }) });
    await install();
    t.equal(commands.length, runs);
    t.ok(readFileSync(join(dir, 'node_modules/.acuity-lock-hash'), 'utf8').length > 0);
  });
}
