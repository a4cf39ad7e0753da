import t, { type Test } from 'tap';
import {
  FEATURES,
  FEATURE_COUNT,
  FEATURE_INDEX,
  HOUR_AT_REST,
  ROW_CLAMP,
  TARGETS,
  TARGET_COUNT,
  featureAt,
} from '#acuity/contract/features.js';
import { FIELDS_OF_A_SESSION, FIELDS_WITH_EFFECT, PAST_MAX } from '#rules/fields.js';
import type { PredictionRequestBody, Session } from '#acuity/contract/request.js';
import { featurisePast, featuriseRecord, type PastRows } from '#acuity/night/featurise.js';
import { eachMissingField } from '#acuity/night/missing.js';
import { qualityOf } from '#acuity/night/quality.js';
import { LAYOUT } from '#acuity/night/layout.js';
import { requestBody, scoreRecord, session } from '../fixtures/bodies.js';
import { requestOf } from '../fixtures/requests.js';

function rowOf(current_session: Session): Float32Array {
  const row = new Float32Array(FEATURE_COUNT);
  featuriseRecord(requestOf({ current_session }).records, 0, row, 0);
  return row;
}

/** Features of a row in their own units, those that are known. */
function known(row: Float32Array): Map<string, number> {
  const values = new Map<string, number>();
  FEATURES.forEach(({ name, group, centre, scale }, index) => {
    if (name === `${group}_known`) return;
    const mask = row[FEATURE_INDEX.get(`${group}_known`) ?? NaN];
    if (mask === 1) values.set(name, (row[index] ?? NaN) * scale + centre);
  });
  return values;
}

function close(t: Test, actual: number | undefined, expected: number, tolerance: number, name: string): void {
  t.ok(Math.abs((actual ?? NaN) - expected) <= tolerance, `${name} is ${actual}, expected ${expected}`);
}

t.test('levels, sleep and person, computed by hand', async (t) => {
  const values = known(
    rowOf({
      deepSleepSeconds: 3600,
      remSleepSeconds: 5400,
      lightSleepSeconds: 16_200,
      awakeSleepSeconds: 2800,
      age: 45,
      height_cm: 200,
      weight_kg: 80,
      sex: 'F',
      HR_day_1h: [74],
      RR_day_1h: [16],
      HR_night: [58],
      RR_night: [14.5],
    }),
  );
  const expected = {
    hr_day: 74,
    rr_day: 16,
    hr_night: 58,
    rr_night: 14.5,
    sleep_time: 7,
    deep_share: 1 / 7,
    rem_share: 1.5 / 7,
    light_share: 4.5 / 7,
    awake: 7 / 9,
    efficiency: 0.9,
    age: 45,
    sex: -1,
    height: 200,
    weight: 80,
    bmi: 20,
  };
  t.strictSame([...values.keys()].toSorted(), Object.keys(expected).toSorted());
  for (const [name, value] of Object.entries(expected))
    close(t, values.get(name), value, 1e-5 * (1 + value), name);
});

t.test('of an empty session nothing is known, and every float is zero', async (t) => {
  t.ok(rowOf({}).every((value) => Object.is(value, 0)));
});

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  HR_day_1h: ['hr_day'],
  RR_day_1h: ['rr_day'],
  HR_night: ['hr_night'],
  RR_night: ['rr_night'],
  awakeSleepSeconds: ['awake', 'efficiency'],
  age: ['age'],
  height_cm: ['height', 'bmi'],
  weight_kg: ['weight', 'bmi'],
  sex: ['sex'],
};

t.test('a field that is missing masks what is made of it, and nothing else', async (t) => {
  const whole = rowOf(session());
  for (const [field, groups] of Object.entries(GROUPS)) {
    for (const missing of [undefined, null, ...(field.includes('R_') ? [[], [0, -1, 255, -2]] : [])]) {
      const row = rowOf({ ...session(), [field]: missing });
      FEATURES.forEach(({ name, group }, index) => {
        t.equal(row[index], groups.includes(group) ? 0 : whole[index], `${name} without ${field}`);
      });
    }
  }
});

t.test('fractions, percent points and no shares give one row where stages are known', async (t) => {
  const row = rowOf(session());
  const points = { deepPercentage: 20.69, remPercentage: 22.99, lightPercentage: 56.32 };
  const none = { deepPercentage: null, remPercentage: null, lightPercentage: null, sleepTimeSeconds: null };
  t.strictSame(rowOf({ ...session(), ...points }), row);
  t.strictSame(rowOf({ ...session(), ...none }), row);
  t.strictSame(rowOf({ ...session(), sleepTimeSeconds: 27_900 }), row);
});

t.test('a value far out is held at the clamp', async (t) => {
  const row = rowOf({ age: 130, weight_kg: 650, height_cm: 30, awakeSleepSeconds: 172_800 });
  const far = ['age', 'weight', 'height', 'bmi', 'awake'].map((name) => row[FEATURE_INDEX.get(name) ?? NaN]);
  t.strictSame(far, [ROW_CLAMP, ROW_CLAMP, -ROW_CLAMP, ROW_CLAMP, ROW_CLAMP]);
});

t.test('a row is written at its offset and nowhere else', async (t) => {
  const rows = new Float32Array(3 * FEATURE_COUNT);
  featuriseRecord(requestOf({ current_session: session() }).records, 0, rows, FEATURE_COUNT);
  t.strictSame(rows.slice(FEATURE_COUNT, 2 * FEATURE_COUNT), rowOf(session()));
  t.ok(rows.subarray(0, FEATURE_COUNT).every((value) => value === 0));
  t.ok(rows.subarray(2 * FEATURE_COUNT).every((value) => value === 0));
});

