import { ageBand, groupsBy, meanError, subjectsOf, type Subject } from './calibration.js';
import { expectedOf, rolledColumn, SCORES, type Context } from './context.js';
import { plot } from './plot.js';
import { demand, fixed, signed, type Section } from './section.js';
import { explained } from './statistics.js';

const KINDS: readonly { readonly name: string; readonly of: (subject: Subject) => string }[] = [
  { name: 'sex', of: ({ sex }) => `sex ${sex}` },
  { name: 'age', of: ({ age }) => `age ${ageBand(age)}` },
  { name: 'BMI', of: ({ bmi }) => `BMI ${bmiBand(bmi)}` },
  { name: 'device', of: ({ habit }) => `device ${habit}` },
];

function bmiBand(bmi: number): string {
  if (bmi < 20) return 'below 20';
  if (bmi < 25) return '20–25';
  if (bmi < 30) return '25–30';
  return bmi < 35 ? '30–35' : 'from 35';
}

/** Point 10: equal quality for every group. */
export function subgroups(context: Context): Section {
  const predicted = SCORES.map((_, k) => rolledColumn(context.rollout, context, k));
  const expected = SCORES.map((_, k) => expectedOf(context, k));
  const groups = KINDS.flatMap(({ of }) => [...groupsBy(subjectsOf(context.people), of)]).map(
    ([name, chosen]) => ({
      name,
      size: chosen.length,
      errors: SCORES.map((_, k) => meanError(predicted[k] ?? empty, expected[k] ?? empty, chosen)),
      shares: SCORES.map((_, k) =>
        explained(pick(expected[k] ?? empty, chosen), pick(predicted[k] ?? empty, chosen)),
      ),
    }),
  );
  const worst = groups
    .flatMap(({ name, errors }) => errors.map((error, k) => ({ name: `${name}, ${SCORES[k] ?? ''}`, error })))
    .toSorted((a, b) => Math.abs(b.error) - Math.abs(a.error))[0];
  return {
    number: 10,
    title: 'Subgroups',
    about: 'Is it as good for all kinds of people and devices?',
    demands: [
      demand(
        'mean error within ±2 in every group',
        `largest ${signed(worst?.error ?? NaN, 2)} (${worst?.name ?? ''})`,
        Math.abs(worst?.error ?? NaN) <= 2,
      ),
    ],
    tables: [
      {
        caption: 'Mean error in points (explained share) by group',
        header: ['group', 'people', ...SCORES],
        rows: groups.map(({ name, size, errors, shares }) => [
          name,
          String(size),
          ...errors.map((error, k) => `${signed(error, 2)} (${fixed(shares[k] ?? NaN, 3)})`),
        ]),
      },
    ],
    figures: [
      {
        file: 'subgroups.svg',
        caption: 'Mean error by group, in the order of the table',
        svg: plot({
          title: 'Mean error by group',
          x: 'group, in the order of the table',
          y: 'mean error, points',
          yRange: [-3, 3],
          series: SCORES.map((name, k) => ({
            name,
            style: 'dots' as const,
            points: groups.map(({ errors }, index) => [index + 1, errors[k] ?? NaN] as const),
          })),
        }),
      },
    ],
    notes: ['Rings, slow bands, phones and averages give no breathing rate by day.'],
  };
}

const empty = new Float64Array(0);

function pick(values: Float64Array, chosen: readonly number[]): Float64Array {
  return Float64Array.from(chosen, (index) => values[index] ?? NaN);
}
