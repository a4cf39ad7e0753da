import { FEATURE_COUNT } from '#acuity/contract/features.js';
import { PAST_MAX } from '#rules/fields.js';
import { solve } from '../cohort/numeric.js';
import type { Population } from '../cohort/population.js';
import { LABELS, NAMES, SCORES, type Context } from './context.js';
import { lastOutcomes } from './rollout.js';
import { demand, fixed, interval, type Section } from './section.js';
import { bootstrap, explained, mean, meanAbsolute, take, type Estimate } from './statistics.js';

/** The people that the linear rival is fitted to: others than those who are judged. */
const FITTED = { people: 12_000, days: PAST_MAX + 1, firstId: 200_000 } as const;
/** Keeps the linear system solvable: shares of sleep stages sum to one. */
const RIDGE = 1e-3;

type Scores = readonly Float64Array[];

/** Point 1: how much of the differences between people on a day the network tells, beside a linear model. */
export function accuracy(context: Context): Section {
  const { people, scored } = context;
  const truth = lastOutcomes(people.truth, people);
  const ways: Readonly<Record<string, Scores>> = {
    'served, no history': scored.alone,
    'served, five sessions': scored.together,
    'linear, five sessions': linear(context),
    'always 50': NAMES.map(() => new Float64Array(people.people.length).fill(50)),
    'all causes known': scored.expected,
  };
  const shares = Object.values(ways).map((scores) =>
    SCORES.map((_, k) => shareOf(scored.expected, scores, k)),
  );
  const error = (scores: Scores, k: number): number => meanAbsolute(truth[k] ?? [], scores[k] ?? []);
  const ratio = (score: number): number =>
    (shares[1]?.[score]?.value ?? NaN) / (shares[2]?.[score]?.value ?? NaN);
  return {
    number: 1,
    title: 'Accuracy on people never seen',
    why: `How much of what makes people differ on a day does the network tell? Shares are small because the published effects are, so most scores lie near 50; “all causes known” is the ceiling, and intervals say nothing of the cohort being wrong. The linear model is fitted to ${FITTED.people} others, to today’s row and the mean of the five before.`,
    demands: SCORES.map((name, k) =>
      demand(
        `${name}, five sessions: at least the linear model’s share`,
        `${fixed(ratio(k), 2)} times`,
        ratio(k) >= 1,
      ),
    ),
    tables: [
      {
        caption:
          'Explained share of the percentile variance [95 %], and mean absolute error against what happened (points; of labels the share that is right)',
        header: ['', ...SCORES, 'errors', ...LABELS],
        rows: Object.entries(ways).map(([name, scores], way) => [
          name,
          ...(shares[way] ?? []).map((share) => interval(share, 4)),
          SCORES.map((_, k) => fixed(error(scores, k), 2)).join(', '),
          ...[4, 5].map((k) => fixed(mean((scores[k] ?? []).map(isRight(truth[k] ?? []))), 3)),
        ]),
      },
    ],
    figures: [
      [
        `Share of the differences between people on a day explained with five sessions, simulated people: ${SCORES.join(', ')}`,
        (shares[1] ?? []).map(({ value }) => `${fixed(100 * value, 1)} %`).join(', '),
      ],
      [
        'Mean error of attention, points; of always saying 50',
        ['served, five sessions', 'always 50'].map((way) => fixed(error(ways[way] ?? [], 0), 1)).join('; '),
      ],
    ],
  };
}

/** 1 where the likelier label is the drawn one. */
function isRight(truth: Scores[number] | readonly number[]): (chance: number, person: number) => number {
  return (chance, person) => (chance >= 0.5 === (truth[person] ?? NaN) > 0 ? 1 : 0);
}

function shareOf(expected: Scores, predicted: Scores, k: number): Estimate {
  const [wanted, found] = [expected[k] ?? new Float64Array(), predicted[k] ?? new Float64Array()];
  return bootstrap(wanted.length, (chosen) => explained(take(wanted, chosen), take(found, chosen)));
}

/** Ridge regression of what is to be expected on the rows: what a model without a hidden layer and past scores says. */
function linear({ world, people }: Context): Scores {
  const fitted = world.simulate(FITTED.people, FITTED.days, {}, FITTED.firstId);
  const expected = lastOutcomes(fitted.expected, fitted);
  const rows = inputsOf(fitted);
  const width = rows[0]?.length ?? 0;
  const normal = new Float64Array(width * width);
  const right = NAMES.map(() => new Float64Array(width));
  for (const [person, row] of rows.entries())
    for (let i = 0; i < width; i++) {
      const left = row[i] ?? 0;
      for (let j = 0; j < width; j++)
        normal[i * width + j] = (normal[i * width + j] ?? 0) + left * (row[j] ?? 0);
      for (const [k, sums] of right.entries())
        sums[i] = (sums[i] ?? 0) + left * (expected[k]?.[person] ?? NaN);
    }
  for (let i = 0; i < width; i++) normal[i * width + i] = (normal[i * width + i] ?? 0) + RIDGE * rows.length;
  const weights = right.map((sums) => solve(normal, sums));
  const judged = inputsOf(people);
  return weights.map((weight) =>
    Float64Array.from(judged, (row) => row.reduce((sum, value, at) => sum + value * (weight[at] ?? 0), 0)),
  );
}

/** Of everybody's last day: one, its row, and the mean of the rows of the five days before it. */
function inputsOf({ people, days, rows }: Population): Float64Array[] {
  return people.map((_, person) => {
    const inputs = new Float64Array(1 + 2 * FEATURE_COUNT);
    const from = (person * days + days - 1) * FEATURE_COUNT;
    inputs.set([1, ...rows.subarray(from, from + FEATURE_COUNT)]);
    for (let at = 0; at < PAST_MAX * FEATURE_COUNT; at++) {
      const place = 1 + FEATURE_COUNT + (at % FEATURE_COUNT);
      inputs[place] = (inputs[place] ?? 0) + (rows[from - PAST_MAX * FEATURE_COUNT + at] ?? 0) / PAST_MAX;
    }
    return inputs;
  });
}
