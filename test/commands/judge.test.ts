import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { seededRandom } from '#acuity/base/random.js';
import { registerJudge } from '#acuity/commands/judge.js';
import { defaultConfig } from '#acuity/config/options.js';
import { dateOf } from '#acuity/base/days.js';
import { outcomeOf, type Outcome } from '#acuity/judge/outcomes.js';
import { jsonOf, textOf } from '#acuity/judge/report.js';
import { judgeRows, type JudgeOrder } from '#acuity/judge/run.js';
import { commanded, modelScorer, scoreOne } from '#fixtures/lake.js';
import { MODEL } from '#fixtures/model.js';
import { filesBelow } from '#fixtures/repository.js';
import { acuity } from '#fixtures/scripts.js';
import { bodiesOf, csvOf, type TableRow } from '#fixtures/tables.js';

/** `acuity judge` as a stranger meets it. */

const PEOPLE = 30;
const NIGHTS = 6;
const FIRST_DAY = 20_000;
/** Marks that no output may have. */
const WHO = 'somebody-of-';
const CONFIG = { ...defaultConfig(), model: MODEL, workers: 1 };

/** Nights in the order of time; the outcome `stress` has the name of a score. */
function nights(): (TableRow & { readonly tired: boolean; readonly night: string })[] {
  const random = seededRandom(4);
  return Array.from({ length: PEOPLE * NIGHTS }, (_, index) => {
    const hours = 4 + 5 * random();
    return {
      person: `${WHO}${index % PEOPLE}`,
      night: dateOf(FIRST_DAY + Math.floor(index / PEOPLE)),
      sleepTimeSeconds: Math.round(3_600 * hours),
      HR_night: Array.from({ length: 12 }, () => 50 + Math.round(20 * random())),
      stress: Number((10 - hours + random()).toFixed(3)),
      tired: hours < 6,
      mood: index % 3 === 0 ? null : index % 7 === 1 ? 'so-so' : Math.ceil(5 * random()),
    };
  });
}

const ROWS = nights();

function outcomes(...texts: readonly string[]): Outcome[] {
  return texts.map((text) => {
    const outcome = outcomeOf(text);
    if (outcome === undefined) throw new Error(text);
    return outcome;
  });
}

const ALL = outcomes('stress:stress', 'tired:-attention', 'mood:valence');

interface Figures {
  readonly outcomes: readonly {
    readonly pooled: { readonly correlation: Values; readonly auc?: Values };
    readonly slope: { readonly value: number };
    readonly mean_error?: { readonly score: { readonly value: number } };
  }[];
}
type Values = Readonly<Record<string, { readonly value: number }>>;

/** Runs the command's work in this process. @returns its exit code, what it says, and its figures and text */
async function judged(t: Test, files: readonly string[], order: Partial<JudgeOrder> = {}) {
  let said = '';
  const errors = { value: (text: string) => void (said += text) };
  t.intercept(process.stderr, 'write', errors);
  const reading = { files, person: 'person', order: 'night', peopleMax: 1_000 };
  const whole = { ...reading, outcomes: ALL, measured: [], seed: 1, draws: 1_000, ...order };
  const { code, report } = await judgeRows(CONFIG, whole);
  const figures = report === undefined ? undefined : (JSON.parse(JSON.stringify(jsonOf(report))) as Figures);
  return { code, said, figures, text: report === undefined ? '' : textOf(report) };
}

