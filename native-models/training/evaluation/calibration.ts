import type { Person } from '../cohort/person.js';
import { LABELS, SCORES, type Context } from './context.js';
import { demand, fixed, isWithin, signed, type Section } from './section.js';
import { mean, slope, take } from './statistics.js';

const AGE_BANDS = [18, 30, 45, 60] as const;
const BMI_BANDS = [0, 20, 25, 30, 35] as const;
const GROUP_LEAST = 1_500;
const ERROR_MOST = 2;
const PROBABILITY_MOST = 0.03;

/** A person, with the habit of the device worn on the last day. */
type Subject = Person & { readonly habit: string };
const GROUPINGS: readonly ((subject: Subject) => string)[] = [
  ({ sex, age }) => `${sex}, ${band(AGE_BANDS, age)}`,
  ({ bmi }) => `BMI ${band(BMI_BANDS, bmi)}`,
  ({ habit }) => `device ${habit}`,
];

/** Point 2: what is said comes true on average, in every group, and as a probability. */
export function calibration({ people, scored: { together, expected } }: Context): Section {
  const columnOf = (of: readonly Float64Array[], k: number): Float64Array => of[k] ?? new Float64Array();
  const subjects = people.people.map((person, index) => ({
    ...person,
    habit: people.devices[index]?.habit ?? '',
  }));
  const groups = GROUPINGS.flatMap((nameOf) => {
    const names = subjects.map(nameOf);
    return [...new Set(names)].toSorted().map((name) => {
      const chosen = Int32Array.from(names.flatMap((other, person) => (other === name ? [person] : [])));
      const of = (from: readonly Float64Array[], k: number): Float64Array => take(columnOf(from, k), chosen);
      return {
        name,
        count: chosen.length,
        errors: SCORES.map((_, k) => mean(of(together, k)) - mean(of(expected, k))),
      };
    });
  });
  const slopes = SCORES.map((_, k) => slope(columnOf(together, k), columnOf(expected, k)));
  const worst = Math.max(...groups.flatMap(({ errors }) => errors.map(Math.abs)));
  const smallest = Math.min(...groups.map(({ count }) => count));
  const furthest = LABELS.map((_, index) =>
    unreliability(columnOf(together, 4 + index), columnOf(expected, 4 + index)),
  );
  return {
    number: 2,
    title: 'Calibration and subgroups',
    why: 'Does what it says come true on average, for all kinds of people and devices? A slope below 1 would mean that it says too much; rings, slow bands, phones and averages give no breathing rate by day.',
    demands: [
      demand(
        `slope of expected on predicted 0.9 to 1.1: ${SCORES.join(', ')}`,
        slopes.map((value) => fixed(value, 3)).join(', '),
        slopes.every((value) => isWithin(value, 0.9, 1.1)),
      ),
      demand(
        `mean error within ±${ERROR_MOST} in every group of at least ${GROUP_LEAST} people`,
        `largest ${fixed(worst, 2)}, smallest group ${smallest}`,
        worst <= ERROR_MOST && smallest >= GROUP_LEAST,
      ),
      demand(
        `probabilities of ${LABELS.join(', ')}: tenths of the people within ${PROBABILITY_MOST}`,
        furthest.map((value) => fixed(value, 3)).join(', '),
        furthest.every((value) => value <= PROBABILITY_MOST),
      ),
    ],
    tables: [
      {
        caption: 'Mean error in points by group',
        header: ['group', 'people', ...SCORES],
        rows: groups.map(({ name, count, errors }) => [
          name,
          String(count),
          ...errors.map((error) => signed(error, 2)),
        ]),
      },
    ],
  };
}

/** `18–29` and, for the last band, `60+`. */
function band(starts: readonly number[], value: number): string {
  const index = starts.findLastIndex((start) => value >= start);
  const next = starts[index + 1];
  return next === undefined ? `${starts[index]}+` : `${starts[index]}–${next - 1}`;
}

/** How far the mean expected lies from the mean predicted, in the worst tenth of the people by prediction. */
function unreliability(predicted: Float64Array, expected: Float64Array): number {
  const order = Int32Array.from(predicted.keys()).toSorted(
    (a, b) => (predicted[a] ?? 0) - (predicted[b] ?? 0),
  );
  const tenths = Array.from({ length: 10 }, (_, tenth) => {
    const chosen = order.slice((tenth * order.length) / 10, ((tenth + 1) * order.length) / 10);
    return Math.abs(mean(take(predicted, chosen)) - mean(take(expected, chosen)));
  });
  return Math.max(...tenths);
}
