import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { seededRandom } from '#acuity/base/random.js';
import { dateOf } from '#acuity/history/night.js';
import { DESK, PHONE, WITHOUT_BROWSER, openBrowser, openPage } from '../fixtures/browser.js';
import { MODEL } from '../fixtures/model.js';
import { REPOSITORY, cleanEnvironment } from '../fixtures/repository.js';
import { ended, type Ended } from '../fixtures/scripts.js';

/** `acuity judge` as a stranger meets it. */

const MAIN = join(REPOSITORY, 'dist/main.js');
const PEOPLE = 30;
const NIGHTS = 6;
const FIRST_DAY = 20_000;
/** Marks that no output may have. */
const WHO = 'somebody-of-';

interface Judged {
  readonly outcomes: readonly {
    readonly pooled: { readonly correlation: Correlations; readonly auc?: Correlations };
    readonly slope: { readonly value: number };
    readonly mean_error?: { readonly score: { readonly value: number } };
  }[];
}
type Correlations = Readonly<Record<string, { readonly value: number }>>;

function acuity(command: string, dir: string, ...args: readonly string[]): Promise<Ended> {
  const env = cleanEnvironment({ ACUITY_WORKERS: '1', ACUITY_MODEL: MODEL });
  return ended(process.execPath, [MAIN, command, ...args], { cwd: dir, env });
}

const WHOSE = ['--person', 'person', '--order', 'night'];

async function judged(dir: string, ...args: readonly string[]): Promise<Judged> {
  const { code, stdout, stderr } = await acuity('judge', dir, ...args, ...WHOSE, '--json');
  if (code !== 0 && code !== 65) throw new Error(stderr);
  return JSON.parse(stdout) as Judged;
}

interface Row {
  readonly person: string;
  readonly night: string;
  readonly current_session: { readonly sleepTimeSeconds: number; readonly HR_night: readonly number[] };
  readonly stress: number;
  readonly tired: boolean;
  readonly mood: unknown;
}

/** Nights in the order of time; the outcome `stress` has the name of a score. */
function rowsOf(seed = 4): Row[] {
  const random = seededRandom(seed);
  return Array.from({ length: PEOPLE * NIGHTS }, (_, index): Row => {
    const hours = 4 + 5 * random();
    return {
      person: `${WHO}${index % PEOPLE}`,
      night: dateOf(FIRST_DAY + Math.floor(index / PEOPLE)),
      current_session: {
        sleepTimeSeconds: Math.round(3_600 * hours),
        HR_night: Array.from({ length: 12 }, () => 50 + Math.round(20 * random())),
      },
      stress: Number((10 - hours + random()).toFixed(3)),
      tired: hours < 6,
      mood: index % 3 === 0 ? null : index % 7 === 1 ? 'so-so' : Math.ceil(5 * random()),
    };
  });
}

