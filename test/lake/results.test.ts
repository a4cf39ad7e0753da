import { appendFileSync, existsSync, readFileSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'; // prettier-ignore
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { PredictionRequest } from '#acuity/night/request.js';
import type { ScoreHandler } from '#acuity/score/scorer.js';
import { FormulaScorer } from '#fixtures/handScorer.js';
import { folder, runLake, type Asked } from '#fixtures/lake.js';
import { linesOf, writeParquet } from '#fixtures/tables.js';

/** The results of a first run, seen by a second one, by the records beside them. */

const PAST = { person: 'person', order: 'at' };
const row = (at: number, age = 30): object => ({ person: 'p', at, current_session: { age } });
const BAD_AGE = 131;

/** A folder with a night in each file, some of them bad rows. */
function lake(t: Test, ...ages: readonly (readonly number[])[]): string {
  const dir = join(folder(t));
  for (const [n, of] of ages.entries())
    writeFileSync(join(dir, `${n}.ndjson`), linesOf(of.map((age, day) => row(20260101 + 10 * n + day, age))));
  return dir;
}

const RESULT = ['0.scores.ndjson', '_0.acuity'];

t.test('other options, another network or another input: an error says which, --again scores', async (t) => {
  const dir = lake(t, [30]);
  const path = join(dir, '0.ndjson');
  const outDir = folder(t);
  t.match(await runLake([path], { outDir }), { todo: 1, error: undefined });
  t.strictSame(readdirSync(outDir), RESULT);
  const text = readFileSync(join(outDir, '_0.acuity'), 'utf8');
  t.match(JSON.parse(text), { made: { lines: 1, bad: 0, inputs: [{ size: statSync(path).size }] } });
  t.notMatch(text, dir);
  t.equal(statSync(join(outDir, '_0.acuity')).mode & 0o777, 0o600);
  t.match(await runLake([path], { outDir }), { todo: 0, told: [], error: undefined });
  const norms = join(folder(t), 'norms.json');
  writeFileSync(norms, '{}');
  const model = folder(t);
  writeFileSync(join(model, 'manifest.json'), '{}');
  const other = lake(t, [50]);
  const cases: readonly (readonly [asked: Asked, difference: RegExp, file?: string])[] = [
    [{ history: PAST }, /: --person \(none then, person now\), --order \(none .*, --late/],
    [
      { keep: ['person', 'at'] },
      /: --keep \(none then, \["person","at"\] now\)\. Give another --out-dir, or --again/,
    ],
    [{ to: 'csv' }, /: --to \(ndjson then, csv now\)/],
    [{ explain: true }, /: --explain \(false then, true now\)/],
    [
      { history: PAST, state: join(dir, 'state') },
      /0.scores.ndjson is there, but its sessions are not in the state/,
    ],
    [{ config: { model } }, /: the network\./],
    [{ config: { norms } }, /: ACUITY_NORMS\./],
    [{ config: { nightSamplesMax: 9 } }, /: ACUITY_NIGHT_SAMPLES_MAX \(\d+ then, 9 now\)/],
    [{}, /: the input\. Give/, join(other, '0.ndjson')],
  ];
  for (const [asked, difference, file = path] of cases) {
    const { error, files } = await runLake([file], { outDir, ...asked });
    t.match(error, { message: difference });
    t.equal(readFileSync(join(outDir, '_0.acuity'), 'utf8'), text, `${files.length} results, and old ones`);
  }
  const { files } = await runLake([path], { outDir, keep: ['person'], again: true });
  t.match(files[0]?.rows, [{ person: 'p' }]);
  t.match(await runLake([path], { outDir, keep: ['person'] }), { todo: 0, error: undefined });
});

t.test('bad rows of a night fail every run until they are accepted, others never hide', async (t) => {
  const dir = lake(t, [30, BAD_AGE]);
  const outDir = folder(t);
  const night = (asked: Asked = {}) => runLake([dir], { outDir, ...asked });
  const bad = /0.ndjson: 1 row has no scores, see .*0.bad.ndjson; --accept-bad/;
  t.match(await night(), { todo: 1, tally: { badLines: 1 }, hasFormerBad: false });
  for (let next = 1; next < 3; next++) {
    writeFileSync(join(dir, `${next}.ndjson`), linesOf([row(20260201 + next)]));
    t.match(await night(), { todo: 1, told: [bad], tally: { badLines: 0 }, hasFormerBad: true });
    t.match(await night(), { todo: 0, told: [bad], hasFormerBad: true }, 'a retry is not green');
  }
  t.match(await night({ acceptBad: true }), { todo: 0, told: [], hasFormerBad: false });
  t.match(await night(), { todo: 0, told: [], hasFormerBad: false });
  writeFileSync(join(dir, '3.ndjson'), linesOf([row(20260301, BAD_AGE)]));
  t.match(
    await night({ acceptBad: true }),
    { todo: 1, tally: { badLines: 1 } },
    'what was never told counts',
  );
  t.match(await night(), { todo: 0, hasFormerBad: true });
});

/** Does something while the first row is scored. */
class Meanwhile extends FormulaScorer {
  constructor(private act: (() => void) | undefined) {
    super();
  }
  override admit(request: PredictionRequest, who: ScoreHandler) {
    this.act?.();
    this.act = undefined;
    return super.admit(request, who);
  }
}

/** Changes of an input or its result, and what the next run tells; the one with a state ends with an error. */
const CHANGES: readonly (readonly [change: (dir: string) => void, told: RegExp, withState: RegExp])[] = [
  [
    (dir) => utimesSync(join(dir, '0.ndjson'), 1e9, 1e9), // older than its scores, too
    /0.ndjson: it has changed since its scores were made, and it is scored again/,
    /it was written again, and the state has its former/,
  ],
  ...['', '{"kind":"acuity result"', '{}', 'null', '[]', undefined].map(
    (left) =>
      [
        (dir: string) => {
          if (left === undefined) rmSync(join(dir, '_0.acuity'));
          else writeFileSync(join(dir, '_0.acuity'), left);
        },
        /no record says how its scores were made, and it is scored again/,
        /in the state, and its scores have no record: remove/,
      ] as const,
  ),
];

t.test(
  'a changed input, or a result without a record, is scored again, and told; with a state an error',
  async (t) => {
    for (const [change, told, withState] of CHANGES)
      for (const message of [undefined, withState]) {
        const dir = lake(t, [30]);
        const path = join(dir, '0.ndjson');
        const kept: Asked = message === undefined ? {} : { history: PAST, state: join(dir, 'state') };
        t.match(await runLake([path], kept), { todo: 1, error: undefined });
        change(dir);
        t.match(
          await runLake([path], kept),
          message ? { error: { message } } : { todo: 1, told: [told, String] },
        );
        if (message === undefined) continue;
        rmSync(join(dir, 'state'));
        const error = { message: /its sessions are not in the state/ };
        t.match(await runLake([path], kept), { error });
      }
  },
);

for (const change of ['grown', 'replaced'] as const)
  for (const state of [undefined, 'state'])
    t.test(
      `an input ${change} while it is read, ${state}, has no result, and all of it is scored next`,
      async (t) => {
        const dir = lake(t, [30]);
        const path = join(dir, '0.ndjson');
        const scorer = new Meanwhile(() => {
          if (change === 'grown') return appendFileSync(path, linesOf([row(20260110)]));
          writeFileSync(`${path}.new`, linesOf([row(20260101), row(20260110)]));
          renameSync(`${path}.new`, path);
        });
        const asked: Asked = state === undefined ? {} : { history: PAST, state: join(dir, state) };
        t.match((await runLake([path], { ...asked, scorer })).error, {
          name: 'TryAgainError',
          message: /changed while it was read.* run the command again/,
        });
        t.strictSame(readdirSync(dir), ['0.ndjson'], 'no result, and nothing in the state');
        t.equal((await runLake([path], asked)).files[0]?.rows.length, 2);
      },
    );

t.test('under --sort a new or changed input has all scored again; a SELECT always is', async (t) => {
  const dir = folder(t);
  const parquet = async (name: string, age: number): Promise<void> =>
    writeParquet(join(dir, `${name}.parquet`), [{ person: 'p', at: Date.UTC(2026, 0, age), age }]);
  await parquet('a', 20);
  await parquet('b', 21);
  const asked: Asked = { outDir: folder(t), history: PAST, sort: true, to: 'ndjson' };
  t.match(await runLake([dir], asked), { todo: 1 });
  t.match(await runLake([dir], asked), { todo: 0, told: [] });
  await parquet('c', 22);
  const { files, told } = await runLake([dir], asked);
  t.match([told, files[0]?.rows.length], [[/3 files: it has changed since/, String], 3]);
  const kept = { ...asked, state: join(folder(t), 'state'), outDir: folder(t) };
  t.match(await runLake([dir], kept), { todo: 1, error: undefined });
  await parquet('d', 23);
  t.match(await runLake([dir], kept), { error: { message: /it was written again, and the state/ } });

  const query: Asked = { sql: `SELECT age FROM '${dir}/a.parquet'`, outDir: folder(t), to: 'ndjson' };
  t.match(await runLake([], query), { todo: 1, error: undefined });
  t.notMatch(readFileSync(join(query.outDir ?? '', '_query.acuity'), 'utf8'), /SELECT|a\.parquet/);
  t.match(await runLake([], query), {
    todo: 1,
    told: [/whether its rows have changed is not known/, String],
  });
  t.match(await runLake([], { ...query, sql: `${query.sql} ` }), {
    error: { message: /: --sql\. Give another/ },
  });
  const past = { ...query, sql: `SELECT person, "at", age FROM '${dir}/a.parquet'`, outDir: folder(t) };
  const remembered = { ...past, history: PAST, state: join(folder(t), 'state') };
  t.match(await runLake([], remembered), { todo: 1, error: undefined });
  t.match(await runLake([], remembered), {
    todo: 0,
    told: [/whether its rows have changed since is not known/],
  });
});

t.test('a run that was killed leaves at each step what the next one goes on with', async (t) => {
  const OWN = ['0.scores.ndjson', '0.bad.ndjson'] as const;
  for (const hasState of [false, true]) {
    const dir = lake(t, [30, BAD_AGE]);
    const path = join(dir, '0.ndjson');
    const state = join(dir, 'state');
    const asked: Asked = hasState ? { history: PAST, state } : {};
    const all = () => readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')]);
    const aside = (...names: readonly string[]): void =>
      names.forEach((name) => renameSync(join(dir, name), join(dir, `${name}.partial`)));
    const gone = (...names: readonly string[]): void =>
      names.forEach((name) => rmSync(join(dir, name), { force: true }));
    for (const name of OWN) writeFileSync(join(dir, `${name}.partial`), 'left by a run that was killed');
    t.match(await runLake([path], asked), { todo: 1, error: undefined });
    const whole = all();
    const steps: readonly (readonly [todo: number, kill: () => void])[] = [
      [0, () => aside(OWN[0])],
      [0, () => aside(...OWN)],
      [1, () => gone(...OWN, '_0.acuity', 'state')],
      [1, () => (aside(...OWN), gone('_0.acuity', 'state'))],
      // The record came before the state that has its sessions.
      [hasState ? 1 : 0, () => (aside(...OWN), gone('state'))],
    ];
    for (const [todo, kill] of steps) {
      kill();
      t.match(await runLake([path], asked), { todo, error: undefined });
      t.strictSame(all(), whole);
    }
    gone(OWN[0]);
    const lost = { error: { message: /in the state, but .* is gone: remove/ } };
    t.match(await runLake([path], asked), hasState ? lost : { todo: 1, error: undefined });
  }
});

t.test('of two runs over one file the second says so; over others both are whole', async (t) => {
  const dir = lake(t, [30], [31]);
  const [one = '', other = ''] = ['0.ndjson', '1.ndjson'].map((name) => join(dir, name));
  let runs: Promise<unknown>[] = [];
  const scorer = new Meanwhile(() => (runs = [runLake([one]), runLake([other])]));
  t.match(await runLake([one], { scorer }), { todo: 1, error: undefined });
  const [same, far] = await Promise.all(runs);
  t.match(same, { error: { name: 'FileLockError', message: /_0.acuity.lock is held by process \d+/ } });
  t.match(far, { todo: 1, error: undefined });
  t.strictSame(readdirSync(dir), [
    '0.ndjson',
    '0.scores.ndjson',
    '1.ndjson',
    '1.scores.ndjson',
    '_0.acuity',
    '_1.acuity',
  ]);
  t.match(await runLake([one, other]), { todo: 0 });
  const later = new Meanwhile(() => (runs = [runLake([other], { again: true, keep: ['person'] })]));
  const third = join(dir, '2.ndjson');
  writeFileSync(third, linesOf([row(20260401)]));
  // The second file is made anew by another run after this one has looked at it.
  const { error } = await runLake([third, other], { again: true, scorer: later, history: undefined });
  await Promise.all(runs);
  t.match(error, { name: /TryAgainError|FileLockError/ });
  t.ok(existsSync(join(dir, '2.scores.ndjson')));
});
