import t from 'tap';
import fc from 'fast-check';
import { CONTRIBUTORS, CONTRIBUTOR_GROUPS, EXPLANATION, MIXTURES } from '#acuity/contract/explanation.js';
import { FEATURE_COUNT, featureAt } from '#acuity/contract/features.js';
import { PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';
import { explanationOf, type ExplainSettings } from '#acuity/night/explained/explanation.js';
import { featurisePast, featuriseRecord } from '#acuity/night/featurise.js';
import { writeMixtures } from '#acuity/night/explained/mixtures.js';
import { type Quality } from '#acuity/night/quality.js';
import { sentencesOf, type Mover, type ToldScore } from '#acuity/night/explained/sentences.js';
import { ReferenceDay, hoursOf } from '#acuity/night/explained/referenceDay.js';
import type { Session } from '#acuity/contract/request.js';
import type { ExplainedScore } from '#acuity/contract/response.js';
import type { PredictionRequest } from '#acuity/night/request.js';
import { scoreRecord } from '../fixtures/bodies.js';
import { requestOf } from '../fixtures/requests.js';
import { casesOf } from '../fixtures/sharedCases.js';

function withPast(current: Session, past: readonly Session[]): PredictionRequest {
  const past_targets = past.map(() => scoreRecord());
  return requestOf({ current_session: current, past_sessions: [...past], past_targets });
}

const QUALITY: Quality = {
  sessions: 2,
  against: 'last nights',
  missing: [],
  implausible: [],
  notAtRest: [],
  series: Array.from({ length: 4 }, () => ({ samples: 10, used: 9 })),
};
const limitsOf = (change: number, group: number) => ({
  changes: Array.from({ length: PAST_MAX + 1 }, () => SCORE_FIELDS.map(() => change)),
  groups: Array.from({ length: PAST_MAX + 1 }, () => CONTRIBUTORS.map(() => SCORE_FIELDS.map(() => group))),
});
const SETTINGS: ExplainSettings = {
  notable: { lastNights: limitsOf(5, 4.5), usual: limitsOf(7, 3) },
  explained: { alone: [0.1, 0.1, 0.1, 0.1, 0.1], history: [0.2, 0.2, 0.2, 0.2, 0.2] },
  widths: { high: 4, medium: 8 },
};

/** A worker's numbers: scores, their contributions, and ranges of one width. */
function rowOf(scores: readonly number[], contributions: readonly number[][], reach = 1) {
  const floats = new Float32Array(EXPLANATION.length);
  SCORE_FIELDS.forEach((_, score) => {
    const change = contributions.reduce((sum, group) => sum + (group[score] ?? 0), 0);
    floats[EXPLANATION.reference + score] = (scores[score] ?? 0) - change;
    contributions.forEach((group, index) => {
      floats[EXPLANATION.contributors + index * SCORE_FIELDS.length + score] = group[score] ?? 0;
    });
    floats[EXPLANATION.below + score] = reach;
    floats[EXPLANATION.above + score] = reach;
  });
  return { scores: Float32Array.from([...scores, 0.54, 0.471]), offset: 0, floats };
}

/** Contributions of which only the first group has any. */
const only = (first: readonly number[]): number[][] =>
  CONTRIBUTORS.map((_, index) => (index === 0 ? [...first] : [0, 0, 0, 0, 0]));
const explained = (row: ReturnType<typeof rowOf>, quality: Partial<Quality> = {}) =>
  explanationOf(row, { ...QUALITY, ...quality }, SETTINGS);
const notableOf = ({ scores }: ReturnType<typeof explained>): string[] =>
  SCORE_FIELDS.filter((field) => scores[field].notable);

interface SentenceCase {
  readonly name: string;
  readonly about: ToldScore;
  readonly explained: ExplainedScore;
  readonly most: Mover;
  readonly expect: string;
}

t.test('a score in two sentences', async (t) => {
  for (const { name, about, most, expect, ...one } of casesOf<SentenceCase>('computed', 'explanations'))
    t.equal(sentencesOf(one.explained, about, most), expect, name);
  const { scores, contributors } = explained(rowOf([50, 60, 50, 50, 50], only([0, -6, 0, 0, 0])));
  t.match(scores.attention.text, /^Attention is 60, 6 below .* mostly by the amount of sleep \(−6\)\. /);
  const [said, names] = [contributors, CONTRIBUTORS].map((all) =>
    all.map(({ group, label }) => ({ group, label })),
  );
  t.strictSame(said, names);
});

const points = (most: number) => fc.double({ min: -most, max: most, noNaN: true });

t.test('contributions add up to the change, that is score less reference, to the digit', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 30, max: 70, noNaN: true }), { minLength: 5, maxLength: 5 }),
      fc.array(fc.array(points(5), { minLength: 5, maxLength: 5 }), { minLength: 6, maxLength: 6 }),
      (scores, contributions) => {
        const made = explained(rowOf(scores, contributions));
        return SCORE_FIELDS.every((field, index) => {
          const { reference, recent, change, repeatability } = made.scores[field];
          const [low = NaN, high = NaN] = repeatability;
          const score = Math.round(Math.fround(scores[index] ?? NaN) * 100);
          const sum = made.contributors.reduce((total, part) => total + Math.round(part[field] * 100), 0);
          return (
            sum === Math.round(change * 100) &&
            Math.round(reference * 100) + Math.round(change * 100) === score &&
            recent === undefined &&
            low * 100 <= score + 1e-6 &&
            high * 100 >= score - 1e-6
          );
        });
      },
    ),
  );
});

