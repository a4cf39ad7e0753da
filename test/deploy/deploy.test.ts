import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { REPOSITORY, script, writeFiles } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';

const read = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8');

const ANALYZE = '/usr/bin/systemd-analyze';
const skip = existsSync(ANALYZE) ? false : `no ${ANALYZE} here (Debian: systemd)`;

t.test('the systemd unit is one that systemd takes', { skip }, async (t) => {
  const folder = t.testdir();
  const unit = join(folder, 'acuity.service');
  writeFileSync(unit, read('deploy/acuity.service').replace('/usr/bin/node', process.execPath));
  const outcome = await ended(ANALYZE, ['verify', '--man=no', unit], { cwd: folder });
  t.equal(outcome.stderr, '');
  t.equal(outcome.code, 0);
});

t.test('the unit starts again after a hang or an abort, not after a mistaken configuration', (t) => {
  const unit = read('deploy/acuity.service');
  t.match(unit, /^Restart=on-failure$/m);
  t.match(unit, /^RestartPreventExitStatus=78$/m);
  t.match(unit, /^ExecReload=\/bin\/kill -HUP \$MAINPID$/m);
  t.end();
});

t.test(
  'the image is built on a glibc that the HTTP library loads on, and runs as an unprivileged user',
  (t) => {
    const lines = read('deploy/Dockerfile').split('\n');
    const bases = lines.filter((line) => line.startsWith('FROM '));
    t.ok(
      bases.length === 2 && bases.every((line) => line.includes('-trixie-slim')),
      'Debian 13 in both stages',
    );
    t.ok(lines.indexOf('USER node') > lines.lastIndexOf(bases[1] ?? ''), 'the last stage drops root');
    t.ok(lines.some((line) => line.startsWith('HEALTHCHECK ')));
    for (const line of lines.filter((text) => text.startsWith('COPY --from=build /acuity/'))) {
      const path = line.split(' ')[2]?.replace('/acuity/', '') ?? '';
      t.ok(existsSync(join(REPOSITORY, path)), `${path} is there to be copied`);
    }
    t.end();
  },
);

t.test('one platform’s native libraries stay', async (t) => {
  const modules = t.testdir();
  const uws = ['uws_linux_x64_115.node', 'uws_linux_x64_127.node', 'uws_darwin_arm64_115.node', 'uws.js'];
  const runtimes = ['linux/x64', 'linux/arm64', 'darwin/arm64'].map(
    (place) => `napi-v6/${place}/library.node`,
  );
  writeFiles(modules, {
    ...Object.fromEntries(uws.map((name) => [`uWebSockets.js/${name}`, ''])),
    ...Object.fromEntries(runtimes.map((name) => [`onnxruntime-node/bin/${name}`, ''])),
  });
  const { keepOnePlatform } = await script<{
    keepOnePlatform(modules: string, kept: { platform: string; arch: string; abi: string }): void;
  }>('onePlatform.js');
  keepOnePlatform(modules, { platform: 'linux', arch: 'x64', abi: '115' });
  t.same(readdirSync(join(modules, 'uWebSockets.js')).toSorted(), ['uws.js', 'uws_linux_x64_115.node']);
  t.same(readdirSync(join(modules, 'onnxruntime-node/bin/napi-v6')), ['linux']);
  t.same(readdirSync(join(modules, 'onnxruntime-node/bin/napi-v6/linux')), ['x64']);
});
