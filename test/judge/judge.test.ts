import t from 'tap';
import { MEASURED_FIELDS, type MeasuredField } from '#rules/fields.js';
import { seededRandom } from '#acuity/base/random.js';
import { judge, type OutcomeVerdict } from '#acuity/judge/judge.js';
import { intervalOf } from '#acuity/judge/estimates.js';
import { judgeMeasured, type MeasuredNights, type MeasuredVerdict } from '#acuity/judge/measured.js';
import { Nights } from '#acuity/judge/nights.js';
import { columnsOf, outcomeOf, valueOf, type Outcome } from '#acuity/judge/outcomes.js';
import { centredRanks } from '#acuity/judge/ranks.js';
import { sentenceOf } from '#acuity/judge/words.js';
import type { MeasuringConstants } from '#acuity/night/measuredRow.js';
import { normalCdf, probit } from '#acuity/night/normal.js';

/** Statistics of `acuity judge` against plain code, and on people of whom everything is known. */

const OPTIONS = { seed: 3, draws: 1_000 };

interface Night {
  readonly minutes: number;
  readonly heart?: number;
  readonly score: number;
  readonly outcome: number;
}

/** The verdict on one outcome of some people's nights. */
function verdictOf(
  people: readonly (readonly Night[])[],
  outcome: Partial<Outcome> = {},
  options = OPTIONS,
): OutcomeVerdict {
  const one: Outcome = { column: 'speed', score: 'attention', sign: 1, isPercentile: false, ...outcome };
  const columns = columnsOf(one);
  const nights = new Nights(['minutes', 'heart', columns.score, columns.outcome], 1_000_000);
  for (const [person, own] of people.entries())
    for (const { minutes, heart = NaN, score, outcome: value } of own)
      nights.add(person, [minutes, heart, score, value]);
  const [verdict] = judge(nights, [one], options);
  if (verdict === undefined) throw new Error('no verdict');
  return verdict;
}

/** Standard normal numbers, the same ones for the same seed. */
function normals(seed: number): () => number {
  const random = seededRandom(seed);
  return () => probit((Math.floor(random() * 1e9) + 0.5) / 1e9);
}

interface Truth {
  readonly people: number;
  readonly nights?: number;
  /** What the score of a night, and its minutes, do to the outcome. */
  readonly score?: number;
  readonly minutes?: number;
}

/** People with a level of their own in everything; the score follows the minutes, as scores do. */
function peopleOf(seed: number, { people, nights = 14, score = 0, minutes = 0 }: Truth): Night[][] {
  const normal = normals(seed);
  return Array.from({ length: people }, () => {
    const [level, trait, usual] = [normal(), normal(), normal()];
    return Array.from({ length: nights }, () => {
      const slept = 0.5 * usual + normal();
      const own = 0.7 * level + 0.5 * slept + normal();
      const outcome = trait + score * own + minutes * slept + normal();
      return {
        minutes: 420 + 60 * slept,
        heart: 60 + 5 * usual + 2 * normal(),
        score: 50 + 5 * own,
        outcome,
      };
    });
  });
}

t.test('ranks: equal values share theirs, what is missing has the middle', async (t) => {
  const into = new Float64Array(6).fill(9);
  centredRanks(Float64Array.from([9, 5, 1, NaN, 5, 7]), 1, 6, into);
  t.strictSame([...into], [9, 0, -1.5 / 4, 0, 0, 1.5 / 4]);
});

t.test('correlations and areas are those of plain code', async (t) => {
  const people = peopleOf(5, { people: 12, nights: 6, score: 0.3 }).map((nights) =>
    nights.map((night) => ({ ...night, outcome: night.outcome > 0 ? 1 : 0 })),
  );
  const { estimates } = verdictOf(people);
  const all = people.flat();
  const { pooled, within } = estimates.views;
  const close = (found: number, plain: number, name: string): void => {
    t.ok(Math.abs(found - plain) < 1e-9, `${name}: ${found} is ${plain}`);
  };
  close(pooled.goes.score.value, spearman(all, 'score'), 'Spearman');
  close(pooled.goes.minutes.value, spearman(all, 'minutes'), 'Spearman of the minutes');
  close(pooled.area?.score.value ?? NaN, areaOf([all]), 'AUC over all nights');
  close(within.area?.score.value ?? NaN, areaOf(people), 'AUC of two nights of one person');
});

