import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';

const PACKED_BYTES_MAX = 80 * 1024;
const PACKAGE = join(REPOSITORY, 'packages/client-ts');

/** What somebody who installed the package writes. */
const USE = `import { AcuityClient, History, memoryStorage, SessionBuilder, type Session } from 'acuity-client';
import { AdapterError, fromOura, type Adapted } from 'acuity-client/adapters';
import { undiciTransport } from 'acuity-client/undici';
export const adapted = (sleep: unknown): Adapted => fromOura({ sleep, person: { age: 34 } });
export const fieldOf = (error: unknown): string | undefined => error instanceof AdapterError ? error.field : undefined;
const session: Session = new SessionBuilder(Date.now()).person({ age: 34, sex: 'F' }).build();
const client = new AcuityClient({ url: 'http://127.0.0.1:1', apiKey: 'sk_live_' + 'a'.repeat(38), transport: undiciTransport });
export const scored = (): Promise<number> =>
  new History(client, memoryStorage()).score('a', new Date(), session, { retries: 0 }).then(({ scores }) => scores.attention);
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
  } as const;
  for (const extension of ['mts', 'cts']) writeFileSync(join(folder, `use.${extension}`), USE);
  for (const [name, [module, moduleResolution]] of Object.entries(SETTINGS)) {
    t.test(`types under strict, as ${name}`, async (t) => {
      const options = { module, moduleResolution, strict: true, noEmit: true, types: [] };
      const files = name === 'bundler' ? ['use.mts'] : ['use.mts', 'use.cts'];
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

  await t.test('it loads as a module and by require, without undici', async (t) => {
    const show = 'console.log(typeof client.AcuityClient, typeof client.UnitError)';
    const asModule = `import * as client from 'acuity-client'; ${show}`;
    const required = `const client = require('acuity-client'); ${show}`;
    t.equal((await run('--input-type=module', '-e', asModule)).stdout, 'function function\n');
    t.equal((await run('--input-type=commonjs', '-e', required)).stdout, 'function function\n');
    const adapter = `console.log(typeof require('acuity-client/adapters').fromOura)`;
    t.equal((await run('--input-type=commonjs', '-e', adapter)).stdout, 'function\n');
  });

  await t.test('in a browser’s place it refuses', async (t) => {
    const code = `import { AcuityClient } from 'acuity-client'; new AcuityClient({});`;
    const { stderr } = await run('--conditions=browser', '--input-type=module', '-e', code);
    t.match(stderr, /belongs on a server/);
  });
});

t.test('its page shows the example as it is, but for the name of the package', async (t) => {
  const example = readFileSync(join(REPOSITORY, 'docs/examples/score.js'), 'utf8');
  const page = readFileSync(join(PACKAGE, 'README.md'), 'utf8');
  t.ok(page.includes(example.replace("'acuity/client'", "'acuity-client'")));
  t.ok(existsSync(join(PACKAGE, 'LICENSE')));
});
