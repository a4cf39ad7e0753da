import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Nights } from '#acuity/adapt/nights.js';
import { sourceOf } from '#acuity/adapt/sources.js';
import type { Adapted } from '#adapters/adapt.js';
import { PROVIDERS } from '#adapters/recording.js';
import { registerAdapt } from '#acuity/commands/adapt.js';
import { commanded, runStream } from '../fixtures/lake.js';
import { acuity } from '../fixtures/scripts.js';
import { casesOf } from '../fixtures/sharedCases.js';

interface Case {
  readonly name: string;
  readonly recording: Readonly<Record<string, unknown>>;
  readonly expect: Partial<Adapted> & { readonly error?: string };
}

/** Files as somebody saves them: each answer by its name. */
function saved(folder: string, answers: Readonly<Record<string, unknown>>): string[] {
  mkdirSync(folder, { recursive: true });
  return Object.entries(answers).flatMap(([name, answer]) => {
    if (answer === null) return [];
    const file = join(folder, `${name}-2026.json`);
    writeFileSync(file, JSON.stringify(answer));
    return [file];
  });
}

/** What a night is made of, without the hour before the moment that was asked for, and the person. */
function ofNight({ session = {}, sleep }: Partial<Adapted>) {
  const others = ['HR_day_1h', 'RR_day_1h', 'age', 'sex', 'height_cm', 'weight_kg'];
  return { night: Object.entries(session).filter(([name]) => !others.includes(name)), sleep };
}

for (const provider of PROVIDERS) {
  // Of the Health app a file is read, see below; intervals have no files.
  if (provider === 'intervals' || provider === 'apple_health') continue;
  t.test(`saved answers of ${provider}: each night as its recording gives it`, async (t) => {
    for (const [index, { name, recording, expect }] of casesOf<Case>('adapters', provider).entries()) {
      if (expect.error !== undefined || expect.night === null) continue;
      const { provider: _, at: _at, zone, newest_night_within_hours: _hours, ...answers } = recording;
      const folder = join(t.testdirName, String(index));
      const apart = saved(folder, answers);
      const whole = join(folder, 'all.json');
      writeFileSync(whole, JSON.stringify(answers));
      const options = typeof zone === 'string' ? { zone } : {};
      for (const files of [apart, [whole]]) {
        const source = sourceOf(provider, files, options, () => undefined);
        const nights = new Nights(source.sleeps(), options);
        for (const sample of source.samples()) nights.add(sample);
        const found = [...nights.sessions()].find((one) => 'night' in one && one.night === expect.night);
        t.strictSame(ofNight(found as Adapted), ofNight(expect), `${name}, ${files.length} files`);
      }
    }
  });
}

const DEVICE = '&lt;&lt;HKDevice: 0x301a3c5e0&gt;, name:Apple Watch, hardware:Watch6,2&gt;'.repeat(8);
const record = (type: string, from: string, to: string, value: string, unit = ''): string =>
  ` <Record type="HK${type}" sourceName="Anna’s Watch" device="${DEVICE}"${unit} creationDate="${to}" startDate="${from}" endDate="${to}" value="${value}"/>\n`;
const beats = (at: string, value: number, unit = 'count/min'): string =>
  record('QuantityTypeIdentifierHeartRate', at, at, String(value), ` unit="${unit}"`);
const slept = (day: string, from: string, to: string, stage: string): string =>
  record(
    'CategoryTypeIdentifierSleepAnalysis',
    `${day} ${from} +0100`,
    `${day} ${to} +0100`,
    `HKCategoryValueSleepAnalysis${stage}`,
  );

const HEAD =
  '<?xml version="1.0"?>\n<HealthData locale="en_DE">\n <ExportDate value="2026-03-31 08:00:00 +0100"/>\n';
const DAYS = Array.from({ length: 30 }, (_, day) => `2026-03-${String(day + 1).padStart(2, '0')}`);

