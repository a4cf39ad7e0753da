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
  parser: { inputs: [], outputs: [], command: ['parser'], compiled: {} },
  src: {
    needs: ['parser'],
    inputs: ['package-lock.json', 'src'],
    outputs: ['dist/main.js'],
    command: ['src'],
    compiled: { src: 'dist' },
  },
};

type Change = (dir: string) => void;
const later = new Date(Date.now() + 60_000);
/** What happens to a project after it was built, and the steps that are built then. */
const CHANGES: readonly (readonly [name: string, change: Change, built: readonly string[]])[] = [
  ['nothing', () => undefined, []],
  ['a new date alone', (dir) => utimesSync(join(dir, 'src/main.ts'), later, later), []],
  ['a source that changed', (dir) => writeFileSync(join(dir, 'src/main.ts'), 'two'), ['src']],
  ['a source that is new', (dir) => writeFiles(dir, { 'src/deep/er.ts': '' }), ['src']],
  [
    'a source that was renamed',
    (dir) => {
      rmSync(join(dir, 'src/main.ts'));
      writeFiles(dir, { 'src/main2.ts': 'one' });
    },
    ['src'],
  ],
  ['compiler settings', (dir) => writeFileSync(join(dir, 'src/tsconfig.json'), '{ }'), ['src']],
  ['a lock file', (dir) => writeFileSync(join(dir, 'package-lock.json'), '{ }'), ['src']],
  ['an output that is gone', (dir) => rmSync(join(dir, 'dist/main.js')), ['src']],
];

t.test(
  'a step is built where its inputs changed or an output is gone, those that it needs beside it',
  async (t) => {
    for (const [name, change, built] of CHANGES) {
      const dir = t.testdir({ 'package-lock.json': '{}', src: { 'main.ts': 'one', 'tsconfig.json': '{}' } });
      const commands: string[] = [];
      const run: Run = async (root, command) => {
        commands.push(...command);
        writeFiles(root, { 'dist/main.js': 'compiled', 'dist/main.d.ts': '' });
      };
      await build('src', dir, STEPS, run);
      change(dir);
      await build('src', dir, STEPS, run);
      t.strictSame(commands.toSorted(), ['parser', 'src', ...built].toSorted(), name);
      writeFileSync(join(dir, 'src/main.ts'), 'broken');
      await t.rejects(build('src', dir, STEPS, () => Promise.reject(new Error('type error'))));
      writeFileSync(join(dir, 'src/main.ts'), 'one'); // as it was when it was built, but dist/ is not
      await build('src', dir, STEPS, run);
      t.equal(commands.length, 3 + built.length, 'a build that failed is not taken for done');
    }
  },
);

t.test('the output of a source that is gone is removed, and nothing else', async (t) => {
  const gone = { 'dist/gone.js': '', 'dist/gone.d.ts': '', 'dist/gone.js.map': '' };
  // What has no declaration was copied, not compiled.
  const kept = { 'dist/parser.wasm': '', 'dist/copied.js': '' };
  const dir = t.testdir({ 'package-lock.json': '{}', src: { 'main.ts': 'one' } });
  writeFiles(dir, { ...gone, ...kept });
  await build('src', dir, STEPS, async () => writeFiles(dir, { 'dist/main.js': '', 'dist/main.d.ts': '' }));
  for (const path of Object.keys(gone)) t.notOk(existsSync(join(dir, path)), path);
  for (const path of ['dist/main.js', ...Object.keys(kept)]) t.ok(existsSync(join(dir, path)), path);
});

const A = { version: '1.0.0', integrity: 'sha512-a' };
const LOCK = { '': {}, 'node_modules/a': A };
const WITH_DEV = { ...LOCK, 'node_modules/b': { version: '2.0.0', integrity: 'sha512-b', dev: true } };
const CI = ['ci', '--include=dev'];
const ADDED = ['install', '--no-save', '--include=dev'];

type Packages = Readonly<Record<string, { readonly version?: string; readonly dev?: boolean }>>;
const record = (packages: object) => ({ 'node_modules/.package-lock.json': JSON.stringify({ packages }) });

/** The lock file, what is installed (by hand), what is asked for, and the commands of npm. */
const INSTALLATIONS: readonly (readonly [
  name: string,
  lock: Packages,
  installed: object | undefined,
  scopes: readonly ('all' | 'service')[],
  commands: readonly (readonly string[])[],
])[] = [
  ['once, development included', LOCK, undefined, ['all', 'all'], [CI]],
  ['for the service, and then all', WITH_DEV, undefined, ['service', 'service', 'all', 'service'], [['ci', '--omit=dev'], ADDED]], // prettier-ignore
  ['by hand as the lock file says', LOCK, LOCK, ['all'], []],
  ['by hand without a package', LOCK, { '': {} }, ['all'], [CI]],
  ['by hand in another version', LOCK, { 'node_modules/a': { ...A, version: '1.0.1' } }, ['all'], [CI]],
  ['by hand with other bytes', LOCK, { 'node_modules/a': { ...A, integrity: 'sha512-b' } }, ['all'], [CI]],
  ['by hand without development', WITH_DEV, LOCK, ['service', 'all'], [ADDED]],
];

t.test('npm runs where what is installed is not what the lock file says', async (t) => {
  for (const [name, lock, installed, scopes, commands] of INSTALLATIONS) {
    const dir = t.testdir({ 'package-lock.json': JSON.stringify({ packages: lock }) });
    if (installed !== undefined) writeFiles(dir, record(installed));
    const run: string[][] = [];
    for (const scope of scopes)
      await install(scope, dir, async (root, [, ...command]) => {
        run.push(command);
        rmSync(join(root, 'node_modules'), { recursive: true, force: true }); // as npm ci does
        const made = Object.entries(lock).filter(([, { dev }]) => scope === 'all' || !dev);
        writeFiles(root, record(Object.fromEntries(made)));
      });
    const stamp = join(dir, 'node_modules/.acuity-platform');
    if (commands.length > 0) t.equal(readFileSync(stamp, 'utf8'), `${process.platform}-${process.arch}`);
    writeFileSync(stamp, 'another');
    let elsewhere: string | undefined;
    await install('all', dir, async (_, [, command]) => void (elsewhere = command));
    t.equal(elsewhere, 'ci', 'another platform');
    t.strictSame(run.map((command) => command.filter((part) => /^(ci|install|--(no-save|(include|omit)=dev))$/.test(part))), commands, name); // prettier-ignore
  }
});

t.test('other platforms’ libraries are removed, those of other Nodes stay', async (t) => {
  const dir = t.testdir({ 'package-lock.json': JSON.stringify({ packages: LOCK }) });
  const ours = `uws_${process.platform}_${process.arch}_`;
  const kept = ['uws.js', `${ours}115.node`, `${ours}137.node`];
  const files = [...kept, 'uws_os_cpu_115.node'].map((name) => [`node_modules/uWebSockets.js/${name}`, '']);
  await install('service', dir, async (root) => writeFiles(root, Object.fromEntries(files)));
  t.strictSame(readdirSync(join(dir, 'node_modules/uWebSockets.js')).toSorted(), kept.toSorted());
});