t.test('sentences about a change, its range and the data', async (t) => {
  const groups = only([6, 4, -6, 0, 1]);
  const made = explained(rowOf([60, 50, 40, 99.5, 0.5], groups, 2));
  t.strictSame(notableOf(made), ['C_SCORE', 'memory']);
  t.strictSame(made.scores.reasoning.repeatability, [97.5, 100]);
  t.strictSame(made.scores.stress.repeatability, [0, 2.5]);
  for (const [reach, confidence] of [
    [2, 'high'],
    [3, 'medium'],
    [5, 'low'],
  ] as const)
    t.equal(explained(rowOf([60, 50, 40, 60, 60], groups, reach)).quality.confidence, confidence);
  t.strictSame(made.labels, { valence: 0.54, arousal: 0.47 });
  t.equal(made.scores.memory.explained, 0.2);
  const alone = explained(rowOf([60, 50, 40, 60, 60], groups), { sessions: 0, against: 'typical' });
  t.match(alone, { against: 'typical', scores: { memory: { explained: 0.1 } } });
});

t.test('against the usual: its own limits, and how far the last nights lie from it', async (t) => {
  const row = rowOf([60, 50, 40, 60, 60], only([6, 4, -8, 0, 1]));
  row.floats.set([54, 41.004, 50, 60, 59], EXPLANATION.lastNights);
  const nights = explained(row);
  const usual = explained(row, { against: 'usual' });
  t.equal(usual.against, 'usual');
  t.notOk('recent' in nights.scores.attention);
  const recent = SCORE_FIELDS.map((field) => usual.scores[field].recent);
  t.strictSame(recent, [0, -5, 2, 0, 0]);
  t.strictSame(notableOf(usual), ['memory']);
  t.strictSame(nights.contributors[0]?.notable, ['C_SCORE', 'memory']);
  t.strictSame(usual.contributors[0]?.notable, ['C_SCORE', 'attention', 'memory']);
  t.strictSame(usual.contributors[1]?.notable, []);
  const gap = explained(row, { sessions: 0, against: 'usual' });
  t.notOk('recent' in gap.scores.attention, 'no last nights');
});

const day = (index: number): number[] => [70 + index, 15, 60, 14, 7, 0.2, 0.2, 0.6, 0.5, 170, 70];
const TABLE = {
  typical: {
    ages: [20, 40],
    M: [day(0), day(10)],
    F: [day(20), day(30)],
    anyAge: { M: day(40), F: day(50) },
  },
  pooling: Array.from({ length: PAST_MAX }, (_, age) =>
    Array.from({ length: FEATURE_COUNT }, () => 2 ** -age),
  ),
};
const SESSION: Session = {
  HR_day_1h: [80],
  HR_night: [55],
  sleepTimeSeconds: 21_600,
  awakeSleepSeconds: 7_200,
  deepPercentage: 0.3,
  remPercentage: 0.2,
  lightPercentage: 0.5,
  age: 30,
  sex: 'M',
};

