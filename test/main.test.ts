import type { Command } from 'commander';
import t from 'tap';
import { registerServe } from '#acuity/commands/serve.js';
import { commanded } from './fixtures/lake.js';
import { acuity, ended } from './fixtures/scripts.js';

t.test('misuse of the command line fails with a reason', async (t) => {
  const { code, stderr } = await acuity(['sevre']);
  t.not(code, 0);
  t.match(stderr, /unknown command 'sevre'; --help lists the commands/);
  for (const slip of ['isue', 'issue --kind demo --ratee 5'])
    t.match(
      (await acuity(['keys', ...slip.split(' ')])).stderr,
      /^error: .*\(Did you mean .*\n$/,
      'one line',
    );
  const register = (program: Command): void => registerServe(program, undefined);
  for (const [option, hint] of [
    ['--admin-port=9000', /set ACUITY_ADMIN_PORT instead/],
    ['--prot', /"acuity config" lists/],
  ] as const)
    t.match(await commanded(t, register, ['serve', option, '9000']), { code: 1, said: hint });
});

// The environment that ONNX Runtime and uWebSockets.js read is set in between.
t.test('the command line loads no native library before a command asks for it', async (t) => {
  const script = `
    import '#acuity/main.js';
    const { sharedObjects } = process.report.getReport();
    process.stdout.write(sharedObjects.join('\\n'));`;
  const { stdout } = await ended(process.execPath, ['--input-type=module', '--eval', script]);
  t.match(stdout, /libc|linux-vdso/, 'the report lists what is loaded');
  t.notMatch(stdout, /onnxruntime|uws_/);
});