function ranksOf(values: readonly number[]): number[] {
  return values.map(
    (value) =>
      values.filter((other) => other < value).length + values.filter((other) => other === value).length / 2,
  );
}

function spearman(nights: readonly Night[], of: 'score' | 'minutes'): number {
  const [x, y] = [ranksOf(nights.map((night) => night[of])), ranksOf(nights.map(({ outcome }) => outcome))];
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const product = (a: readonly number[], b: readonly number[]): number =>
    a.reduce((sum, value, index) => sum + (value - mean(a)) * ((b[index] ?? 0) - mean(b)), 0);
  return product(x, y) / Math.sqrt(product(x, x) * product(y, y));
}

/** Pairs on two sides, each of one group, and the share of them in order. */
function areaOf(groups: readonly (readonly Night[])[]): number {
  let [right, pairs] = [0, 0];
  for (const nights of groups)
    for (const high of nights.filter(({ outcome }) => outcome === 1))
      for (const low of nights.filter(({ outcome }) => outcome === 0)) {
        pairs++;
        right += high.score > low.score ? 1 : high.score === low.score ? 0.5 : 0;
      }
  return right / pairs;
}

t.test('what is found follows the truth, and the sentence is as hard as the figures', async (t) => {
  /** Outcome and score both follow a curve of the minutes. */
  const curved = (nights: readonly Night[]): Night[] =>
    nights.map((night) => {
      const off = (night.minutes - 420) / 60;
      return { ...night, score: night.score - 2 * off * off, outcome: night.outcome - 0.25 * off * off };
    });
  const turned = (nights: readonly Night[]): Night[] =>
    nights.map((night) => ({ ...night, outcome: -night.outcome }));
  const [adds, goes, nothing] = [{ score: 0.4 }, { minutes: 0.5 }, {}];
  const cases: readonly (readonly [
    truth: Partial<Truth>,
    finding: string,
    sentence: RegExp,
    more?: { sign?: 1 | -1; change?: (nights: readonly Night[]) => Night[] },
  ])[] = [
    [
      adds,
      'adds',
      /says something of tired (from day to day )?that minutes asleep, heart rate and earlier outcomes don't/,
    ],
    [goes, 'goes', /says nothing of tired from day to day that minutes asleep don't\.$/],
    [nothing, 'goes', /says nothing of tired from day to day that minutes asleep don't/, { change: curved }],
    [adds, 'against', /goes the wrong way with tired from day to day\.$/, { sign: -1 }],
    [adds, 'adds', /says something of tired/, { sign: -1, change: turned }],
    [nothing, 'nothing', /says nothing of tired from day to day, nor do minutes asleep\.$/],
    // However large the effect is.
    [{ score: 3, people: 12 }, 'too-few', /./],
    ...[1, 2, 19].map((people) => [{ score: 3, people, nights: 300 }, 'too-few', /./] as const),
  ];
  for (const [truth, finding, sentence, { sign = 1, change } = {}] of cases) {
    const people = peopleOf(20, { people: 200, ...truth });
    const verdict = verdictOf(change ? people.map(change) : people, { column: 'tired', sign });
    const { within } = verdict.views;
    t.equal(within.finding, finding, JSON.stringify({ ...truth, sign }));
    t.match(sentenceOf([verdict]), sentence);
    if (finding === 'too-few') t.equal(verdict.views.pooled.finding, 'too-few');
    if (truth.people === 12)
      t.ok(within.peopleNeeded > 50 && within.peopleNeeded < 500, `${within.peopleNeeded}`);
    const besides = verdict.estimates.views.within.besides;
    if (finding === 'goes') {
      t.ok(intervalOf(besides.heart, 0.05)[0] > 0, 'also beside the heart rate');
      t.notOk(intervalOf(besides.minutes, 0.05)[0] > 0, 'but not beside the minutes');
    }
    if (truth !== adds || sign !== 1) continue;
    t.ok(within.peopleNeeded <= 200);
    const [low, high] = intervalOf(verdict.estimates.slope, 0.05);
    t.ok(low < 0.08 && 0.08 < high, `0.4 for 5 points are 0.08 a point: ${low} to ${high}`);
  }
});

t.test('where nothing is there, 40 runs claim at most 4 times', async (t) => {
  let claims = 0;
  for (let run = 0; run < 40; run++) {
    const { views } = verdictOf(peopleOf(1_000 + run, { people: 200 }), {}, { seed: run, draws: 200 });
    t.not(views.within.finding, 'too-few');
    if (views.within.finding === 'adds' || views.pooled.finding === 'adds') claims++;
  }
  t.ok(claims <= 4, `${claims} claims`);
});

t.test('outcomes that are the same in all nights end in no figure', async (t) => {
  const people = peopleOf(17, { people: 60 });
  const same = verdictOf(people.map((nights) => nights.map((night) => ({ ...night, outcome: 3 }))));
  t.equal(same.views.within.finding, 'too-few');
  t.ok(Number.isNaN(same.estimates.views.pooled.goes.score.value));
  const blind = verdictOf(people.map((nights) => nights.map((night) => ({ ...night, minutes: NaN }))));
  t.ok(Number.isNaN(blind.estimates.views.within.goes.minutes.value), 'minutes missing for all people');
  t.ok(Number.isFinite(blind.estimates.views.within.adds.value));
});

t.test('the same nights and seed give the same verdict; the order of people does not matter', async (t) => {
  const people = peopleOf(18, { people: 40, score: 0.2 });
  const verdict = verdictOf(people);
  t.strictSame(verdictOf(people), verdict);
  const verdicts = [verdict, verdictOf(people.toReversed())];
  const [one, other] = verdicts.map(({ estimates }) => estimates.views.pooled);
  t.ok(Math.abs((one?.goes.score.value ?? 0) - (other?.goes.score.value ?? 1)) < 1e-12);
});

t.test('more people than blocks: intervals stay what they are', async (t) => {
  const width = (people: number): number => {
    const { estimates } = verdictOf(peopleOf(19, { people, nights: 3, score: 0.3 }));
    const [low, high] = intervalOf(estimates.views.pooled.goes.score, 0.05);
    return high - low;
  };
  const ratio = width(8_000) / width(2_000);
  t.ok(ratio > 0.4 && ratio < 0.6, `four times the people, half as wide: ${ratio}`);
});

t.test('nights are bounded', async (t) => {
  const nights = new Nights(['day'], 2);
  nights.add(0, [1]);
  nights.add(0, [1]);
  t.throws(() => nights.add(0, [1]), /more than 2 nights/);
});

t.test('what an outcome may be', async (t) => {
  t.match(outcomeOf('tired:-attention'), { column: 'tired', score: 'attention', sign: -1 });
  t.match(outcomeOf('a:b:valence'), { column: 'a:b', score: 'valence', sign: 1 });
  for (const wrong of ['tired', 'tired:', ':attention', 'tired:alertness', 'tired:+attention'])
    t.equal(outcomeOf(wrong), undefined, wrong);
  const values = { '3.5': 3.5, true: 1, false: 0, '"High"': 1, '"Low"': 0 };
  for (const [text, value] of Object.entries(values)) t.equal(valueOf(text), value, text);
  for (const none of ['null', '""', undefined]) t.equal(valueOf(none), undefined);
  for (const wrong of ['"much"', '[1]', '{}']) t.ok(Number.isNaN(valueOf(wrong)), wrong);
});

/** What measurements buy, in people whose lasting share is known. */

const RELIABLE = 0.7;
const each = (value: number) =>
  Object.fromEntries(MEASURED_FIELDS.map((field) => [field, value])) as Record<MeasuredField, number>;
const TESTED: MeasuringConstants = {
  halfLifeDays: each(3_000),
  reliability: each(RELIABLE),
  composite: { attention: 0.4, memory: 0.3, reasoning: 0.3 },
};
const TESTING = { field: 'attention', constants: TESTED, seed: 5, draws: 1_000 } as const;

/** People of the model that the arithmetic was made for: a lasting share of the variance is the person's. */
function testedPeople(share: number, people: number, nights: number): MeasuredNights {
  const normal = normals(9);
  const count = people * nights;
  const starts = Int32Array.from({ length: people + 1 }, (_, person) => person * nights);
  const [value, score, day] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)];
  for (let person = 0; person < people; person++) {
    const own = Math.sqrt(share) * normal();
    for (let night = 0; night < nights; night++) {
      const at = person * nights + night;
      const latent = 0.25 * normal();
      score[at] = 100 * normalCdf(latent / Math.SQRT2);
      value[at] = 100 * normalCdf(latent + own + Math.sqrt(1 - share) * normal());
      day[at] = 20_000 + night;
    }
  }
  return { starts, value, score, day };
}

