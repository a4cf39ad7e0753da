import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended, running, unpacked } from '../fixtures/scripts.js';

/** The packages for npm as they are packed, each in an empty folder: the server, and the client against it. */

const all = t;
/** Address and key of the packed server, as clients take them from the environment. */
let served: Readonly<Record<string, string>> = {};

t.test('the packed server', async (t) => {
  const folder = all.testdir({}); // it serves from there to the end
  const { installed } = await unpacked(folder, 'acuity');

  // What it depends on is as this repository has it: a test must not need a registry.
  const { bin, dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    bin: { acuity: string };
    dependencies: Record<string, string>;
  };
  mkdirSync(join(installed, 'node_modules'));
  for (const name of Object.keys(dependencies)) {
    const link = join(installed, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true }); // of a scoped package
    symlinkSync(join(REPOSITORY, 'node_modules', name), link);
  }
  const acuity = join(installed, bin.acuity);
  const env = cleanEnvironment({ ACUITY_PORT: '0', ACUITY_ADMIN_PORT: '0' });
  const run = (...args: string[]) => ended(process.execPath, [acuity, ...args], { cwd: folder, env });

  await t.test('it brings the model, and nothing that trains one', async (t) => {
    t.strictSame(readdirSync(join(installed, 'native-models')), ['acuity-base']);
    t.notOk(readdirSync(installed).includes('test'));
  });

  const issued = await run('keys', 'issue', '--kind', 'demo', '--json');
  const { key } = JSON.parse(issued.stdout) as { key: string };
  t.match((await run('keys', 'list')).stdout, /demo/);

  await t.test('acuity/client is the client', async (t) => {
    const code = `import { AcuityClient } from 'acuity/client'; console.log(typeof AcuityClient)`;
    const args = ['--input-type=module', '-e', code];
    t.match(await ended(process.execPath, args, { cwd: folder, env }), { stdout: 'function\n' });
  });

  await t.test('it serves, and shows the reference page', async (t) => {
    const { says } = running(all, [process.execPath, acuity, 'serve'], { cwd: folder, env });
    const line = await says(/^\{"event":"listening".*(?=\n)/m);
    const { port, adminPort } = JSON.parse(line) as { port: number; adminPort: number };
    const admin = `http://127.0.0.1:${adminPort}`;
    t.match(await (await fetch(`${admin}/docs`)).text(), 'Score one session');
    t.equal((await fetch(`${admin}/docs/reference.css`)).status, 200);
    served = { ACUITY_URL: `http://127.0.0.1:${port}`, ACUITY_API_KEY: key };
  });
});

/** 80 KiB before predictMany (7 with its declarations in both formats) and what adapters of payloads found (6); the README says the bound. */
const PACKED_BYTES_MAX = 96 * 1024;

/** What somebody who installed the package writes. */
const USE = `import { AcuityClient, History, memoryStorage, type Session } from 'acuity-client';
import { AdapterError, fromIntervals, fromOura, type Adapted } from 'acuity-client/adapters';
export const adapted = (sleep: unknown): Adapted => fromOura({ sleep, person: { age: 34 } });
export const fieldOf = (error: unknown): string | undefined => error instanceof AdapterError ? error.field : undefined;
const { session }: { session: Session } = fromIntervals({ at: Date.now(), heart_rate: [{ at: new Date().toISOString(), value: 60 }], person: { age: 34, sex: 'F' } });
const client = new AcuityClient({ url: 'http://127.0.0.1:1', apiKey: 'sk_live_' + 'a'.repeat(38) });
export const many = async (): Promise<Map<string, number | string>> => {
  const found = new Map<string, number | string>();
  for await (const { key, prediction, error } of client.predictMany(new Map([['a', { current_session: session }]]), { listMax: 10 }))
    found.set(key, error === undefined ? prediction.scores.attention : error.message);
  for await (const { key } of client.predictMany([{ current_session: session }])) found.set(key.toFixed(), 0);
  return found;
};
export const scored = (): Promise<number> =>
  new History(client, memoryStorage()).score('a', session, { retries: 0 }).then(({ scores }) => scores.attention);
`;

t.test('the packed client', async (t) => {
  const folder = t.testdir({});
  const { tarball, installed } = await unpacked(folder, 'acuity-client', ['-w', 'acuity-client']);

  await t.test('it is small, and brings nothing along', async (t) => {
    t.ok(statSync(tarball).size <= PACKED_BYTES_MAX);
    t.notMatch(JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')), { dependencies: Object });
    t.strictSame(readdirSync(installed).sort(), ['LICENSE', 'README.md', 'dist', 'package.json']);
  });

  const SETTINGS = {
    node16: [ts.ModuleKind.Node16, ts.ModuleResolutionKind.Node16],
    nodenext: [ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext],
    bundler: [ts.ModuleKind.ESNext, ts.ModuleResolutionKind.Bundler],
    node10: [ts.ModuleKind.CommonJS, ts.ModuleResolutionKind.Node10],
  } as const;
  for (const extension of ['mts', 'cts']) writeFileSync(join(folder, `use.${extension}`), USE);
  for (const [name, [module, moduleResolution]] of Object.entries(SETTINGS)) {
    t.test(`types under strict, as ${name}`, async (t) => {
      const options = { module, moduleResolution, strict: true, noEmit: true, types: [] };
      const files = { bundler: ['use.mts'], node10: ['use.cts'] }[name as string] ?? ['use.mts', 'use.cts'];
      const paths = files.map((file) => join(folder, file));
      const program = ts.createProgram(paths, { ...options, target: ts.ScriptTarget.ES2022 });
      const mistakes = ts
        .getPreEmitDiagnostics(program)
        .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
      t.strictSame(mistakes, []);
    });
  }

  const run = (...args: string[]) => ended(process.execPath, args, { cwd: folder });

  await t.test('it loads as a module and by require', async (t) => {
    const show = 'console.log(typeof client.AcuityClient, typeof client.RefusedError)';
    const asModule = `import * as client from 'acuity-client'; ${show}`;
    const required = `const client = require('acuity-client'); ${show}`;
    t.equal((await run('--input-type=module', '-e', asModule)).stdout, 'function function\n');
    t.equal((await run('--input-type=commonjs', '-e', required)).stdout, 'function function\n');
    const adapter = `console.log(typeof require('acuity-client/adapters').fromOura)`;
    t.equal((await run('--input-type=commonjs', '-e', adapter)).stdout, 'function\n');
  });

  await t.test('the programs of its page run in this folder, and are scored', async (t) => {
    const env = cleanEnvironment(served);
    const page = readFileSync(join(installed, 'README.md'), 'utf8');
    const programs = [...page.matchAll(/```js\n([^]*?)```\n/g)];
    t.equal(programs.length, 3);
    t.notMatch(page, /```ts/, 'a program that is not run');
    for (const [index, [, program = '']] of programs.entries()) {
      const file = join(folder, `program${index}.mjs`);
      writeFileSync(file, program);
      const { code, stdout, stderr } = await ended(process.execPath, [file], { cwd: folder, env });
      t.equal(code, 0, stderr);
      t.match(stdout, /attention: \d/);
    }
  });
});