function pastOf(body: PredictionRequestBody, rows: number, row: number): PastRows {
  const into = {
    past: new Float32Array(rows * PAST_MAX * FEATURE_COUNT),
    targets: new Float32Array(rows * PAST_MAX * TARGET_COUNT),
    present: new Float32Array(rows * PAST_MAX),
  };
  featurisePast(requestOf(body), into, row);
  return into;
}

t.test('the past is written newest first, each pastIndex as if it were the current session', async (t) => {
  const body = requestBody(3);
  const { past, targets, present } = pastOf(body, 2, 1);
  t.strictSame([...present], [0, 0, 0, 0, 0, 1, 1, 1, 0, 0]);
  const newestFirst = body.past_sessions?.toReversed() ?? [];
  newestFirst.forEach((given, pastIndex) => {
    const at = (PAST_MAX + pastIndex) * FEATURE_COUNT;
    t.strictSame(past.slice(at, at + FEATURE_COUNT), rowOf(given));
  });
  t.ok(past.subarray(0, PAST_MAX * FEATURE_COUNT).every((value) => value === 0));
  t.ok(past.subarray((PAST_MAX + 3) * FEATURE_COUNT).every((value) => value === 0));
  t.ok(targets.subarray(0, PAST_MAX * TARGET_COUNT).every((value) => value === 0));
  t.ok(targets.subarray((PAST_MAX + 3) * TARGET_COUNT).every((value) => value === 0));
});

t.test('a past target is centred at 50, its labels are one or minus one', async (t) => {
  const target = { C_SCORE: 50, attention: 75, memory: 0, reasoning: 100, stress: 62.5, valence: 'High', arousal: 'Low' } as const; // prettier-ignore
  const { targets } = pastOf({ current_session: {}, past_sessions: [{}], past_targets: [target] }, 1, 0);
  t.strictSame([...targets.subarray(0, TARGET_COUNT)], [0, 1, -2, 2, 0.5, 1, -1]);
  t.equal(TARGETS.length, TARGET_COUNT);
});

/** The fields said to be missing in a request with this current session. */
function missingIn(current_session: object): string[] {
  const missing: string[] = [];
  eachMissingField(requestOf({ current_session }), (field) =>
    missing.push(FIELDS_OF_A_SESSION[field] ?? '?'),
  );
  return missing;
}

t.test('each field is missed by its own name, whether absent, null or empty', async (t) => {
  t.strictSame(missingIn(session()), []);
  t.strictSame(missingIn({}), FIELDS_WITH_EFFECT);
  for (const field of FIELDS_WITH_EFFECT) {
    const { [field]: _, ...rest } = session();
    t.strictSame(missingIn(rest), [field]);
    t.strictSame(missingIn({ ...session(), [field]: null }), [field]);
  }
  t.strictSame(missingIn({ ...session(), HR_night: [] }), ['HR_night']);
});

const flat = (value: number): number[] => Array.from({ length: 30 }, () => value);

/** A session whose levels are these; an undefined night has no heart rate. */
function withLevels(day: number, night: number | undefined): Session {
  return { ...session(), HR_day_1h: flat(day), HR_night: night === undefined ? [] : flat(night) };
}

/** Whether a row knows the heart rate and the breathing of the hour before. */
function knownOf(body: PredictionRequestBody, at: number): [heart: number, breath: number] {
  const row = new Float32Array(FEATURE_COUNT);
  featuriseRecord(requestOf(body).records, at * LAYOUT.RECORD_LENGTH, row, 0);
  return [row[featureAt('hr_day_known')] ?? NaN, row[featureAt('rr_day_known')] ?? NaN];
}

const NIGHT = 60;
const CASES = [
  { name: 'as far above the night as an hour at rest may be', day: NIGHT + HOUR_AT_REST.aboveNight, night: NIGHT, known: 1 }, // prettier-ignore
  { name: 'further above the night', day: NIGHT + HOUR_AT_REST.aboveNight + 1, night: NIGHT, known: 0 },
  { name: 'as fast after a fast night', day: NIGHT + HOUR_AT_REST.aboveNight + 1, night: 80, known: 1 },
  { name: 'as fast as an hour at rest may be, no night', day: HOUR_AT_REST.most, night: undefined, known: 1 },
  { name: 'faster, no night', day: HOUR_AT_REST.most + 1, night: undefined, known: 0 },
  { name: 'faster, but the night was faster still', day: HOUR_AT_REST.most + 1, night: 110, known: 1 },
];

t.test('heart and breath of an hour count if it was one at rest, now and in the past', async (t) => {
  for (const { name, day, night, known } of CASES) {
    const one = withLevels(day, night);
    t.strictSame(knownOf({ current_session: one }, 0), [known, known], name);
    const past = { current_session: session(), past_sessions: [one], past_targets: [scoreRecord()] };
    t.strictSame(knownOf(past, 1), [known, known], name);
    t.strictSame(knownOf(past, 0), [1, 1], 'and of no other session');
  }
});

t.test('the explanation names what was left out, as far as it was sent', async (t) => {
  const ran = withLevels(140, NIGHT);
  const both = ['HR_day_1h', 'RR_day_1h'];
  const cases: readonly (readonly [Session, left: readonly string[], lacking: readonly string[]])[] = [
    [ran, both, both],
    [{ ...ran, RR_day_1h: [] }, ['HR_day_1h'], both],
    [session(), [], []],
    [{}, [], FIELDS_WITH_EFFECT],
  ];
  for (const [current_session, left, lacking] of cases) {
    const { notAtRest, missing } = qualityOf(requestOf({ current_session }));
    t.strictSame([[...notAtRest], [...missing]], [left, [...lacking]]);
  }
});