/** Some megabytes: elements lie across the pieces in which the file is read. */
function exportOf(days: readonly string[]): string {
  const heart = days.flatMap((day) =>
    Array.from({ length: 480 }, (_, minute) => {
      const time = `0${Math.floor(minute / 60)}:${String(minute % 60).padStart(2, '0')}`;
      return beats(`${day} ${time}:00 +0100`, 50 + (minute % 7));
    }),
  );
  const sleep = days.flatMap((day) => [
    slept(day, '00:00:00', '02:00:00', 'AsleepCore'),
    slept(day, '02:00:00', '03:30:00', 'AsleepDeep'),
    slept(day, '03:30:00', '05:00:00', 'AsleepREM'),
    slept(day, '05:00:00', '07:00:00', 'AsleepCore'),
    slept(day, '00:00:00', '07:30:00', 'InBed'),
  ]);
  return `${HEAD}${heart.join('')}${sleep.join('')}`;
}

t.test('an export of the Health app: every night, and acuity score takes the lines', async (t) => {
  const odd = [
    slept('2026-03-05', '14:00:00', '14:40:00', 'AsleepCore'),
    slept('2026-03-05', '23:00:00', '22:00:00', 'AsleepCore'),
    slept('2027-03-05', '00:00:00', '07:00:00', 'AsleepCore'),
    beats('2026-03-05 03:00:30 +0100', 1, 'count/h'),
  ];
  const folder = t.testdir({ 'export.xml': `${exportOf(DAYS)}${odd.join('')}</HealthData>\n` });
  const file = join(folder, 'export.xml');
  const person = ['--born', '1991-05-17', '--sex', 'F', '--person', 'me'];
  const { code, stdout, stderr } = await acuity(['adapt', 'apple_health', file, ...person]);
  t.equal(code, 0, stderr);
  const lines = stdout.trim().split('\n');
  const written = lines.map((line) => (JSON.parse(line) as { night: string }).night);
  t.strictSame(written, DAYS);
  t.match(JSON.parse(lines[4] ?? ''), {
    person: 'me',
    at: '2026-03-05T06:00:00.000Z',
    current_session: { sleepTimeSeconds: 25_200, deepSleepSeconds: 5_400, age: 34, sex: 'F' },
  });
  for (const line of lines) {
    const { current_session: session } = JSON.parse(line) as { current_session: { HR_night: number[] } };
    t.equal(session.HR_night.length, 421);
  }
  t.match(stderr, 'acuity adapt: 30 nights written');
  const nap = '1 × a short sleep of the afternoon is no night';
  t.match(stderr, `${nap} (export.HKCategoryTypeIdentifierSleepAnalysis[150]`);
  t.match(stderr, '1 × ends before it begins (');
  t.match(stderr, '1 × expected count/min (');
  t.notMatch(stderr, /Anna|55/);

  const history = { person: 'person', order: 'night' };
  const { tally } = await runStream([Buffer.from(stdout)], { history });
  t.match(tally, { lines: DAYS.length, badLines: 0 });
});

t.test('a bad record takes no good night along, whichever field is at fault', async (t) => {
  const records = Array.from({ length: 400 }, (_, day) => {
    const startMs = Date.UTC(2024, 0, 1, 22) + day * 86_400_000;
    const sleep = {
      start: new Date(startMs).toISOString(),
      end: new Date(startMs + 8 * 3_600_000).toISOString(),
      timezone_offset: '+01:00',
      nap: false,
      score_state: 'SCORED',
      score: { stage_summary: { total_slow_wave_sleep_time_milli: 9e6, total_light_sleep_time_milli: 18e6 } },
    };
    const bad = [{ start: null }, { end: 'soon' }, { timezone_offset: true }, { score: [] }][day % 100];
    return { ...sleep, ...bad };
  });
  const file = join(t.testdir({ 'sleep.json': JSON.stringify({ records }) }), 'sleep.json');
  const { stdout, stderr, code } = await acuity(['adapt', 'whoop', file]);
  t.equal(code, 0);
  t.equal(stdout.trim().split('\n').length, 384);
  t.match(stderr, /384 nights written/);
  for (const why of ['is missing', 'expected a time', 'expected a number', 'expected an object'])
    t.match(stderr, `4 × ${why}`);
});

t.test('a night that its provider is still processing is told', async (t) => {
  const [first] = casesOf<Case>('adapters', 'google_health');
  const text = JSON.stringify(first?.recording['sleep']).replace('"processed":true', '"processed":false');
  const file = join(t.testdir({ 'sleep-1.json': text }), 'sleep-1.json');
  const ran = await commanded(t, registerAdapt, ['adapt', 'google_health', file]);
  t.match(ran.said, 'its provider is still processing it: it may change, ask again later');
});