function referenceOf(request: PredictionRequest) {
  const today = new Float32Array(FEATURE_COUNT);
  const past = new Float32Array(PAST_MAX * FEATURE_COUNT);
  featuriseRecord(request.records, 0, today, 0);
  featurisePast(request, { past, targets: new Float32Array(35), present: new Float32Array(5) }, 0);
  const reference = new ReferenceDay(TABLE);
  reference.find(request, today, past);
  const hours = { asleep: NaN, awake: NaN };
  hoursOf(request, 0, hours);
  const raw = (name: string, row = reference.row): number => {
    const index = featureAt(name);
    return (row[index - 1] ?? 0) > 0 ? (row[index] ?? NaN) : NaN;
  };
  return { today: { row: today, hours }, reference, raw };
}

t.test('the reference day is the past by its weights, else typical, without what today lacks', async (t) => {
  const alone = referenceOf(requestOf({ current_session: SESSION }));
  t.ok(Math.abs(alone.raw('hr_day') - (75 - 76) / 15) < 1e-6, 'between the ages of the table');
  t.ok(Number.isNaN(alone.raw('rr_night')), 'what today lacks');
  t.ok(Number.isNaN(alone.raw('bmi')));
  t.ok(Math.abs(alone.raw('efficiency') - (7 / 7.5 - 0.88) / 0.15) < 1e-6, 'computed of typical values');
  t.equal(alone.raw('age'), alone.raw('age', alone.today.row), 'age is today’s');
  const unsaid = referenceOf(requestOf({ current_session: { ...SESSION, age: null, sex: null } }));
  t.ok(Math.abs(unsaid.raw('hr_day') - (115 - 76) / 15) < 1e-6, 'both sexes, any age');

  const history = referenceOf(withPast(SESSION, [{ HR_day_1h: [90] }, { HR_day_1h: [60] }]));
  t.ok(Math.abs(history.raw('hr_day') - ((90 / 2 + 60) / 1.5 - 76) / 15) < 1e-6, 'the newest counts most');
  t.ok(Math.abs(history.raw('hr_night') - (60 - 62) / 15) < 1e-6, 'typical where the past does not know');
});

t.test('mixtures take whole groups, and efficiency from the mixed times', async (t) => {
  const past = { ...SESSION, sleepTimeSeconds: 28_800, awakeSleepSeconds: 3_600, HR_day_1h: [90] };
  const { today, reference } = referenceOf(withPast(SESSION, [past]));
  const rows = new Float32Array(MIXTURES * FEATURE_COUNT);
  writeMixtures(today, reference, rows);
  const at = (mixture: number, name: string): number =>
    rows[mixture * FEATURE_COUNT + featureAt(name)] ?? NaN;
  t.strictSame(rows.subarray(0, FEATURE_COUNT), reference.row);
  t.strictSame(rows.subarray(63 * FEATURE_COUNT), today.row);
  const bit = (group: (typeof CONTRIBUTOR_GROUPS)[number]): number => 1 << CONTRIBUTOR_GROUPS.indexOf(group);
  const efficiency = (hours: number, awake: number): number => (hours / (hours + awake) - 0.88) / 0.15;
  t.ok(Math.abs(at(bit('sleep_amount'), 'efficiency') - efficiency(6, 1)) < 1e-6);
  t.ok(Math.abs(at(bit('sleep_quality'), 'efficiency') - efficiency(8, 2)) < 1e-6);
  t.equal(at(bit('day_heart_rate'), 'hr_day'), today.row[featureAt('hr_day')]);
  t.equal(at(bit('day_heart_rate'), 'sleep_time'), reference.row[featureAt('sleep_time')]);
});
