import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { startServer } from '../fixtures/server.js';

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

t.test('the packed client in an empty folder', async (t) => {
  const folder = t.testdir({});
  const npm = process.env['npm_execpath'];
  const pack = ['pack', '-w', 'acuity-client', `--pack-destination=${folder}`];
  const [command, args]: [string, string[]] =
    npm === undefined ? ['npm', pack] : [process.execPath, [npm, ...pack]];
  const packed = await ended(command, args, { cwd: REPOSITORY, env: cleanEnvironment() });
  t.equal(packed.code, 0, packed.stderr);
  const [tarball = ''] = readdirSync(folder);
  const installed = join(folder, 'node_modules/acuity-client');
  mkdirSync(installed, { recursive: true });
  const untar = ['-xzf', join(folder, tarball), '-C', installed, '--strip-components=1'];
  t.equal((await ended('tar', untar, { cwd: folder })).code, 0);

  await t.test('it is small, and brings nothing along', async (t) => {
    t.ok(statSync(join(folder, tarball)).size <= PACKED_BYTES_MAX);
    const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    t.equal(dependencies, undefined);
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
      const program = ts.createProgram(
        files.map((file) => join(folder, file)),
        { ...options, target: ts.ScriptTarget.ES2022 },
      );
      const mistakes = ts
        .getPreEmitDiagnostics(program)
        .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
      t.strictSame(mistakes, []);
    });
  }

  const run = (...args: string[]) => ended(process.execPath, args, { cwd: folder, env: cleanEnvironment() });

  await t.test('it loads as a module and by require', async (t) => {
    const show = 'console.log(typeof client.AcuityClient, typeof client.RefusedError)';
    const asModule = `import * as client from 'acuity-client'; ${show}`;
    const required = `const client = require('acuity-client'); ${show}`;
    t.equal((await run('--input-type=module', '-e', asModule)).stdout, 'function function\n');
    t.equal((await run('--input-type=commonjs', '-e', required)).stdout, 'function function\n');
    const adapter = `console.log(typeof require('acuity-client/adapters').fromOura)`;
    t.equal((await run('--input-type=commonjs', '-e', adapter)).stdout, 'function\n');
  });

  await t.test('the programs of its page run in this folder', async (t) => {
    const server = await startServer(t);
    const env = cleanEnvironment({
      ACUITY_URL: `http://127.0.0.1:${server.port}`,
      ACUITY_API_KEY: server.key,
    });
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