t.test('the same figures for every format and number of files; nothing is written', async (t) => {
  const cells = ROWS.map((row) => ({ ...row, tired: row.tired ? 1 : 0 }));
  const many = { 'a.ndjson': bodiesOf(ROWS.slice(0, 70)), 'b.ndjson': bodiesOf(ROWS.slice(70)) };
  const words = csvOf(ROWS.map((row) => ({ ...row, tired: row.tired ? 'True' : 'false' })));
  const dir = t.testdir({ 'one.ndjson': bodiesOf(ROWS), 'one.csv': csvOf(cells), 'words.csv': words, many });
  const { figures: one } = await judged(t, [join(dir, 'one.ndjson')]);
  t.ok(one);
  t.strictSame((await judged(t, [join(dir, 'many')])).figures, one, 'a folder, without a state');
  const twice = ROWS.flatMap((row) => [{ ...row, stress: 0, tired: false, mood: null }, row]);
  writeFileSync(join(dir, 'many', 'a.ndjson'), bodiesOf(twice));
  rmSync(join(dir, 'many', 'b.ndjson'));
  const again = await judged(t, [join(dir, 'many')]);
  t.match(again.figures, { nights_scored: 2 * ROWS.length, rows_replaced: ROWS.length });
  t.strictSame(again.figures?.outcomes, one?.outcomes, 'of a night the last row counts');
  t.match(again.text, /^180 rows have a later one of the same person and night, whose values count$/m);
  const long = ROWS.flatMap(({ stress, ...row }) => [
    { ...row, tired: null, stress: Number(stress) + 2 ** 32 },
    row,
  ]);
  writeFileSync(join(dir, 'many', 'a.ndjson'), bodiesOf(long));
  const [rise, tired] = (await judged(t, [join(dir, 'many')])).figures?.outcomes ?? [];
  t.strictSame(tired, one?.outcomes[1], 'each outcome in a row of its own');
  const later = ROWS.flatMap((row) => [
    { ...row, sleepTimeSeconds: 9_000 },
    { ...row, HR_night: null, stress: null, tired: null, mood: null },
  ]);
  const [last, alone] = [later, ROWS.map((row) => ({ ...row, HR_night: null }))].map(bodiesOf);
  const judgedBy = async (bodies = '') => {
    writeFileSync(join(dir, 'many', 'a.ndjson'), bodies);
    return (await judged(t, [join(dir, 'many')])).figures?.outcomes;
  };
  t.strictSame(await judgedBy(last), await judgedBy(alone), 'also one without any, and what it lacks');
  const scaled = ROWS.map((row) => ({ ...row, stress: Number(row['stress']) / 7 }));
  writeFileSync(join(dir, 'many', 'a.ndjson'), bodiesOf(scaled));
  const [seventh] = (await judged(t, [join(dir, 'many')])).figures?.outcomes ?? [];
  t.strictSame(seventh?.pooled, one?.outcomes[0]?.pooled, 'on any scale');
  t.strictSame(rise?.pooled.correlation, one?.outcomes[0]?.pooled.correlation, 'of any size');
  const sql = `SELECT n.* EXCLUDE (i, stress) REPLACE (TRY_CAST(n.mood AS DOUBLE) AS mood), o.stress
    FROM (SELECT row_number() OVER () AS i, * FROM '${dir}/one.csv') n JOIN '${dir}/one.csv' o USING (person, night)
    ORDER BY i`;
  const joined = await judged(t, [], { sql });
  t.strictSame(joined.figures?.outcomes[0], one?.outcomes[0], joined.said);
  const [got, expected] = [joined.figures, one].map((figures) => figures?.outcomes[1]?.pooled.auc);
  t.strictSame(got, expected, '0 and 1 are false and true');
  const { figures } = await judged(t, [join(dir, 'words.csv')]);
  t.strictSame(figures?.outcomes[1], one?.outcomes[1], 'and so are the words of a CSV');
  const left = (await filesBelow(dir)).toSorted();
  t.strictSame(left, ['many/a.ndjson', 'one.csv', 'one.ndjson', 'words.csv']);
});

t.test('scores are those of acuity score with the same past, and without what was measured', async (t) => {
  const dir = t.testdir({ 'n.ndjson': bodiesOf(ROWS) });
  const path = join(dir, 'n.ndjson');
  const history = { person: 'person', order: 'night' };
  const { rows: scores } = await scoreOne(path, { scorer: await modelScorer(t), history });
  // Judged by itself, a score is what it is.
  const itself = ROWS.map((row, index) => ({ ...row, attention: scores[index]?.['attention'] }));
  writeFileSync(join(dir, 'itself.ndjson'), bodiesOf(itself));
  const [attention] = outcomes('attention:attention');
  if (attention === undefined) throw new Error('no outcome');
  const percentile = { outcomes: [{ ...attention, isPercentile: true }] };
  const { figures } = await judged(t, [join(dir, 'itself.ndjson')], percentile);
  const { pooled, slope, mean_error } = figures?.outcomes[0] ?? {};
  t.ok((pooled?.correlation['score']?.value ?? 0) > 0.99999, `${pooled?.correlation['score']?.value}`);
  t.ok(Math.abs((slope?.value ?? 0) - 1) < 0.01);
  t.ok((mean_error?.score.value ?? 9) < 0.01, 'hundredths are not there before they are printed');
  // A test does not foretell itself.
  const tested = ROWS.map((row, index) => ({
    ...row,
    measurements: index % 3 === 0 ? [{ score: 'attention', value: row.tired ? 2 : 98, on: row.night }] : [],
  }));
  writeFileSync(join(dir, 'tested.ndjson'), bodiesOf(tested));
  const { figures: measured } = await judged(t, [join(dir, 'tested.ndjson')]);
  t.strictSame(measured, (await judged(t, [path])).figures);
});

