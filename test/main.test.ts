import { join } from 'node:path';
import t from 'tap';
import { cleanEnvironment, REPOSITORY } from './fixtures/repository.js';
import { ended } from './fixtures/scripts.js';

const OPTIONS = { cwd: REPOSITORY, env: cleanEnvironment() };

function evaluated(script: string) {
  return ended(process.execPath, ['--input-type=module', '--eval', script], OPTIONS);
}

t.test('misuse of the command line fails with a reason', async (t) => {
  const { code, stderr } = await ended(
    process.execPath,
    [join(REPOSITORY, 'dist/main.js'), 'sevre'],
    OPTIONS,
  );
  t.not(code, 0);
  t.match(stderr, /unknown command 'sevre'/);
});

t.test('an option of serve that is a variable is told so', async (t) => {
  for (const [option, hint] of [
    ['--admin-port=9000', /set ACUITY_ADMIN_PORT instead/],
    ['--prot', /"acuity config" lists/],
  ] as const) {
    const args = [join(REPOSITORY, 'dist/main.js'), 'serve', option, '9000'];
    const { code, stderr } = await ended(process.execPath, args, OPTIONS);
    t.not(code, 0);
    t.match(stderr, hint);
  }
});

// The environment that ONNX Runtime and uWebSockets.js read is set in between.
t.test('the command line loads no native library before a command asks for it', async (t) => {
  const { stdout } = await evaluated(`
    import '#acuity/main.js';
    const { sharedObjects } = process.report.getReport();
    process.stdout.write(sharedObjects.join('\\n'));`);
  t.match(stdout, /libc|linux-vdso/, 'the report lists what is loaded');
  t.notMatch(stdout, /onnxruntime|uws_/);
});
