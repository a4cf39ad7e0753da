import t from 'tap';
import { seededRandom } from '#acuity/base/random.js';
import { intervalOf } from '#acuity/judge/estimates.js';
import { judgeMeasured, type MeasuredNights, type MeasuredVerdict } from '#acuity/judge/measured.js';
import type { MeasuringConstants } from '#acuity/pipeline/measuredRow.js';
import { normalCdf, probit } from '#acuity/pipeline/normal.js';

/** What measurements buy, in people whose lasting share is known. */

const RELIABLE = 0.7;
const each = <T>(value: T) => ({
  attention: value,
  memory: value,
  reasoning: value,
  stress: value,
  valence: value,
  arousal: value,
});
const CONSTANTS: MeasuringConstants = {
  halfLifeDays: each(3_000),
  reliability: each(RELIABLE),
  composite: { attention: 0.4, memory: 0.3, reasoning: 0.3 },
};
const OPTIONS = { field: 'attention', constants: CONSTANTS, seed: 5, draws: 1_000 } as const;

/** People of the model that the arithmetic was made for: a lasting share of the variance is the person's. */
function peopleOf(share: number, people: number, nights: number): MeasuredNights {
  const random = seededRandom(9);
  const normal = (): number => probit((Math.floor(random() * 1e9) + 0.5) / 1e9);
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
    OPTIONS,
  );
  const { errors, nights } = purchaseOf(verdict, 1);
  t.equal(nights, 1);
  t.equal(errors.measured.value.toFixed(2), '66.51');
  t.equal(errors.score.value, 52.31);
  t.equal(errors.mean.value, 71);
});

t.test('where tests repeat, they buy more the more there are; their reliability is found', async (t) => {
  const verdict = judgeMeasured(peopleOf(RELIABLE, 400, 9), OPTIONS);
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
  const verdict = judgeMeasured(peopleOf(0, 400, 6), OPTIONS);
  t.ok(intervalOf(verdict.reliability, 0.05)[0] <= 0.01);
  const { errors, gain } = purchaseOf(verdict, 1);
  t.ok(intervalOf(gain, 0.05)[1] < 0, 'taken for reliable, they do harm');
  t.ok(errors.fitted.value < errors.measured.value, 'with the reliability that they have, hardly any');
});

t.test('too few tests are none', async (t) => {
  const { purchases, reliability } = judgeMeasured(peopleOf(RELIABLE, 5, 1), OPTIONS);
  t.strictSame(purchases, []);
  t.ok(Number.isNaN(reliability.value));
});