t.test('what is left out is told; no person and no night of anybody is in any output', async (t) => {
  const rows = ROWS.toSpliced(5, 0, { ...ROWS[0], sleepTimeSeconds: -1 } as (typeof ROWS)[number]);
  const dir = t.testdir({ 'n.ndjson': bodiesOf(rows) });
  const asked = ['--outcome', 'stress:stress', '--outcome', 'tired:-attention', '--outcome', 'mood:valence'];
  const whose = ['--person', 'person', '--order', 'night'];
  const html = join(dir, 'page.html');
  const args = ['judge', join(dir, 'n.ndjson'), ...asked, ...whose, '--html', html];
  const { code, stdout, stderr } = await acuity(args);
  t.equal(code, 65, 'as acuity score, where a row was bad');
  t.match(stdout, `${PEOPLE * NIGHTS} nights scored by acuity-base/`);
  t.match(stdout, ', 1 rows without scores');
  const words = ROWS.filter(({ mood }) => mood === 'so-so').length;
  t.match(stdout, `mood: ${words} values are left out that are no number`);
  t.match(stderr, 'n.ndjson: row 6');
  const page = readFileSync(html, 'utf8');
  t.notMatch(page, /https?:|<script|<link|<img|@import|url\(/, 'a page that loads nothing');
  for (const text of [stdout, stderr, page])
    t.notMatch(text, new RegExp(`${WHO}|20\\d\\d-\\d\\d-\\d\\d|so-so`), 'no person, date or value');
});

t.test('measurements: what tests before a night buy', async (t) => {
  const rows = ROWS.map((row, index) => ({
    ...row,
    test: index % 40 === 7 ? 101 : 20 + 2 * (index % PEOPLE),
  }));
  const dir = t.testdir({ 'n.ndjson': bodiesOf(rows) });
  const order = { outcomes: outcomes('tired:-attention'), measured: outcomes('test:attention') };
  const { text } = await judged(t, [join(dir, 'n.ndjson')], order);
  const wild = rows.filter(({ test }) => test > 100).length;
  t.match(text, `test: ${wild} values are left out that are no number, true or false, High or Low (of a`);
  t.match(text, /^1 +30 +\d+ .*\n2 +30 +\d+ .*\n5 +2[0-9] +\d+ /m);
  t.match(text, /Reliability of one measurement with these people (1\.00|0\.9\d) .* the model takes 0\.7/);
});

t.test('what is missing or misnamed ends the run with what to do', async (t) => {
  const withTired = (tired: unknown) => bodiesOf(ROWS.map((row) => ({ ...row, tired })));
  const dir = t.testdir({
    'e.ndjson': withTired(null),
    'w.ndjson': withTired('yes'),
    'n.ndjson': bodiesOf(ROWS),
  });
  const path = join(dir, 'e.ndjson');
  const none = await judged(t, [path], { outcomes: outcomes('tired:-attention') });
  t.match(none, {
    code: 65,
    figures: undefined,
    said: /no scored night has a number in tired: give it on the/,
  });
  const unread = await judged(t, [join(dir, 'w.ndjson')], { outcomes: outcomes('tired:-attention') });
  const remedy = /in tired: \d+ values are left out that are no number, true or false, High or Low/;
  t.match(unread, { code: 65, figures: undefined, said: remedy });
  const whose = ['--person', 'person', '--order', 'night'];
  const unknown = await acuity(['judge', path, ...whose, '--outcome', 'zzz:-attention']);
  const stderr = /no field "zzz" beside the session in the first rows: if later rows have it, write null in/;
  t.match(unknown, { code: 64, stdout: '', stderr });
  const page = [...whose, '--outcome', 'tired:-attention', '--html', join(dir, 'none', 'v.html')];
  const lost = await acuity(['judge', join(dir, 'n.ndjson'), ...page]);
  const where = /v\.html can't be written \(no such .*\): give --html another file$/m;
  t.match(lost, { code: 74, stdout: /nights scored by/, stderr: where });
  const cases: readonly (readonly [args: string, said: RegExp])[] = [
    ['--outcome tired:alertness', /column:score or column:-score/],
    ['--outcome a:stress --outcome a:-stress', /It stands there twice/],
    [
      '--outcome a:stress --measured b:valence',
      /column:score, with a score of attention, memory, reasoning, stress/,
    ],
    [
      '--outcome a:stress --measured b:memory --measured c:memory',
      /memory is measured by another column already/,
    ],
    ['--outcome a:stress --draws 999', /a whole number, 1000 to 100000/],
    ['--outcome a:stress --seed -1', /a whole number, 0 to/],
    ['--outcome a:stress --percentile b', /--percentile b is no --outcome/],
    ['--outcome a:valence --percentile a', /--percentile a is no --outcome of a score from 0 to 100/],
    ['--outcome a:stress --sql X n.csv', /--sql names what it reads/],
  ];
  for (const [args, said] of cases) {
    const ran = await commanded(t, registerJudge, ['judge', ...whose, ...args.split(' ')]);
    t.match(ran, { code: Number, said }, args);
  }
});
