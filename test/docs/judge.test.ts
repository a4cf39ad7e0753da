import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { MODEL } from '../fixtures/model.js';
import { REPOSITORY, cleanEnvironment } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';

/** The recipes of docs/JUDGE.md: on made-up downloads in the form of the real ones, and on parts of these where they are at hand. */

const PAGE = readFileSync(join(REPOSITORY, 'docs/JUDGE.md'), 'utf8');
const SCRIPT = join(REPOSITORY, 'docs/examples/public_nights.py');
const WITHOUT_PYTHON =
  spawnSync('python3', ['--version']).status !== 0 &&
  'there is no Python here (Debian: apt-get install python3)';
const DATA = process.env['VALIDATION_DATA'] ?? '';
const WITHOUT_DATA = DATA === '' ? 'VALIDATION_DATA names no folder with the public data' : WITHOUT_PYTHON;

/** The overview as it comes: a line above the header, texts in a table of their own, a hard space after a sex. */
const WORKBOOK = `
import sys, zipfile
texts = ["Participants", "Participant ID", "Age", "Height", "Gender", "p01", "male\\u00a0"]
space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
text = lambda ref, at: f'<c r="{ref}" t="s"><v>{at}</v></c>'
number = lambda ref, value: f'<c r="{ref}"><v>{value}</v></c>'
rows = [text("A1", 0), "".join(text(ref, at) for ref, at in (("A2", 1), ("B2", 2), ("C2", 3), ("D2", 4))),
        text("A3", 5) + number("B3", 48) + number("C3", 195) + text("D3", 6)]
with zipfile.ZipFile(sys.argv[1], "w") as book:
    book.writestr("xl/sharedStrings.xml", f"<sst {space}>" + "".join(f"<si><t>{one}</t></si>" for one in texts) + "</sst>")
    book.writestr("xl/worksheets/sheet1.xml", f"<worksheet {space}><sheetData>" + "".join(f"<row>{row}</row>" for row in rows) + "</sheetData></worksheet>")
`;

