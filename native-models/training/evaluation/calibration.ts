import type { Person } from '../cohort/person.js';
import { expectedOf, LABELS, rolledColumn, SCORES, type Context } from './context.js';
import { demand, fixed, isWithin, signed, type Section } from './section.js';
import { explained, mean, slope, take } from './statistics.js';

const AGE_BANDS = [18, 30, 45, 60, 200] as const;
const BMI_BANDS = [0, 20, 25, 30, 35, 200] as const;
const GROUP_LEAST = 1_500;
const ERROR_MOST = 2;
const PROBABILITY_MOST = 0.03;

/** A person, with the habit of the device worn on the last day. */
type Subject = Person & { readonly habit: string };

/** Point 2: scores are calibrated on average, by age and sex, and as probabilities. */
export function calibration(context: Context): Section {
  const { predicted, expected } = columnsOf(context);
  const slopes = SCORES.map((_, k) => slope(predicted(k), expected(k)));
  const groups = groupsOf(context, ({ sex, age }) => `${sex} ${band(AGE_BANDS, age)}`);
  const smallest = Math.min(...groups.map(({ chosen }) => chosen.length));
  const tenths = LABELS.map((_, index) => tenthsOf(predicted(4 + index), expected(4 + index)));
  const furthest = Math.max(...tenths.flat().map(([said, happened]) => Math.abs(said - happened)));
  return {
    number: 2,
    title: 'Calibration',
    why: 'Does what it says come true on average, in every group? A slope below 1 would mean that it says too much.',
    demands: [
      ...SCORES.map((name, k) => {
        const value = slopes[k] ?? NaN;
        return demand(`${name}: slope of expected on predicted 0.9 to 1.1`, fixed(value, 3), isWithin(value, 0.9, 1.1)); // prettier-ignore
      }),
      errorDemand('age × sex group', groups),
      demand(`at least ${GROUP_LEAST} people a group`, `smallest ${smallest}`, smallest >= GROUP_LEAST),
      demand(
        `probabilities reliable: tenths of the people within ${PROBABILITY_MOST}`,
        `furthest ${fixed(furthest, 3)}`,
        furthest <= PROBABILITY_MOST,
      ),
    ],
    tables: [
      {
        caption: 'Probability of High by tenth of the people: predicted | expected',
        header: ['', ...Array.from({ length: 10 }, (_, tenth) => String(tenth + 1))],
        rows: LABELS.map((name, index) => [
          name,
          ...(tenths[index] ?? []).map((pair) => pair.map((value) => fixed(value, 2)).join(' | ')),
        ]),
      },
    ],
  };
}

/** Point 10: equal quality for every group. */
export function subgroups(context: Context): Section {
  const groups = [
    groupsOf(context, ({ sex }) => `sex ${sex}`),
    groupsOf(context, ({ age }) => `age ${band(AGE_BANDS, age)}`),
    groupsOf(context, ({ bmi }) => `BMI ${band(BMI_BANDS, bmi)}`),
    groupsOf(context, ({ habit }) => `device ${habit}`),
  ].flat();
  const { predicted, expected } = columnsOf(context);
  return {
    number: 10,
    title: 'Subgroups',
    why: 'Is it as good for all kinds of people and devices? Rings, slow bands, phones and averages give no breathing rate by day.',
    demands: [errorDemand('group', groups)],
    tables: [
      {
        caption: 'Mean error in points (explained share) by group',
        header: ['group', 'people', ...SCORES],
        rows: groups.map(({ name, chosen, errors }) => [
          name,
          String(chosen.length),
          ...errors.map((error, k) => {
            const share = explained(take(expected(k), chosen), take(predicted(k), chosen));
            return `${signed(error, 2)} (${fixed(share, 3)})`;
          }),
        ]),
      },
    ],
  };
}

interface Group {
  readonly name: string;
  readonly chosen: Int32Array;
  /** Mean of predicted minus expected, by score. */
  readonly errors: readonly number[];
}

function columnsOf(context: Context) {
  return {
    predicted: (k: number) => rolledColumn(context.rollout, context, k),
    expected: (k: number) => expectedOf(context, k),
  };
}

/** People by name of their group, names in order. */
function groupsOf(context: Context, nameOf: (subject: Subject) => string): Group[] {
  const { people, devices } = context.people;
  const names = people.map((person, index) => nameOf({ ...person, habit: devices[index]?.habit ?? '' }));
  const { predicted, expected } = columnsOf(context);
  const misses = SCORES.map((_, k) => {
    const wanted = expected(k);
    return predicted(k).map((value, person) => value - (wanted[person] ?? NaN));
  });
  return [...new Set(names)].toSorted().map((name) => {
    const chosen = Int32Array.from(names.flatMap((other, person) => (other === name ? [person] : [])));
    return { name, chosen, errors: misses.map((miss) => mean(take(miss, chosen))) };
  });
}

/** `18–29` and, for the last band, `60+`. */
function band(starts: readonly number[], value: number): string {
  const index = starts.findIndex((start, at) => value >= start && value < (starts[at + 1] ?? Infinity));
  const start = starts[index] ?? NaN;
  return index >= starts.length - 2 ? `${start}+` : `${start}–${(starts[index + 1] ?? NaN) - 1}`;
}

function errorDemand(what: string, groups: readonly Group[]) {
  const [worst] = groups
    .flatMap(({ name, errors }) =>
      errors.map((error, k) => ({ where: `${name}, ${SCORES[k] ?? ''}`, error })),
    )
    .toSorted((a, b) => Math.abs(b.error) - Math.abs(a.error));
  return demand(
    `mean error within ±${ERROR_MOST} in every ${what}`,
    `largest ${signed(worst?.error ?? NaN, 2)} (${worst?.where ?? ''})`,
    Math.abs(worst?.error ?? NaN) <= ERROR_MOST,
  );
}

/** People in tenths by predicted probability: mean predicted, mean expected. */
function tenthsOf(predicted: Float64Array, expected: Float64Array): [number, number][] {
  const order = Int32Array.from(predicted.keys()).toSorted(
    (a, b) => (predicted[a] ?? 0) - (predicted[b] ?? 0),
  );
  return Array.from({ length: 10 }, (_, tenth) => {
    const chosen = order.slice((tenth * order.length) / 10, ((tenth + 1) * order.length) / 10);
    return [mean(take(predicted, chosen)), mean(take(expected, chosen))];
  });
}
