import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { filesBelow, REPOSITORY, script, textOf, writeFiles } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';

interface Platform {
  readonly platform: string;
  readonly arch: string;
  readonly abi?: string;
}
type Keep = (modules: string, kept: Platform) => void;

const ANALYZE = '/usr/bin/systemd-analyze';
const skip = existsSync(ANALYZE) ? false : `no ${ANALYZE} here (Debian: systemd)`;

t.test('the systemd unit is one that systemd takes', { skip }, async (t) => {
  const folder = t.testdir();
  const unit = join(folder, 'acuity.service');
  writeFiles(folder, { 'acuity.service.d/haproxy.conf': textOf('deploy/acuity-haproxy.conf') });
  writeFileSync(unit, textOf('deploy/acuity.service').replace('/usr/bin/node', process.execPath));
  const outcome = await ended(ANALYZE, ['verify', '--man=no', unit], { cwd: folder });
  t.equal(outcome.stderr, '');
  t.equal(outcome.code, 0);
});

t.test('one platform’s native libraries stay, and of what serves no maps', async (t) => {
  const modules = t.testdir();
  const uws = ['uws_linux_x64_115.node', 'uws_linux_x64_127.node', 'uws_darwin_arm64_115.node', 'uws.js'];
  const places = ['linux/x64', 'linux/arm64', 'darwin/arm64'];
  const runtimes = places.map((place) => `napi-v6/${place}/library.node`);
  const others = ['other/esm/a.js', 'other/esm/a.js.map'];
  writeFiles(modules, {
    ...Object.fromEntries(uws.map((name) => [`uWebSockets.js/${name}`, ''])),
    ...Object.fromEntries(runtimes.map((name) => [`onnxruntime-node/bin/${name}`, ''])),
    ...Object.fromEntries(others.map((name) => [name, ''])),
  });
  const { keepOnePlatform, keepServed } =
    await script<Record<'keepOnePlatform' | 'keepServed', Keep>>('onePlatform.js');
  const files = async (): Promise<string[]> => (await filesBelow(modules)).toSorted();
  const kept = ['onnxruntime-node/bin/napi-v6/linux/x64/library.node', 'uWebSockets.js/uws.js'];
  const ours = 'uWebSockets.js/uws_linux_x64_115.node';
  keepOnePlatform(modules, { platform: 'linux', arch: 'x64' });
  t.strictSame(await files(), [...kept, ours, 'uWebSockets.js/uws_linux_x64_127.node', ...others].toSorted());
  keepServed(modules, { platform: 'linux', arch: 'x64', abi: '115' });
  t.strictSame(await files(), [...kept, ours, 'other/esm/a.js'].toSorted());
});

/** Not more than some megabytes above what was measured: a package that grows is seen. */
const SERVED_MB_MAX = 155;

t.test('the serving stage is small', async (t) => {
  const { shippedPackages } = await script<{ shippedPackages(): string[] }>('archive.js');
  const { isServed } = await script<{ isServed(path: string, kept: Platform): boolean }>('onePlatform.js');
  const { platform, arch, versions } = process;
  const kept = { platform, arch, abi: versions.modules };
  const sizes = shippedPackages().map((path) =>
    sizeOf(join(REPOSITORY, path), (name) => isServed(name, kept)),
  );
  const megabytes = sizes.reduce((sum, size) => sum + size, 0) / 2 ** 20;
  t.ok(megabytes > 50 && megabytes < SERVED_MB_MAX, `${megabytes.toFixed(1)} MB`);
});

/** Bytes below a folder, without the packages in it: they are listed themselves. */
function sizeOf(folder: string, isCounted: (path: string) => boolean): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.name === 'node_modules' || !isCounted(path)) return sum;
    if (entry.isDirectory()) return sum + sizeOf(path, isCounted);
    return sum + (entry.isFile() ? statSync(path).size : 0);
  }, 0);
}

t.test('a plain npm ci runs no install script, whether or not npm knows allowScripts', async (t) => {
  // npm 10 runs the scripts of the packages that the lock file marks, and onnxruntime-node's downloads GPU libraries.
  t.notMatch(textOf('package-lock.json'), /"hasInstallScript"/);
});