function nightsOf(name: string, path: string): string {
  const { status, stdout, stderr } = spawnSync('python3', [SCRIPT, name, path], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

interface Night {
  readonly person: string;
  readonly night: string | number;
  readonly current_session: Readonly<Record<string, unknown>>;
  readonly [outcome: string]: unknown;
}

function rowsOf(text: string): Night[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Night);
}

/** What the command of the page prints on `nights`. */
async function verdictOf(
  dir: string,
  name: string,
  nights: string,
  ...more: readonly string[]
): Promise<string> {
  const recipe = new RegExp(`<!-- judge: ${name} -->\\n\`\`\`sh\\n.*\\nacuity (.*)\\n\`\`\``).exec(PAGE)?.[1];
  if (recipe === undefined) throw new Error(`no recipe of ${name}`);
  writeFileSync(join(dir, `${name}.ndjson`), nights);
  const args = [join(REPOSITORY, 'dist/main.js'), ...recipe.split(' '), ...more];
  const env = cleanEnvironment({ ACUITY_WORKERS: '1', ACUITY_MODEL: MODEL });
  const { code, stdout, stderr } = await ended(process.execPath, args, { cwd: dir, env });
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

interface Bought {
  readonly measured: readonly {
    readonly tests: readonly { readonly mean_error: Readonly<Record<string, { readonly value: number }>> }[];
  }[];
}

function writtenOf(name: string): string {
  return new RegExp(`<!-- verdict: ${name} -->\\n> (.*)\\n`).exec(PAGE)?.[1] ?? 'none';
}

t.test('the verdicts of the page are those of the command', { skip: WITHOUT_DATA }, async (t) => {
  const dir = t.testdir();
  const sets = {
    lifesnaps: 'lifesnaps/daily.csv',
    pmdata: 'pmdata',
    sleepybrain: 'sleepy_brain/sessions.csv',
  };
  for (const [name, path] of Object.entries(sets)) {
    const verdict = await verdictOf(dir, name, nightsOf(name, join(DATA, path)));
    t.equal(verdict.split('\n')[0], writtenOf(name), name);
  }
  const nights = nightsOf('sleepybrain', join(DATA, sets.sleepybrain));
  const json = await verdictOf(
    dir,
    'sleepybrain',
    nights,
    '--measured',
    'pvt_percentile:attention',
    '--json',
  );
  const { measured } = JSON.parse(json) as Bought;
  const errors = measured[0]?.tests[0]?.mean_error;
  const said = ['score', 'measured', 'mean'].map((way) => errors?.[way]?.value.toFixed(1));
  const written = /from ([\d.]+) percentiles to ([\d.]+); the test alone, as it is, to ([\d.]+)\./.exec(PAGE);
  t.strictSame(written?.slice(1), said);
});

t.test('PMData as it is downloaded', { skip: WITHOUT_PYTHON }, async (t) => {
  const dir = t.testdir();
  const fitbit = join(dir, 'pmdata/p01/fitbit');
  mkdirSync(fitbit, { recursive: true });
  mkdirSync(join(dir, 'pmdata/p01/pmsys'));
  const sleep = (dateOfSleep: string, minutesAsleep: number, mainSleep: boolean): object => ({
    dateOfSleep,
    minutesAsleep,
    minutesAwake: 30,
    mainSleep,
    levels: {
      summary: {
        deep: { minutes: 60 },
        rem: { minutes: 90 },
        light: { minutes: 250 },
        wake: { minutes: 30 },
      },
    },
  });
  const heart = (date: string | null, value: number): object => ({
    dateTime: '11/01/19 00:00:00',
    value: { date, value, error: 6 },
  });
  writeFileSync(
    join(fitbit, 'sleep.json'),
    JSON.stringify([
      sleep('2019-11-02', 400, true),
      sleep('2019-11-02', 50, false),
      sleep('2019-11-01', 380, true),
    ]),
  );
  writeFileSync(
    join(fitbit, 'resting_heart_rate.json'),
    JSON.stringify([heart('11/02/19', 53.74), heart(null, 0)]),
  );
  writeFileSync(
    join(dir, 'pmdata/p01/pmsys/wellness.csv'),
    'effective_time_frame,fatigue,mood,readiness,sleep_duration_h,sleep_quality,soreness,soreness_area,stress\n' +
      '2019-11-02T06:14:28.000Z,2,3,6,6,3,2,"[12,13]",0\n',
  );
  spawnSync('python3', ['-c', WORKBOOK, join(dir, 'pmdata/participant-overview.xlsx')]);
  const [first, second, ...more] = rowsOf(nightsOf('pmdata', join(dir, 'pmdata')));
  t.strictSame(more, []);
  t.match(first, { night: '2019-11-01', mood: null, current_session: { sleepTimeSeconds: 22_800 } });
  t.strictSame(second, {
    person: 'p01',
    night: '2019-11-02',
    current_session: {
      HR_night: [53.74],
      sleepTimeSeconds: 24_000,
      awakeSleepSeconds: 1_800,
      deepSleepSeconds: 3_600,
      remSleepSeconds: 5_400,
      lightSleepSeconds: 15_000,
      age: 48,
      height_cm: 195,
      sex: 'M',
    },
    mood: 3,
    stress: null,
    fatigue: 2,
    readiness: 6,
  });
});

t.test(
  'LifeSnaps as it is downloaded: more columns, ticks as 0.0 and 1.0',
  { skip: WITHOUT_PYTHON },
  async (t) => {
    const header = ',id,date,nremhr,full_sleep_breathing_rate,resting_hr,minutesAsleep,minutesAwake,age,gender,ALERT,HAPPY,NEUTRAL,RESTED/RELAXED,SAD,TENSE/ANXIOUS,TIRED'; // prettier-ignore
    const rows = [
      '1,b,2021-05-25,57.4,14.8,0.0,445.0,76.0,>=30,FEMALE,0.0,1.0,0.0,0.0,0.0,0.0,1.0',
      '0,a,2021-05-24,,,,,,,,,,,,,,',
    ];
    const dir = t.testdir({ 'daily.csv': `${[header, ...rows].join('\n')}\n` });
    const [empty, full] = rowsOf(nightsOf('lifesnaps', join(dir, 'daily.csv')));
    t.match(empty, { person: 'a', night: '2021-05-24', current_session: {}, TIRED: null });
    t.strictSame(full?.current_session, {
      HR_night: [57.4],
      RR_night: [14.8],
      sleepTimeSeconds: 26_700,
      awakeSleepSeconds: 4_560,
      age: 36,
      sex: 'F',
    });
    t.match(full, { TIRED: 1, HAPPY: 1, ALERT: 0 });
  },
);
