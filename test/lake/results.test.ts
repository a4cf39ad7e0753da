import {
  appendFileSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import t, { type Test } from 'tap';
import { partialName } from '#acuity/base/files/atomicFile.js';
import { dateOf } from '#acuity/base/days.js';
import { seededRandom } from '#acuity/base/random.js';
import { Histories } from '#acuity/lake/score/histories.js';
import { StateFile } from '#acuity/lake/score/state.js';
import type { GivenMeasurement } from '#acuity/night/request.js';
import { session } from '#fixtures/bodies.js';
import { FormulaScorer, HAND_MODEL, Meanwhile } from '#fixtures/handScorer.js';
import { PAST, fileOf, folder, runLake, runStream, type Asked } from '#fixtures/lake.js';
import { CONSTANTS, randomMeasurements } from '#fixtures/measured.js';
import { bodiesOf, linesOf, writeParquet } from '#fixtures/tables.js';

/** The results of a first run and its state, seen by a second one, by the records beside them. */

/** Nights of one person, whose days are numbers: 20260101. */
const nights = (first: number, ages: readonly number[] = [30]): string =>
  bodiesOf(ages.map((age, day) => ({ person: 'p', at: first + day, age })));
const BAD_AGE = 131;

/** A folder with the nights of each file, some of them bad rows, and the path of the first. */
function lake(t: Test, ...ages: readonly (readonly number[])[]) {
  const dir = folder(t);
  for (const [n, of] of ages.entries())
    writeFileSync(join(dir, `${n}.ndjson`), nights(20260101 + 10 * n, of));
  return { dir, path: join(dir, '0.ndjson') };
}

/** Such a folder of one file, and what is asked of it: once without a state, once with one. */
const lakes = (t: Test, ages: readonly number[]) =>
  [false, true].map((hasState) => {
    const { dir, path } = lake(t, ages);
    const asked: Asked = hasState ? { history: PAST, state: join(dir, 'state') } : {};
    return { dir, path, hasState, asked };
  });

t.test('other options, another network or another input: an error says which, --again scores', async (t) => {
  const { dir, path } = lake(t, [30]);
  const outDir = folder(t);
  t.match(await runLake([path], { outDir }), { todo: 1, error: undefined });
  t.strictSame(readdirSync(outDir), ['0.scores.ndjson', '_0.acuity']);
  const text = readFileSync(join(outDir, '_0.acuity'), 'utf8');
  t.match(JSON.parse(text), { made: { lines: 1, bad: 0, inputs: [{ size: statSync(path).size }] } });
  t.notMatch(text, dir);
  t.match(await runLake([path], { outDir }), { todo: 0, told: [], error: undefined });
  const keep = ['person', 'at'];
  const unknown = /0.scores.ndjson is there, but its sessions are not in the state/;
  const cases: readonly (readonly [difference: RegExp, asked: Asked, file?: string])[] = [
    [/: --person \(none then, person now\), --order \(none .*, --late/, { history: PAST }],
    [/: --keep \(none then, \["person","at"\] now\); give another --out-dir, or --again/, { keep }],
    [/: --to \(ndjson then, csv now\)/, { to: 'csv' }],
    [/: --explain \(false then, true now\)/, { explain: true }],
    [unknown, { history: PAST, state: join(dir, 'state') }],
    [/: the network \(ACUITY_MODEL\);/, { config: { model: dirname(fileOf(t, 'manifest.json', '{}')) } }],
    [/: ACUITY_NORMS;/, { config: { norms: fileOf(t, 'norms.json', '{}') } }],
    [/: ACUITY_NIGHT_SAMPLES_MAX \(\d+ then, 9 now\)/, { config: { nightSamplesMax: 9 } }],
    [/: the input; give/, {}, lake(t, [50]).path],
  ];
  for (const [difference, asked, file = path] of cases) {
    const { error, files } = await runLake([file], { outDir, ...asked });
    t.match(error, { message: difference });
    t.equal(readFileSync(join(outDir, '_0.acuity'), 'utf8'), text, `${files.length} results, and old ones`);
  }
  const other: Asked = { outDir, keep, to: 'csv' };
  t.match(await runLake([path], { ...other, again: true }), { files: [{ rows: [{ person: 'p' }] }] });
  t.strictSame(readdirSync(outDir), ['0.scores.csv', '_0.acuity'], 'no old scores beside them');
  t.match(await runLake([path], other), { todo: 0, error: undefined });
  t.match((await runLake([path], { outDir, history: PAST, state: join(dir, 's') })).error, /0.scores.csv is/);
});

t.test('bad rows of a night fail every run until they are accepted, others never hide', async (t) => {
  const { dir } = lake(t, [30, BAD_AGE]);
  const outDir = folder(t);
  const night = (asked: Asked = {}) => runLake([dir], { outDir, ...asked });
  const bad = /0.ndjson: 1 row has no scores, see .*0.bad.ndjson; --accept-bad/;
  t.match(await night(), { todo: 1, tally: { badLines: 1 }, hasBad: true });
  for (let next = 1; next < 3; next++) {
    writeFileSync(join(dir, `${next}.ndjson`), nights(20260201 + next));
    t.match(await night(), { todo: 1, told: [bad], tally: { badLines: 0 }, hasBad: true });
    t.match(await night(), { todo: 0, told: [bad], hasBad: true }, 'a retry is not green');
  }
  t.match(await night({ acceptBad: true }), { todo: 0, told: [], hasBad: false });
  const grown = (name: string, age: number, asked: Asked = { acceptBad: true }) => {
    appendFileSync(join(dir, `${name}.ndjson`), nights(20260301, [age]));
    return night(asked);
  };
  t.match(await grown('0', 30, {}), { todo: 1, tally: { badLines: 1 }, hasBad: false }, 'it was accepted');
  t.match(await grown('3', BAD_AGE), { todo: 1, tally: { badLines: 1 }, hasBad: true }, 'not told before');
  t.match(await grown('3', 30), { todo: 1, tally: { badLines: 1 }, hasBad: false }, 'told before');
  t.match(await grown('3', BAD_AGE), { todo: 1, tally: { badLines: 2 }, hasBad: true }, 'one is new');
});

t.test('a table has the columns of the finished ones beside it, also those without a value', async (t) => {
  const path = fileOf(t, '0.csv', 'person,at,age,measured_memory\np,20260101,30,\n');
  const asked = { history: PAST, state: join(folder(t), 'state') };
  await runLake([path], asked);
  writeFileSync(join(dirname(path), '1.csv'), 'person,at,age\np,20260102,30\n');
  const { files } = await runLake([dirname(path)], asked);
  t.match(files, [{ text: /unmeasured_memory/ }, { text: /unmeasured_memory/ }]);
});

/** A record without most of it. */
const PART = '{"kind":"acuity result","format":1,"made":{"inputs":[]}}';

/** The next run tells of a change of an input or its result; one with a state ends with an error. */
const CHANGES: readonly (readonly [change: (dir: string) => void, told: RegExp, withState: RegExp])[] = [
  [
    (dir) => utimesSync(join(dir, '0.ndjson'), 1e9, 1e9), // older than its scores, too
    /0.ndjson: it has changed since its scores were made, and it is scored again/,
    /it was written again, and the state has its former/,
  ],
  ...['', PART.slice(0, -9), '{}', 'null', '[]', PART, undefined].map((left) => {
    const change = (dir: string): void => {
      rmSync(join(dir, '_0.acuity'));
      if (left !== undefined) writeFileSync(join(dir, '_0.acuity'), left);
    };
    const told = /no record says how its scores were made, and it is scored again/;
    return [change, told, /in the state, and its scores have no record: remove/] as const;
  }),
];

t.test('a changed input or one without record is scored again, told; with a state an error', async (t) => {
  for (const [change, told, message] of CHANGES)
    for (const { dir, path, hasState, asked } of lakes(t, [30])) {
      t.match(await runLake([path], asked), { todo: 1, error: undefined });
      const ways = hasState ? /now\); remove the state and all scores/ : /now\); give another --out-dir, or/;
      t.match(await runLake([path], { ...asked, keep: ['at'] }), { error: { message: ways } });
      change(dir);
      const next = hasState ? { error: { message } } : { todo: 1, told: [told, String] };
      t.match(await runLake([path], asked), next);
      if (!hasState) continue;
      rmSync(join(dir, 'state'));
      t.match((await runLake([path], asked)).error, { message: /its sessions are not in the state/ });
    }
});

