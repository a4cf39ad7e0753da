import t from 'tap';
import { World } from '#training/cohort/population.js';
import { lifesnapsLives, truthOf } from '#training/evaluation/real/lifesnapsUsual.js';
import { UsualPeople, notableShares, raisedHeart, shortNights } from '#training/evaluation/usual.js';
import { ExplainedModel } from '#training/explained.js';
import { HALF_LIFE_NIGHTS } from '#acuity/history/longRun.js';
import { loadBundle } from '#acuity/model/bundle.js';
import { MODEL } from '../fixtures/model.js';
import { model } from './weeks.js';

/** Short versions of the card's point 19, and of the last sentence of point 18. */

const { explain: bundle } = await loadBundle(MODEL);
if (bundle === undefined) throw new Error('the shipped network explains');
const explained = await ExplainedModel.open(model, bundle.graph, bundle.table);
const world = new World(41);
const mean = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;

t.test(
  'short nights: the first is notable, the fifth is still named; ordinary days are seldom notable',
  async (t) => {
    const followed = new UsualPeople(world, { model, explained, bundle }, 100);
    const first = notableShares(await followed.said(shortNights(1), [44]), 'attention');
    const ordinary = notableShares(await followed.said(undefined, [30, 37, 44]), 'attention');
    t.ok(first.either >= 0.45, `${first.either}`);
    t.ok(first.either >= 2 * ordinary.either, `${ordinary.either} of ordinary days`);
    t.ok(ordinary.score > 0.05 && ordinary.score < 0.15, `${ordinary.score}`);
    const fifth = mean(await followed.sleepAmount(shortNights(5)));
    t.ok(fifth <= -3.8, `${fifth}`);
  },
);

t.test(
  'a heart that beats faster for good still stands out after thirty days, less than on the first',
  async (t) => {
    const days = (await raisedHeart(world, { model, explained }, 60)).map(mean);
    const [first = NaN, last = NaN] = [days[0], days.at(-1)];
    t.ok(last >= 0.9, `${last}`);
    t.ok(first > last + 0.5, `${first}`);
  },
);

const folder = process.env['VALIDATION_DATA'] ?? '';
const people = folder === '' ? undefined : lifesnapsLives(folder);
const skip = people === undefined && 'VALIDATION_DATA names no folder with LifeSnaps';

t.test('real days are told against what is usual as they lie', { skip }, async (t) => {
  const parts = { model, explained };
  const [nights, usual] = await truthOf(people ?? [], parts, ['last nights', HALF_LIFE_NIGHTS]);
  t.ok((usual?.toldBetter ?? NaN) <= 0.1, `told above: ${usual?.toldBetter}`);
  t.ok((usual?.correlation ?? NaN) >= 0.6, `correlation ${usual?.correlation}`);
  t.ok((nights?.correlation ?? NaN) < 0.5, 'the last nights are not what is usual');
});
