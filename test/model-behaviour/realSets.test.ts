import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { addedShare, correlation, residual } from '#training/evaluation/statistics.js';
import { pmdata } from '#training/evaluation/real/pmdata.js';
import { sleepyBrain } from '#training/evaluation/real/sleepyBrain.js';
import { findingsOf } from '#training/evaluation/real/dataSet.js';
import { bundle, model } from './weeks.js';

/** Invented sets: the real ones are no part of the repository. */
const judged = { model, bundle };

t.test('a fit takes away what its columns explain, and nothing else', async (t) => {
  const age = [1, 2, 3, 4, 5, 6];
  const hours = [2, 1, 4, 3, 6, 2];
  const test = age.map((years, index) => 3 * years - 2 * (hours[index] ?? 0) + 7);
  t.ok(residual(test, [age, hours]).every((rest) => Math.abs(rest) < 1e-9));
  t.ok(Math.abs(correlation(residual(test, [age]), residual(hours, [age])) + 1) < 1e-9);
  const share = addedShare(test, [age], [hours]);
  t.ok(share > 0 && share < 1);
  t.ok(addedShare(test, [age, hours], [hours]) < 1e-9, 'nothing is added twice');
});

t.test('ratings that follow minutes asleep are found to, in however many people', async (t) => {
  const folder = write(t.testdir(), {
    'pmdata/people.csv': ['person,age,height_cm,sex', ...[1, 2, 3].map((id) => `p${id},${20 + id},170,F`)],
    'pmdata/days.csv': [
      'person,date,minutes_asleep,minutes_awake,deep,rem,light,resting_hr,mood,stress,fatigue,readiness',
      ...[1, 2, 3].flatMap((id) => Array.from({ length: 20 }, (_, day) => dayRow(id, day))),
    ],
  });
  const finding = await pmdata(folder, judged);
  const [score, minutes] =
    finding?.figures[0]?.[1].split('; ').map((found) => Number.parseFloat(found)) ?? [];
  t.ok((minutes ?? NaN) > 0.9, `minutes ${minutes}`);
  t.ok((score ?? NaN) > 0.2, `score ${score}: longer nights raise it`);
  t.match(finding?.figures[0]?.[0], /PMData, 3 people/);
  t.match(finding?.demands[0]?.demand, /, 45 days:/, 'the first five ratings of each person are not judged');
});

function dayRow(id: number, day: number): string {
  const minutes = 300 + ((day * 37 + id * 11) % 200);
  const rating = minutes / 100;
  return [`p${id}`, `2020-01-${String(day + 1).padStart(2, '0')}`, minutes, 30, '', '', '', 55, rating, rating, rating, rating].join(','); // prettier-ignore
}

t.test(
  'a vigilance test that falls after the short night is found to, people without both nights left out',
  async (t) => {
    const rows = [1, 2, 3, 4].flatMap((id) => [
      `s${id},1,Young,Female,0,420,30,20,10,50,20,${4.5 + 0.01 * id}`,
      id === 4 ? '' : `s${id},2,Young,Female,1,180,10,20,10,50,20,${3.5 + 0.01 * id}`,
    ]);
    const head = 'person,session,age_group,sex,restricted,psg_tst_min,psg_waso_min,psg_rem_pct,psg_n1_pct,psg_n2_pct,psg_n3_pct,pvt_speed_per_s'; // prettier-ignore
    const finding = await sleepyBrain(write(t.testdir(), { 'sleepy_brain/sessions.csv': [head, ...rows] }), judged); // prettier-ignore
    t.match(finding?.figures[0]?.[0], /, 3 young people/);
    const [fall, served] =
      finding?.figures[0]?.[1].split('; ').map((found) => Number.parseFloat(found)) ?? [];
    t.ok((fall ?? NaN) > 20);
    t.ok((served ?? NaN) > 2);
    t.equal(finding?.demands[0]?.holds, true);
  },
);

t.test('without data a point is not tested, and says why', async (t) => {
  const before = process.env['VALIDATION_DATA'];
  t.teardown(() => {
    if (before === undefined) delete process.env['VALIDATION_DATA'];
    else process.env['VALIDATION_DATA'] = before;
  });
  const find = () => findingsOf({ PMData: (folder) => pmdata(folder, judged) });
  delete process.env['VALIDATION_DATA'];
  t.match(await find(), { demands: [{ found: /VALIDATION_DATA/, holds: undefined }] });
  process.env['VALIDATION_DATA'] = t.testdir();
  t.match(await find(), { demands: [{ demand: /PMData/, found: /not in the folder/, holds: undefined }] }); // prettier-ignore
});

function write(folder: string, files: Readonly<Record<string, readonly string[]>>): string {
  for (const [path, lines] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), `${lines.filter(Boolean).join('\n')}\n`);
  }
  return folder;
}
