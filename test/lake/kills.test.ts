import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { folder } from '#fixtures/lake.js';
import { MODEL } from '#fixtures/model.js';
import { REPOSITORY, cleanEnvironment } from '#fixtures/repository.js';
import { acuity } from '#fixtures/scripts.js';
import { linesOf } from '#fixtures/tables.js';
import { until } from '#fixtures/until.js';

/** `acuity score` killed again and again over a folder. */

/** Nights of five people by time, and one that is refused in every fifth file. */
function nights(file: number): string {
  const rows = Array.from({ length: 700 }, (_, row) => ({
    id: `n${row}`,
    person: `p${row % 5}`,
    at: Date.UTC(2025, 0, 1 + 140 * file + Math.floor(row / 5), 7),
    current_session: { HR_night: [60, 61 + (row % 7)], sleepTimeSeconds: 20_000 + row, age: 30 },
  }));
  const bad = { ...rows.at(-1), current_session: { age: 131 } };
  return linesOf(file % 5 === 0 ? [...rows, bad] : rows);
}

t.test('killed ten times over fourteen files: byte for byte as one run, records and state too', async (t) => {
  const dir = folder(t);
  const files = Array.from({ length: 14 }, (_, n) => join(dir, 'lake', `${n}.ndjson`));
  mkdirSync(join(dir, 'lake'));
  for (const [n, path] of files.entries()) writeFileSync(path, nights(n));
  const argsOf = (out: string): string[] => {
    const past = ['--person', 'person', '--order', 'at', '--state', join(dir, `${out}-state`)];
    return ['lake', '--out-dir', out, ...past].map((arg) =>
      /^(lake|out|whole)$/.test(arg) ? join(dir, arg) : arg,
    );
  };
  const contents = (name: string): Map<string, string> =>
    new Map(
      readdirSync(join(dir, name)).map((file) => [file, readFileSync(join(dir, name, file), 'latin1')]),
    );
  const whole = await acuity(['score', ...argsOf('whole')]);
  t.equal(whole.code, 65, whole.stderr);
  // Each time at another step of a file: scores begun, set aside, with their record, with their names.
  const steps = [/\.partial$/, /scores\.ndjson\.partial$/, /\.acuity$/, /scores\.ndjson$/];
  mkdirSync(join(dir, 'out'));
  const names = (step: RegExp): number =>
    readdirSync(join(dir, 'out')).filter((name) => step.test(name)).length;
  for (let kill = 0; kill < 10; kill++) {
    const env = cleanEnvironment({ ACUITY_WORKERS: '1', ACUITY_MODEL: MODEL });
    const args = [join(REPOSITORY, 'dist/main.js'), 'score', ...argsOf('out')];
    const child = spawn(process.execPath, args, { env, stdio: 'ignore' });
    t.teardown(() => child.kill('SIGKILL'));
    const closed = once(child, 'close');
    const step = steps[kill % steps.length] ?? /$/;
    const before = kill % steps.length > 1 ? names(step) : 0;
    await until(() => child.exitCode !== null || names(step) > before, 0);
    child.kill('SIGKILL');
    t.strictSame(await closed, [null, 'SIGKILL'], 'it was killed before its end');
  }
  const finished = readdirSync(join(dir, 'out')).filter((name) => name.endsWith('.scores.ndjson'));
  const inodes = finished.map((name) => statSync(join(dir, 'out', name)).ino);
  const last = await acuity(['score', ...argsOf('out')]);
  t.match(last, { code: 65, stderr: /1 row has no scores, see .*0\.bad\.ndjson/ });
  t.strictSame(
    inodes,
    finished.map((name) => statSync(join(dir, 'out', name)).ino),
    'nothing is scored anew',
  );
  t.strictSame(contents('out'), contents('whole'));
  t.equal(contents('out').size, 14 + 14 + 3);
  t.equal(readFileSync(join(dir, 'out-state'), 'latin1'), readFileSync(join(dir, 'whole-state'), 'latin1'));
  const again = await acuity(['score', ...argsOf('out')]);
  t.match(again, { code: 65, stderr: /14 of 14 files are finished already/ });
  t.match(await acuity(['score', ...argsOf('out'), '--accept-bad']), { code: 0 });
  t.match(await acuity(['score', ...argsOf('out')]), { code: 0 });
});
