import { expectedOf, LABELS, rolledColumn, SCORES, type Context } from './context.js';
import type { Person } from '../cohort/person.js';
import type { Population } from '../cohort/population.js';
import { plot } from './plot.js';
import { demand, fixed, isWithin, signed, type Section } from './section.js';
import { mean, slope } from './statistics.js';

const AGE_BANDS = [18, 30, 45, 60, 200] as const;
const GROUP_LEAST = 1_500;

/** A person, with the habit of the device worn on the last day. */
export type Subject = Person & { readonly habit: string };

export function subjectsOf({ people, devices }: Population): Subject[] {
  return people.map((person, index) => ({ ...person, habit: devices[index]?.habit ?? '' }));
}

/** Age × sex groups by name. */
function ageSexGroups(people: readonly Person[]): Map<string, number[]> {
  return groupsBy(people, ({ sex, age }) => `${sex} ${ageBand(age)}`);
}

export function ageBand(age: number): string {
  const index = AGE_BANDS.findIndex((start, at) => age >= start && age < (AGE_BANDS[at + 1] ?? Infinity));
  const start = AGE_BANDS[index] ?? 0;
  return index >= AGE_BANDS.length - 2 ? `${start}+` : `${start}–${(AGE_BANDS[index + 1] ?? 0) - 1}`;
}

/** Indices of people by name of their group, names in order. */
export function groupsBy<T>(people: readonly T[], name: (person: T) => string): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  people.forEach((person, index) => {
    const key = name(person);
    groups.set(key, [...(groups.get(key) ?? []), index]);
  });
  return new Map([...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Mean of predicted minus expected over the chosen people. */
export function meanError(
  predicted: Float64Array,
  expected: Float64Array,
  chosen: readonly number[],
): number {
  return mean(chosen.map((index) => (predicted[index] ?? NaN) - (expected[index] ?? NaN)));
}

/** Point 2: scores are calibrated on average, in each group, and as probabilities. */
export function calibration(context: Context): Section {
  const predicted = Array.from({ length: 6 }, (_, k) => rolledColumn(context.rollout, context, k));
  const expected = Array.from({ length: 6 }, (_, k) => expectedOf(context, k));
  const at = (columns: readonly Float64Array[], k: number): Float64Array => columns[k] ?? new Float64Array(0);
  const groups = ageSexGroups(context.people.people);
  const slopes = SCORES.map((_, k) => slope(at(predicted, k), at(expected, k)));
  const errors = [...groups].map(([name, chosen]) => ({
    name,
    size: chosen.length,
    errors: SCORES.map((_, k) => meanError(at(predicted, k), at(expected, k), chosen)),
  }));
  const worst = Math.max(...errors.flatMap((group) => group.errors.map(Math.abs)));
  const smallest = Math.min(...errors.map(({ size }) => size));
  const reliability = LABELS.map((_, index) =>
    reliabilityOf(at(predicted, 4 + index), at(expected, 4 + index)),
  );
  const furthest = Math.max(...reliability.flat().map(([said, happened]) => Math.abs(said - happened)));
  return {
    number: 2,
    title: 'Calibration',
    about: 'Does what it says come true on average, in every group?',
    demands: [
      ...SCORES.map((name, k) => {
        const value = slopes[k] ?? NaN;
        return demand(
          `${name}: slope of expected on predicted 0.9 to 1.1`,
          fixed(value, 3),
          isWithin(value, 0.9, 1.1),
        );
      }),
      demand('mean error within ±2 in each age × sex group', `largest ${fixed(worst, 2)}`, worst <= 2),
      demand(`at least ${GROUP_LEAST} people a group`, `smallest ${smallest}`, smallest >= GROUP_LEAST),
      demand(
        'probabilities reliable: tenths of the people within 0.03',
        `furthest ${fixed(furthest, 3)}`,
        furthest <= 0.03,
      ),
    ],
    tables: [
      {
        caption: 'Mean error (predicted minus expected percentile) by group',
        header: ['group', 'people', ...SCORES],
        rows: errors.map(({ name, size, errors: values }) => [
          name,
          String(size),
          ...values.map((value) => signed(value, 2)),
        ]),
      },
    ],
    figures: [
      {
        file: 'reliability.svg',
        caption: 'Reliability of the label probabilities: tenths of the people by probability',
        svg: plot({
          title: 'Reliability of the labels',
          x: 'probability of High, as predicted',
          y: 'probability of High, as expected',
          series: [
            ...LABELS.map((name, index) => ({
              name,
              points: reliability[index] ?? [],
              style: 'dots' as const,
            })),
            {
              name: 'perfect',
              points: [
                [0.3, 0.3],
                [0.7, 0.7],
              ] as const,
              style: 'dashed' as const,
            },
          ],
        }),
      },
    ],
    notes: [],
  };
}

/** People in tenths by predicted probability: mean predicted, mean expected. */
function reliabilityOf(predicted: Float64Array, expected: Float64Array): [number, number][] {
  const order = Array.from(predicted, (_, index) => index).toSorted(
    (a, b) => (predicted[a] ?? 0) - (predicted[b] ?? 0),
  );
  return Array.from({ length: 10 }, (_, tenth) => {
    const chosen = order.slice((tenth * order.length) / 10, ((tenth + 1) * order.length) / 10);
    return [mean(chosen.map((i) => predicted[i] ?? NaN)), mean(chosen.map((i) => expected[i] ?? NaN))];
  });
}
