import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { folder, rowsOf } from '#fixtures/lake.js';
import { acuity, started } from '#fixtures/scripts.js';
import { nights, writeRows } from '#fixtures/tables.js';
import { until } from '#fixtures/until.js';

/** `acuity score` killed again and again over a folder. */

t.test('killed ten times over fourteen files: byte for byte as one run, records and state too', async (t) => {
  const dir = folder(t);
  const all = nights(14 * 700, 5);
  for (let file = 0; file < 14; file++) {
    const own = all.slice(700 * file, 700 * (file + 1));
    const bad = file % 5 === 0 ? [{ ...own.at(-1), age: 131 }] : [];
    await writeRows(join(dir, `lake/${file}.ndjson`), [...own, ...bad]);
  }
  const argsTo = (out: string): string[] => {
    const past = ['--person', 'person', '--order', 'at', '--state', join(dir, `${out}-state`)];
    return ['score', join(dir, 'lake'), '--out-dir', join(dir, out), ...past];
  };
  const contents = (to: string): unknown => [
    readFileSync(join(dir, `${to}-state`), 'latin1'),
    ...readdirSync(join(dir, to)).map((name) => [name, readFileSync(join(dir, to, name), 'latin1')]),
  ];
  const whole = await acuity(argsTo('whole'));
  t.equal(whole.code, 65, whole.stderr);
  // Each time at another step of a file: scores begun, with their record, with their names.
  const steps = [/\.partial$/, /\.acuity$/, /scores\.ndjson$/];
  const out = join(dir, 'out');
  mkdirSync(out);
  const names = (step: RegExp): string[] => readdirSync(out).filter((name) => step.test(name));
  for (let kill = 0; kill < 10; kill++) {
    const { child, closed } = started(t, argsTo('out'));
    const step = steps[kill % steps.length] ?? /$/;
    const before = kill % steps.length > 0 ? names(step).length : 0;
    await until(() => child.exitCode !== null || names(step).length > before, 0);
    child.kill('SIGKILL');
    t.match(await closed, { code: null, signal: 'SIGKILL' }, 'it was killed before its end');
  }
  // By the state: the record of the last one may still say that it is begun.
  const [head] = rowsOf(readFileSync(join(dir, 'out-state'), 'utf8')) as { inputs?: unknown[] }[];
  const stderr = RegExp(`1 row .* see .*0\\.bad\\.ndjson[^]* ${head?.inputs?.length} of 14 files are`);
  t.match(await acuity(argsTo('out')), { code: 65, stderr });
  t.strictSame(contents('out'), contents('whole'));
  t.equal(names(/$/).length, 14 + 14 + 3);
  t.match(await acuity(argsTo('out')), { code: 65, stderr: /14 of 14 files are finished already/ });
  t.match(await acuity([...argsTo('out'), '--accept-bad']), { code: 0 });
  t.match(await acuity(argsTo('out')), { code: 0 });
});
