import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cleanEnvironment, REPOSITORY, script, writeFiles } from '../fixtures/repository.js';
import { ended, writeRepository } from '../fixtures/scripts.js';

const { httpBinaryList } = await script<{ httpBinaryList(root: string, folder?: string): string }>(
  'httpBinary.js',
);

const { platform, arch, versions } = process;
const BINARY = `node_modules/uWebSockets.js/uws_${platform}_${arch}_${versions.modules}.node`;
const ALIAS = { name: 'uwebsockets', version: '1.0.0' };

/** A repository whose HTTP library is some text, and listed. */
function repository(dir: string): void {
  writeRepository(dir, {
    'node_modules/uWebSockets.js/package.json': JSON.stringify(ALIAS),
    [BINARY]: 'compiled',
  });
  writeFiles(dir, { 'scripts/uwebsockets.sha256': httpBinaryList(dir) });
}

function build(dir: string) {
  return ended(process.execPath, ['scripts/build.js', 'src'], { cwd: dir, env: cleanEnvironment() });
}

t.test('every binary of the installed package is the listed one', async (t) => {
  const list = readFileSync(join(REPOSITORY, 'scripts/uwebsockets.sha256'), 'utf8');
  const installed = httpBinaryList(REPOSITORY).split('\n').slice(1, -1);
  t.ok(
    installed.some((line) => line.endsWith(`  uws_${platform}_${arch}_${versions.modules}.node`)),
    'this platform',
  );
  for (const line of installed) t.ok(list.includes(`\n${line}\n`), line);
  const { dependencies } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const [, name, version] = /^npm:(.+)@(.+)$/.exec(dependencies['uWebSockets.js'] ?? '') ?? [];
  t.ok(list.startsWith(`# ${name} ${version}:`), 'of the version that package.json names');
});

t.test('the listed binary is built with, and nothing is said', async (t) => {
  const dir = t.testdir();
  repository(dir);
  const { code, stderr } = await build(dir);
  t.equal(code, 0);
  t.notMatch(stderr, /HTTP library|uwebsockets/);
});

t.test('a binary that differs stops every build, the second one too', async (t) => {
  const dir = t.testdir();
  repository(dir);
  t.equal((await build(dir)).code, 0);
  appendFileSync(join(dir, BINARY), '!');
  for (let run = 0; run < 2; run++) {
    const { code, stderr } = await build(dir);
    t.equal(code, 1);
    const line = `acuity: ${BINARY} is not what scripts/uwebsockets.sha256 lists for uwebsockets 1.0.0: remove node_modules`;
    t.ok(stderr.includes(line), stderr);
    t.notMatch(stderr, /\bat .*\.js:\d+/, 'no stack');
  }
});

t.test('another package is reported, and the build goes on', async (t) => {
  const dir = t.testdir();
  repository(dir);
  const upstream = { name: 'uWebSockets.js', version: '20.66.0' };
  writeFiles(dir, {
    'node_modules/uWebSockets.js/package.json': JSON.stringify(upstream),
    [BINARY]: "upstream's",
  });
  const { code, stderr } = await build(dir);
  t.equal(code, 0);
  t.match(
    stderr,
    /^acuity: the HTTP library is uWebSockets\.js 20\.66\.0, not uwebsockets 1\.0\.0, whose binaries/m,
  );
});
