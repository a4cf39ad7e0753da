import t from 'tap';
import { withoutPassword } from '#acuity/config/documentation.js';
import { VARIABLES } from '#acuity/config/variables.js';
import { registerConfig } from '#acuity/commands/config.js';
import { commanded } from '../fixtures/lake.js';
import { cleanEnvironment } from '../fixtures/repository.js';
import { acuity } from '../fixtures/scripts.js';

t.test('config prints each variable with its effective value and documentation', async (t) => {
  const { code, stdout } = await acuity(['config'], { ACUITY_PORT: '1234' });
  t.equal(code, 0);
  t.match(stdout, /^ACUITY_PORT=1234\n {4}Public listener: port/m);
  for (const { env } of Object.values(VARIABLES)) t.match(stdout, new RegExp(`^${env}=`, 'm'));
});

t.test('config --json prints the values, the password of a key store masked', async (t) => {
  const { stdout } = await acuity(['config', '--json'], { ACUITY_KEYS: 'redis://me:hunter2@host:6379/0' });
  const values = JSON.parse(stdout) as Record<string, unknown>;
  t.equal(values['keys'], 'redis://me:***@host:6379/0');
  t.equal(values['port'], 8080);
  t.strictSame(Object.keys(values), Object.keys(VARIABLES));
});

t.test('each mistake is told in a line, and ends with 78', async (t) => {
  const env = { ACUITY_PORT: 'x', ACUITY_NONSENSE: '1' };
  const lines = [
    'ACUITY_NONSENSE is not a known variable',
    'ACUITY_PORT must be an integer from 0 to 65535, not "x"',
  ];
  const serve = await acuity(['serve'], env);
  t.strictSame(serve, { code: 78, stdout: '', stderr: lines.map((line) => `${line}\n`).join('') });
  for (const [own, said] of [
    [env, lines[1]],
    [{ ACUITY_NORMS: 'package.json' }, /^ACUITY_NORMS must be a file in the form of .*\n$/],
  ] as const) {
    t.intercept(process, 'env', { value: cleanEnvironment(own) });
    t.match(await commanded(t, registerConfig, ['config']), { code: 78, said });
  }
});

t.test('passwords with any characters are masked', async (t) => {
  t.equal(withoutPassword('redis://me:a@b:c/@host:6379/0'), 'redis://me:***@host:6379/0');
  t.equal(withoutPassword('rediss://:secret@host'), 'rediss://:***@host');
  t.equal(withoutPassword('redis://secret@host'), 'redis://***@host', 'a lone word may be one');
  t.equal(withoutPassword('redis://host:6379'), 'redis://host:6379');
  t.equal(withoutPassword('file:data/a@b.json'), 'file:data/a@b.json');
});