function linesOf(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

function csvOf(rows: readonly Row[]): string {
  const lines = rows.map(({ person, night, current_session, stress, tired, mood }) => {
    const { sleepTimeSeconds, HR_night } = current_session;
    return [person, night, sleepTimeSeconds, HR_night.join(' '), stress, tired ? 1 : 0, mood ?? ''].join(',');
  });
  return `${['person,night,sleepTimeSeconds,HR_night,stress,tired,mood', ...lines].join('\n')}\n`;
}

const OUTCOMES = ['--outcome', 'stress:stress', '--outcome', 'tired:-attention', '--outcome', 'mood:valence'];

t.test(
  'the same figures for every format, number of files and kind of input; nothing is written',
  async (t) => {
    const rows = rowsOf();
    const dir = t.testdir({
      'one.ndjson': linesOf(rows),
      'one.csv': csvOf(rows),
      many: { 'a.ndjson': linesOf(rows.slice(0, 70)), 'b.ndjson': linesOf(rows.slice(70)) },
    });
    const one = await judged(dir, 'one.ndjson', ...OUTCOMES);
    t.strictSame(await judged(dir, 'many', ...OUTCOMES), one, 'a folder, without a state');
    const table = await judged(dir, 'one.csv', ...OUTCOMES);
    t.strictSame(table.outcomes[0], one.outcomes[0]);
    t.strictSame(table.outcomes[1]?.pooled.auc, one.outcomes[1]?.pooled.auc, '0 and 1 are false and true');
    t.strictSame(readdirSync(dir).sort(), ['many', 'one.csv', 'one.ndjson']);
    t.strictSame(readdirSync(join(dir, 'many')).sort(), ['a.ndjson', 'b.ndjson']);
  },
);

t.test('scores are those of acuity score, with the same past', async (t) => {
  const rows = rowsOf();
  const dir = t.testdir({ 'n.ndjson': linesOf(rows) });
  const { code, stderr } = await acuity(
    'score',
    dir,
    'n.ndjson',
    ...WHOSE,
    '--state',
    'state',
    '--keep',
    'tired',
  );
  t.equal(code, 0, stderr);
  const scores = readFileSync(join(dir, 'n.scores.ndjson'), 'utf8').trim().split('\n');
  const attention = scores.map((line) => (JSON.parse(line) as { attention: number }).attention);
  // Judged by itself, a score is what it is.
  const itself = rows.map((row, index) => ({ ...row, attention: attention[index] }));
  writeFileSync(join(dir, 'itself.ndjson'), linesOf(itself));
  const { outcomes } = await judged(dir, 'itself.ndjson', '--outcome', 'attention:attention', '--percentile', 'attention'); // prettier-ignore
  const [{ pooled, slope, mean_error } = never()] = outcomes;
  t.ok((pooled.correlation['score']?.value ?? 0) > 0.99999, `${pooled.correlation['score']?.value}`);
  t.ok(Math.abs(slope.value - 1) < 0.01);
  t.ok((mean_error?.score.value ?? 9) < 0.01, 'hundredths are not there before they are printed');
});

function never(): never {
  throw new Error('no outcome');
}

t.test('what is left out is told; no person and no night of anybody is in any output', async (t) => {
  const rows: object[] = rowsOf();
  rows.splice(5, 0, { ...rows[0], current_session: { sleepTimeSeconds: -1 } });
  const dir = t.testdir({ 'n.ndjson': linesOf(rows) });
  const html = ['--html', 'page.html'];
  const { code, stdout, stderr } = await acuity('judge', dir, 'n.ndjson', ...OUTCOMES, ...WHOSE, ...html);
  t.equal(code, 65, 'as acuity score, where a row was bad');
  t.match(stdout, `${PEOPLE * NIGHTS} nights scored by acuity-base/`);
  t.match(stdout, ', 1 rows without scores');
  const words = rowsOf().filter(({ mood }) => mood === 'so-so').length;
  t.match(stdout, `mood: ${words} values are left out that are no number`);
  t.match(stderr, 'n.ndjson: row 6');
  const page = readFileSync(join(dir, 'page.html'), 'utf8');
  t.notMatch(page, /https?:|<script|<link|<img|@import|url\(/, 'a page that loads nothing');
  for (const text of [stdout, stderr, page])
    t.notMatch(text, new RegExp(`${WHO}|20\\d\\d-\\d\\d-\\d\\d|so-so`), 'no person, date or value');
  await t.test(
    'the page fits a phone and says first what the text says',
    { skip: WITHOUT_BROWSER },
    async (t) => {
      const browser = await openBrowser(t);
      for (const look of [DESK, PHONE]) {
        const { page, complaints } = await openPage(t, browser, {
          url: `file://${join(dir, 'page.html')}`,
          look,
        });
        t.equal(await page.locator('.lead').textContent(), stdout.split('\n')[0]);
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        t.equal(width, look.width, 'no sideways scrolling');
        t.strictSame(complaints, []);
      }
    },
  );
});

t.test('a test does not foretell itself: scores are judged without what was measured', async (t) => {
  const rows = rowsOf();
  const tested = rows.map((row, index) => ({
    ...row,
    measurements: index % 3 === 0 ? [{ score: 'attention', value: row.tired ? 2 : 98, on: row.night }] : [],
  }));
  const dir = t.testdir({ 'n.ndjson': linesOf(rows), 'tested.ndjson': linesOf(tested) });
  const outcome = ['--outcome', 'tired:-attention'];
  t.strictSame(await judged(dir, 'tested.ndjson', ...outcome), await judged(dir, 'n.ndjson', ...outcome));
});

t.test('measurements: what tests before a night buy', async (t) => {
  const rows = rowsOf().map((row, index) => ({
    ...row,
    test: index % 40 === 7 ? 101 : 20 + 2 * (index % PEOPLE),
  }));
  const dir = t.testdir({ 'n.ndjson': linesOf(rows) });
  const args = ['n.ndjson', '--outcome', 'tired:-attention', '--measured', 'test:attention', ...WHOSE];
  const { stdout } = await acuity('judge', dir, ...args);
  const wild = rows.filter(({ test }) => test > 100).length;
  t.match(stdout, `test: ${wild} values are left out that are no number (of a percentile: none of 0 to 100)`);
  t.match(stdout, /^1 +30 +\d+ .*\n2 +30 +\d+ .*\n5 +2[0-9] +\d+ /m);
  t.match(stdout, /Reliability of one measurement with these people (1\.00|0\.9\d) .* the model takes 0\.7/);
});

t.test('what is missing or misnamed ends the run before a score, with what to do', async (t) => {
  const dir = t.testdir({ 'e.ndjson': linesOf(rowsOf().map((row) => ({ ...row, tired: null }))) });
  for (const [outcome, said, code] of [
    ['tierd:-attention', /there is no field "tierd" beside the session in the first rows/, 64],
    ['tired:alertness', /column:score or column:-score/, 1],
    ['tired:-attention', /no scored night has a number in tired/, 65],
  ] as const) {
    const end = await acuity('judge', dir, 'e.ndjson', ...WHOSE, '--outcome', outcome);
    t.match(end.stderr, said);
    t.strictSame([end.code, end.stdout], [code, '']);
  }
});