t.test('XML is read as XML, however it is written', async (t) => {
  const plain = `${exportOf(DAYS)}</HealthData>\n`;
  const forms = {
    lines: plain.replaceAll(/<(Record|ExportDate) /g, '<$1\n    ').replaceAll('" ', '"\r\n\t'),
    quotes: plain.replaceAll('"', "'").replaceAll('Anna’s', 'Anna&#x2019;s'),
    spaces: plain.replaceAll('=', ' =\t').replaceAll('/>', ' />'),
    greater: plain.replaceAll('Anna’s Watch', '> Anna’s <Watch>'.replace('<', '&lt;')),
  };
  const wanted = await acuity(['adapt', 'apple_health', fileIn('plain', plain)]);
  for (const [name, text] of Object.entries(forms)) {
    const { stdout, code } = await acuity(['adapt', 'apple_health', fileIn(name, text)]);
    t.equal(code, 0, name);
    t.equal(stdout, wanted.stdout, name);
  }
  t.equal(wanted.stdout.split('\n').length, DAYS.length + 1);

  function fileIn(name: string, text: string): string {
    return join(t.testdir({ [name]: text }), name);
  }
});

t.test('what can’t be read is said with its file, and ends with 65', async (t) => {
  const folder = t.testdir({
    'export.zip': 'PK\u0003\u0004 …',
    'export.json': '{"data":{}}',
    'page.xml': '<!doctype html><title>Sign in</title>',
    'empty.xml': `${HEAD}</HealthData>`,
    'cut.xml': `${HEAD}<Record type="HKQuantityTypeIdentifierHeartRate" value="60"`,
    'some.json': '[]',
    'sleep-1.json': '{"records":[{"start":"2026-03-01T22:00:00Z","user_id":1}]}',
    'sleep-2.json': '{"records":[{"start":"2026-03-02T22:00:00Z","user_id":2}]}',
    'recharge-3.json': '{"recharges":[]}',
    'sleep-4.json': '{"nights":[]}',
    'sleeps.csv': 'a,b,c\n1,2\n1,2,3\n1,2',
    'broken.json': '{',
  });
  const wrong: readonly (readonly [args: readonly string[], message: string, code?: number])[] = [
    [['apple_health', 'export.zip'], 'this is the archive: unpack it first'],
    [['apple_health', 'export.json'], 'this is JSON'],
    [['apple_health', 'page.xml'], 'expected export.xml of the Health app, with HealthData'],
    [['apple_health', 'empty.xml'], '0 nights written'],
    [['apple_health', 'cut.xml'], 'cut.xml is cut short: </HealthData> is missing at its end'],
    [['apple_health', 'none.xml'], 'no such file'],
    [['oura', 'some.json'], 'which answer is it? Let its name begin with sleep or heart_rate'],
    [['whoop', 'broken.json'], 'broken.json is JSON that is cut or damaged'],
    [['whoop', 'some.json'], 'some.json: sleep: expected'],
    [
      ['whoop', 'sleeps.csv'],
      'sleeps.csv: its last row: fewer cells than the header, and no end: the file is cut',
    ],
    [['whoop', 'sleep-1.json', join(folder, 'sleep-2.json')], "sleep-2.json is another person's than those"],
    [
      ['polar', 'sleep-4.json', join(folder, 'recharge-3.json')],
      'no file with sleeps has the same end of its name',
    ],
    [['whoop', ''], 'is a folder: name the files in it'],
    [['whoop', 'some.json', '--born', '1991-02-30'], 'It must be a day in the past', 1],
    [['whoop', 'some.json', '--born', '1991-02-20', '--age', '3'], 'cannot be used with option', 1],
    [['apple_health', 'empty.xml', '--zone', '../etc'], 'there is no such time zone'],
    [['garmin9', 'some.json'], "'garmin9' is invalid", 1],
  ];
  for (const [[provider = '', file = '', ...more], message, expected = 65] of wrong) {
    const args = ['adapt', provider, join(folder, file), ...more];
    t.match(await commanded(t, registerAdapt, args), { code: expected, said: message });
  }
});
