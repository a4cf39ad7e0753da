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
  const people = ['person,age,height_cm,sex', ...[1, 2, 3].map((id) => `p${id},${20 + id},170,F`)];
  const days = [
    'person,date,minutes_asleep,minutes_awake,deep,rem,light,resting_hr,mood,stress,fatigue,readiness',
    ...[1, 2, 3].flatMap((id) => Array.from({ length: 20 }, (_, day) => dayRow(id, day))),
  ];
  const folder = t.testdir({ pmdata: { 'people.csv': people.join('\n'), 'days.csv': days.join('\n') } });
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
    const finding = await sleepyBrain(t.testdir({ sleepy_brain: { 'sessions.csv': [head, ...rows].join('\n') } }), judged); // prettier-ignore
    t.match(finding?.figures[0]?.[0], /, 3 young people/);
    const [fall, served] =
      finding?.figures[0]?.[1].split('; ').map((found) => Number.parseFloat(found)) ?? [];
    t.ok((fall ?? NaN) > 20);
    t.ok((served ?? NaN) > 2);
    t.equal(finding?.demands[0]?.holds, true);
  },
);

t.test('without data a point is not tested, and says why', async (t) => {
  const find = (root: string) => findingsOf(root, { PMData: (folder) => pmdata(folder, judged) });
  t.match(await find(''), { demands: [{ found: /VALIDATION_DATA/, holds: undefined }] });
  const missing = { demand: /PMData/, found: /not in the folder/, holds: undefined };
  t.match(await find(t.testdir()), { demands: [missing] });
});
