import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';

t.test('the packed server in an empty folder', async (t) => {
  const folder = t.testdir({});
  const installed = join(folder, 'node_modules/acuity');
  mkdirSync(installed, { recursive: true });
  const npm = process.env['npm_execpath'];
  const pack = ['pack', `--pack-destination=${folder}`];
  const [command, args]: [string, string[]] =
    npm === undefined ? ['npm', pack] : [process.execPath, [npm, ...pack]];
  const packed = await ended(command, args, { cwd: REPOSITORY, env: cleanEnvironment() });
  t.equal(packed.code, 0, packed.stderr);
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  const untar = ['-xzf', join(folder, tarball), '-C', installed, '--strip-components=1'];
  t.equal((await ended('tar', untar, { cwd: folder })).code, 0);

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
    const { stdout } = await ended(process.execPath, ['--input-type=module', '-e', code], {
      cwd: folder,
      env,
    });
    t.equal(stdout, 'function\n');
  });

  await t.test('it serves, scores, and shows the reference page', async (t) => {
    const server = spawn(process.execPath, [acuity, 'serve'], { cwd: folder, env });
    const exited = new Promise((resolve) => server.once('exit', resolve));
    t.teardown(async () => {
      server.kill('SIGKILL');
      await exited;
    });
    let address: { port: number; adminPort: number } | undefined;
    for await (const line of createInterface({ input: server.stdout })) {
      if (!line.startsWith('{"event":"listening"')) continue;
      address = JSON.parse(line) as { port: number; adminPort: number };
      break;
    }
    const answer = await fetch(`http://127.0.0.1:${address?.port}/predict`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: '{"current_session":{}}',
    });
    t.equal(answer.status, 200);
    const admin = `http://127.0.0.1:${address?.adminPort}`;
    t.match(await (await fetch(`${admin}/docs`)).text(), 'Score one session');
    t.equal((await fetch(`${admin}/docs/reference.css`)).status, 200);
  });
});