function purchaseOf({ purchases }: MeasuredVerdict, tests: number) {
  const purchase = purchases.find((one) => one.tests === tests);
  if (purchase === undefined) throw new Error(`none of ${tests} tests`);
  return purchase;
}

t.test('one test does what the first shared case says that the service does', async (t) => {
  // The second night's outcome is 0, so that its error is what was foretold.
  const verdict = judgeMeasured(
    {
      starts: Int32Array.of(0, 2),
      value: Float64Array.of(71, 0),
      score: Float64Array.of(47.8, 52.31),
      day: Float64Array.of(20_778, 20_779),
    },
    TESTING,
  );
  const { errors, nights } = purchaseOf(verdict, 1);
  t.equal(nights, 1);
  t.equal(errors.measured.value.toFixed(2), '66.51');
  t.equal(errors.score.value, 52.31);
  t.equal(errors.mean.value, 71);
});

t.test('where tests repeat, they buy more the more there are; their reliability is found', async (t) => {
  const verdict = judgeMeasured(testedPeople(RELIABLE, 400, 9), TESTING);
  const [low, high] = intervalOf(verdict.reliability, 0.05);
  t.ok(low < RELIABLE && RELIABLE < high && high - low < 0.1, `${low} to ${high}`);
  const [one, two, five] = [1, 2, 5].map((tests) => purchaseOf(verdict, tests));
  t.strictSame([one?.nights, two?.nights, five?.nights], [3_200, 2_800, 1_600]);
  t.ok((one?.errors.measured.value ?? 0) > (two?.errors.measured.value ?? 0));
  t.ok((two?.errors.measured.value ?? 0) > (five?.errors.measured.value ?? 0));
  for (const purchase of verdict.purchases) {
    const { errors, gain } = purchase;
    t.ok(intervalOf(gain, 0.05)[0] > 0, `${purchase.tests}: a gain`);
    t.ok(errors.measured.value < errors.score.value && errors.score.value < errors.fifty.value);
    t.ok(errors.measured.value < errors.mean.value, 'better than their own mean');
  }
});

t.test('where tests tell nothing of a person, that is what comes out', async (t) => {
  const verdict = judgeMeasured(testedPeople(0, 400, 6), TESTING);
  t.ok(intervalOf(verdict.reliability, 0.05)[0] <= 0.01);
  const { errors, gain } = purchaseOf(verdict, 1);
  t.ok(intervalOf(gain, 0.05)[1] < 0, 'taken for reliable, they do harm');
  t.ok(errors.fitted.value < errors.measured.value, 'with the reliability that they have, hardly any');
});

t.test('too few tests are none', async (t) => {
  const { purchases, reliability } = judgeMeasured(testedPeople(RELIABLE, 5, 1), TESTING);
  t.strictSame(purchases, []);
  t.ok(Number.isNaN(reliability.value));
});
