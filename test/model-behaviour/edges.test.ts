import t from 'tap';
import { HOUR_AT_REST } from '#acuity/contract/features.js';
import type { PredictionRequestBody, ScoreRecord } from '#acuity/contract/request.js';
import { meanCourse, sweep, worst, type Week } from '#training/evaluation/heartSweep.js';
import { gainOfTypicalPeople } from '#training/evaluation/steadyStates.js';
import { TYPICAL_PEOPLE, typicalSession } from '#training/evaluation/typicalPeople.js';
import { recordOf } from '#training/served.js';
import { meanLast, model, scoreOf, simulate } from './weeks.js';

/** Points by which a score may be on the wrong side of its value at +0. */
const TOLERANCE = 0.5;
/** The same of any single person. */
const TOLERANCE_ALONE = 1;
const DAYS = 6;
async function score(bodies: readonly PredictionRequestBody[]): Promise<ScoreRecord[]> {
  const records: ScoreRecord[] = [];
  for (const body of bodies) records.push(recordOf(await model.score(body)));
  return records;
}
const WEEKS: readonly Week[] = TYPICAL_PEOPLE.map((person) =>
  Array.from({ length: DAYS }, () => typicalSession(person)),
);

t.test('a fast heart in the hour before never lowers stress and never raises attention', async (t) => {
  for (const { breathing, night, records } of await sweep(WEEKS, model)) {
    for (const of of ['stress', 'attention'] as const) {
      const most = Math.max(
        ...TYPICAL_PEOPLE.map((_, person) =>
          worst(
            records.map((rise) => rise[person]?.[of] ?? NaN),
            of,
          ),
        ),
      );
      const mean = worst(meanCourse({ breathing, night, records }, of), of);
      const told = `${of}, ${breathing}, ${night}: wrong by ${mean.toFixed(2)}, of one person ${most.toFixed(2)}`;
      t.ok(mean <= TOLERANCE && most <= TOLERANCE_ALONE, told);
    }
  }
});

t.test('an hour far from rest is scored as missing', async (t) => {
  const [week = []] = WEEKS;
  const session = week[0] ?? {};
  const [fast, faster] = [HOUR_AT_REST.most + 20, HOUR_AT_REST.most + 60].map((bpm) => ({
    ...session,
    HR_day_1h: [bpm],
    RR_day_1h: [28],
  }));
  const unknown = { ...session, HR_day_1h: [], RR_day_1h: [] };
  const scores = await score(
    [fast ?? {}, faster ?? {}, unknown].map((current_session) => ({ current_session })),
  );
  t.strictSame(scores[0], scores[2]);
  t.strictSame(scores[1], scores[2]);
});

t.test('at rest, five and eight beats faster by day and night raise stress', async (t) => {
  const at = async (bpm: number): Promise<number> => {
    const weeks = simulate(40, {
      parameters: { effort: 0 },
      intervene: (day) => (day === DAYS - 1 ? { addDayHr: bpm, addNightHr: bpm } : {}),
    });
    return scoreOf(await meanLast(weeks), 'stress');
  };
  const [usual, five, eight] = [await at(0), await at(5), await at(8)];
  t.ok(five > usual + 1, (five - usual).toFixed(2));
  t.ok(eight - usual >= 3 && eight - usual <= 12, (eight - usual).toFixed(2));
});

t.test('forty equal nights are best with 7 to 9 h', async (t) => {
  const gain = await gainOfTypicalPeople(model);
  t.ok(gain <= 0.3, `nights outside are better by ${gain.toFixed(2)} at most`);
});

t.test('alone, a night of 12 h is hardly better than one of 8 h', async (t) => {
  for (const person of TYPICAL_PEOPLE) {
    const [long, usual] = await score(
      [12, 8].map((hours) => ({ current_session: typicalSession(person, hours) })),
    );
    const gain = (long?.attention ?? NaN) - (usual?.attention ?? NaN);
    t.ok(gain <= TOLERANCE && gain >= -5, `${person.sex} ${person.age}: ${gain.toFixed(2)}`);
  }
});