t.test('an input that changes while it is read, or an output that fails, has no result', async (t) => {
  const changed = { name: 'TryAgainError', message: /changed while it was read.* run the command again/ };
  const failed = { name: /^Error$/, message: /^the output can't be written: / }; // exit code 74
  const own = (name: string): boolean => name.startsWith('acuity-lake.') && name.includes(`-${process.pid}-`);
  const grow = (path: string): void => appendFileSync(path, nights(20260110));
  const replace = (path: string): void => {
    writeFileSync(`${path}.new`, nights(20260101, [30, 30]));
    renameSync(`${path}.new`, path);
  };
  const remove = (name: string): void => rmSync(join(tmpdir(), name), { recursive: true });
  const fail = (): void => readdirSync(tmpdir()).filter(own).forEach(remove);
  for (const act of [grow, replace, fail])
    for (const { dir, path, asked } of lakes(t, [30])) {
      const scorer = new Meanwhile(() => act(path));
      const error = act === fail ? failed : changed;
      t.match(await runLake([path], { ...asked, to: 'parquet', scorer }), { error });
      t.strictSame(readdirSync(dir), ['0.ndjson'], 'no result, and nothing in the state');
      t.equal((await runLake([path], asked)).files[0]?.rows.length, act === fail ? 1 : 2);
    }
  const path = fileOf(t, '0.csv', `id,age\n${`${'x'.repeat(1_000)},30\n`.repeat(4_000)}`);
  const damaging = (): Meanwhile => new Meanwhile(() => appendFileSync(path, '"'));
  for (const more of [{}, { into: { write: async () => undefined } }])
    t.match(await runLake([path], { ...more, scorer: damaging() }), { error: changed }, 'it can’t be read');
});

t.test('under --sort a new or changed input has all scored again; a SELECT always is', async (t) => {
  const dir = folder(t);
  const parquet = (name: string, age: number): Promise<string> =>
    writeParquet(join(dir, `${name}.parquet`), [{ person: 'p', at: Date.UTC(2026, 0, age), age }]);
  await parquet('a', 20);
  await parquet('b', 21);
  const asked: Asked = { outDir: folder(t), history: PAST, sort: true, to: 'ndjson' };
  t.match(await runLake([dir], asked), { todo: 1 });
  t.match(await runLake([dir], asked), { todo: 0, told: [] });
  await parquet('c', 22);
  const { files, told } = await runLake([dir], asked);
  t.match([told, files[0]?.rows.length], [[/the sorted table: it has changed since/, String], 3]);
  t.match(await runLake([join(dir, 'a.parquet')], asked), { todo: 1 });
  const beside = await runLake([dir], { ...asked, again: true });
  t.match(beside.told[0], /a\.scores\.ndjson has scores of the same rows: remove it, or give another --out/);
  const others = lake(t).dir;
  for (const name of ['d', 'e']) await parquet(join(relative(dir, others), name), 23);
  t.match(await runLake([others], asked), { error: { message: /: the input; give another/ } });
  const kept = { ...asked, state: join(folder(t), 'state'), outDir: folder(t) };
  t.match(await runLake([dir], kept), { todo: 1, error: undefined });
  const other = { error: { message: /the state has some of its sessions from another result: remove/ } };
  t.match(await runLake([join(dir, 'a.parquet')], { ...kept, outDir: folder(t), sort: false }), {
    error: { message: /it is in the state, and its scores have no record/ },
  });
  await parquet('d', 23);
  t.match(await runLake([dir], kept), other);

  const own = folder(t);
  const ofFormer = new StateFile(join(own, 'state'), new Histories(9));
  ofFormer.inputs.set('sorted to out/sorted.scores.ndjson', 'as 1.0.0 named it');
  ofFormer.save();
  const again = { ...kept, state: ofFormer.path, outDir: join(own, 'out') };
  t.match(await runLake([dir], again), other);

  const query: Asked = { sql: `SELECT age FROM '${dir}/a.parquet'`, outDir: folder(t), to: 'ndjson' };
  t.match(await runLake([], query), { todo: 1, error: undefined });
  t.notMatch(readFileSync(join(query.outDir ?? '', '_query.acuity'), 'utf8'), /SELECT|a\.parquet/);
  t.match(await runLake([], query), { todo: 1, told: [/its rows have changed is not known/, String] });
  t.match(await runLake([], { ...query, sql: `${query.sql} ` }), { error: { message: /: --sql; give/ } });
  const past = { ...query, sql: `SELECT person, "at", age FROM '${dir}/a.parquet'`, outDir: folder(t) };
  const remembered = { ...past, history: PAST, state: join(folder(t), 'state') };
  t.match(await runLake([], remembered), { todo: 1, error: undefined });
  t.match(await runLake([], remembered), { todo: 0, told: [/rows have changed since is not known/] });
  const elsewhere = await runLake([], { ...remembered, outDir: folder(t) });
  t.match(elsewhere.error, { message: /it is in the state, and its scores have no record/ });
  const record = join(past.outDir, '_query.acuity');
  for (const begun of [false, true]) {
    writeFileSync(record, readFileSync(record, 'utf8').replace(/"begun": \w+/, `"begun": ${begun}`));
    const message = /was made with other ones .*: --to \(ndjson then, csv now\); remove the state/;
    t.match(await runLake([], { ...remembered, to: 'csv' }), { error: { message } }, 'killed or not');
  }
});

t.test('a pipe is read each time, and refused where it would have to be read again', async (t) => {
  let path = join(folder(t), '0.csv');
  execFileSync('mkfifo', [path]);
  const written = async (asked: Asked) =>
    (await Promise.all([runLake([path], asked), writeFile(path, 'person,at,age\np,1,30\n')]))[0];
  const outDir = folder(t);
  mkdirSync(partialName(join(outDir, 'left'))); // can't be removed, and does no harm
  t.match(await written({ outDir }), { todo: 1, told: [String], error: undefined });
  t.match(await written({ outDir }), { todo: 1, told: [/is not known, and it is scored again/, String] });
  // As <(…) of a shell, whose path has the number of a process.
  renameSync(path, (path = join(folder(t), '0.csv')));
  t.match(await written({ outDir }), { todo: 1, told: [/and it is scored again/, String], error: undefined });
  const past: Asked = { outDir: folder(t), history: PAST, state: join(outDir, 'state') };
  t.match(await written(past), { todo: 1, error: undefined });
  t.match(await runLake([path], past), { error: { message: /is a pipe, and the state has its former/ } });
  const sorted = await runLake([path], { history: PAST, sort: true });
  t.match(sorted.error, { message: /files of Parquet and CSV can be sorted/ });
});

t.test('a run that was killed leaves at each step what the next one goes on with', async (t) => {
  const OWN = ['0.scores.ndjson', '0.bad.ndjson'] as const;
  for (const { dir, path, hasState, asked } of lakes(t, [30, BAD_AGE])) {
    const all = () => readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')]);
    const gone = (...names: readonly string[]): void =>
      names.forEach((name) => rmSync(join(dir, name), { force: true }));
    const elsewhere = fileOf(t, 'elsewhere', 'of somebody else');
    symlinkSync(elsewhere, join(dir, OWN[1]));
    t.match(await runLake([path], asked), { todo: 1, error: undefined });
    t.equal(readFileSync(elsewhere, 'utf8'), 'of somebody else');
    for (const name of readdirSync(dir).filter((own) => own !== '0.ndjson')) {
      const { mode } = lstatSync(join(dir, name));
      t.equal(mode.toString(8), '100600', `${name} is a file of its own, its owner’s alone`);
    }
    const whole = all();
    const record = join(dir, '_0.acuity');
    const begun = (): void =>
      writeFileSync(record, readFileSync(record, 'utf8').replace('"begun": false', '"begun": true'));
    const steps: readonly (readonly [todo: number, kill: () => void])[] = [
      [1, () => gone(...OWN, '_0.acuity', 'state')],
      [1, () => (begun(), gone(...OWN, 'state'))],
      [1, () => (begun(), gone('state'))],
      // The state has its sessions before the record says that all is done.
      [hasState ? 0 : 1, begun],
    ];
    for (const [todo, kill] of steps) {
      kill();
      t.match(await runLake([path], { ...asked, acceptBad: true }), { todo, hasBad: true, error: undefined });
      t.strictSame(all(), whole, 'what a killed run has not told is not accepted');
    }
    gone(OWN[0]);
    const next = hasState ? { error: { message: /in the state, but .* is gone: remove/ } } : { todo: 1 };
    t.match(await runLake([path], { ...asked, keep: ['at'] }), next);
  }
});

t.test('of two runs over one file, or with one state, the second says so; others are whole', async (t) => {
  const { dir } = lake(t, [30], [31], [32], [33]);
  const [first = '', one = '', other = '', third = ''] = [0, 1, 2, 3].map((n) => join(dir, `${n}.ndjson`));
  const by = (name: string): Asked => ({ history: PAST, state: join(dir, name) });
  t.match(await runLake([first], by('state')), { todo: 1, error: undefined });
  symlinkSync(join(dir, 'state'), join(dir, 'link'));
  let runs: Promise<unknown>[] = [];
  const scorer = new Meanwhile(() => {
    const states = ['state', 'link'].map((name) => runLake([first], by(name)));
    return Promise.all((runs = [runLake([other]), runLake([one]), ...states]));
  });
  t.match(await runLake([one], { ...by('link'), scorer }), { todo: 1, error: undefined });
  const [far, ...same] = await Promise.all(runs);
  t.match(far, { todo: 1, error: undefined });
  const held = (file: string): RegExp =>
    new RegExp(`${file}\\.lock is held by process \\d+ on .*wait until it ends, or delete the lock`, 's');
  for (const [at, file] of ['_1.acuity', 'state', 'state'].entries())
    t.match(same[at], { files: [], error: { name: 'FileLockError', message: held(file) } });
  t.match(await runLake([first, one], by('link')), { todo: 0, error: undefined });
  const results = [0, 1, 2].flatMap((n) => [`${n}.ndjson`, `${n}.scores.ndjson`, `_${n}.acuity`]);
  t.strictSame(readdirSync(dir), [...results, '3.ndjson', 'link', 'state'].toSorted());

  const later = new Meanwhile(() => runLake([other], { again: true, keep: ['person'] }));
  // The second file is made anew by another run after this one has looked at it.
  const { error } = await runLake([third, other], { again: true, scorer: later });
  t.match(error, { name: 'TryAgainError' });
  t.ok(existsSync(join(dir, '3.scores.ndjson')));
});

const DAY = 20_000;
/** With many measurements a session has series too. */
const nightOf = (person: string, day: number, given: readonly GivenMeasurement[] = []): object => ({
  person,
  at: dateOf(DAY + day),
  current_session: given.length > 2 ? session(day) : { age: 30 + day },
  measurements: given.map(({ day: on, ...one }) => ({ ...one, on: dateOf(on) })),
});

/** Scores rows with a state. @returns the output without the numbers of rows */
async function scoreWith(state: string, rows: readonly object[]): Promise<string> {
  const scorer = Object.assign(new FormulaScorer(), { model: { ...HAND_MODEL, measured: CONSTANTS } });
  const { output, error } = await runStream(linesOf(rows), { history: PAST, state, scorer });
  if (error !== undefined) throw error;
  return output.toString().replaceAll(/"(row|line)":\d+/g, '');
}

t.test('two runs with a state are as one: scores and state, byte for byte', async (t) => {
  const random = seededRandom(3);
  // One has more measurements than there is room for beside the nights of others; long names need several pieces.
  const others = Array.from({ length: 1_000 }, (_, n) => `p${n}\u2028`.padStart(2_000, '.'));
  const rows = Array.from({ length: 40 }, (_, day) => {
    const given = (count: number) => randomMeasurements(random, { count, day: DAY + day, daysBack: 90 });
    const some = others.filter((_name, n) => day <= n % 9).map((name) => nightOf(name, day));
    const late = day % 6 === 1 ? [nightOf('late', 6 - day)] : []; // all but the first are, by the state
    return [...some, nightOf('few', day, given(day % 2)), nightOf('many', day, given(5)), ...late];
  }).flat();
  const [dir, half] = [folder(t), Math.floor(rows.length / 2)];
  const [whole, state] = [join(dir, 'whole'), join(dir, 'state')];
  const first = await scoreWith(state, rows.slice(0, half));
  if (process.geteuid?.() === 0) chownSync(state, 65534, 65534);
  t.equal(first + (await scoreWith(state, rows.slice(half))), await scoreWith(whole, rows));
  t.match(first, '"memory"');
  t.ok(statSync(state).size > 2 ** 21);
  t.equal(readFileSync(state, 'utf8'), readFileSync(whole, 'utf8'));
  t.equal(statSync(state).uid, process.geteuid?.(), 'others that may write to its folder may go on with it');
});

t.test('a damaged state is refused with what to do, without a value of it', async (t) => {
  const path = join(folder(t), 'state');
  const refusal = async (bytes: string | Buffer): Promise<string> => {
    writeFileSync(path, bytes);
    return new StateFile(path, new Histories(9)).load().then(() => 'taken', String);
  };
  await scoreWith(path, [nightOf('secret', 0), nightOf('other', 0)]);
  const good = readFileSync(path);
  const [head = '', first = '', second = '', end = ''] = good.toString().split('\n');
  const cases: readonly (readonly [lines: readonly string[], message: RegExp])[] = [
    [[], /is empty/],
    [['{"a":1}'], /is no state file/],
    [['[1,2'], /line 1/],
    [[head.replace(/"format":\d+/, '"format":0'), first, second, end], /another version.*or remove/],
    [[head, first, second], /is cut short.*bring back a copy/],
    [[head, first, end], /line 3.*bring back a copy/],
    [[head, first, first, end], /line 3/],
    [[head, first, second, end, first], /line 5/],
    [[head, '{"secret":1}', end], /line 2/],
  ];
  for (const [lines, message] of cases) {
    const error = await refusal(lines.map((line) => `${line}\n`).join(''));
    t.match(error, message);
    t.notMatch(error, /secret/);
  }
  t.equal(await refusal(good), 'taken');
  for (let at = 0; at < good.length - 1; at++) {
    const damaged = Buffer.from(good);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    const error = await refusal(damaged);
    if (!/state/.test(error)) t.fail(`byte ${at}: ${error}`);
  }
});
