import type { World } from '../cohort/population.js';
import type { ServedModel } from '../served.js';
import { columnOf, rollOut, scoreDay } from './rollout.js';
import { rms, variance } from './statistics.js';

const PEOPLE = 8_000;
const DAYS = 7;
/** Of attention, memory and reasoning; C_SCORE is computed so in the graph. */
const WEIGHTS = [0.4, 0.3, 0.3];

/** Share of the variance of the composite of three percentiles that C_SCORE explains; see `explained`. */
export async function compositeShare(
  model: ServedModel,
  world: World,
): Promise<{ readonly alone: number; readonly history: number }> {
  const people = world.simulate(PEOPLE, DAYS);
  const rollout = await rollOut(model, people);
  const day = DAYS - 1;
  const composite = (values: Float32Array): Float64Array =>
    WEIGHTS.map((weight, k) => columnOf(values, 6, k, people, day).map((value) => weight * value)).reduce(
      (sum, part) => sum.map((value, index) => value + (part[index] ?? NaN)),
    );
  const expected = composite(people.expected);
  const happened = variance(composite(people.truth));
  const share = (predicted: Float64Array): number =>
    Math.max(0, (variance(expected) - rms(expected, predicted) ** 2) / happened);
  const alone = await scoreDay(model, people, rollout.targets, day, 0);
  return {
    alone: share(Float64Array.from({ length: PEOPLE }, (_, person) => alone[person * 7] ?? NaN)),
    history: share(columnOf(rollout.scores, 7, 0, people, day)),
  };
}
