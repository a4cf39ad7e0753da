import type { ServedModel } from '../served.js';
import { dayColumn, expectedOf, LABELS, rolledColumn, SCORES, truthOf, type Context } from './context.js';
import { rollOut, scoreDay } from './rollout.js';
import { demand, fixed, interval, type Demand, type Section, type Table } from './section.js';
import { auc, bootstrap, explained, meanAbsolute, take, type Estimate } from './statistics.js';

/** How much of the large network's explained share the served one must reach. */
const SHARE_OF_LARGE = 0.9;
const COARSE = 60;

type Column = (k: number) => Float64Array;
interface Judged {
  readonly name: string;
  readonly alone: Column;
  readonly together: Column;
  /** Explained share of each score with five sessions. */
  readonly shares: readonly Estimate[];
}

/** Point 1: explained share, AUC and error on people never seen, beside rivals where they are trained. */
export async function accuracy(context: Context): Promise<Section> {
  const { people } = context;
  const judged = [judgedOf(context, 'served', context.alone, context.rollout)];
  for (const [name, model] of context.rivals) judged.push(await judge(context, name, model));
  const [served] = judged;
  if (served === undefined) throw new Error('nothing judged');
  const always50 = new Float64Array(people.people.length).fill(50);
  const error = (column: Float64Array, k: number): number => meanAbsolute(truthOf(context, k), column);
  return {
    number: 1,
    title: 'Accuracy on people never seen',
    why: `How much of what makes people differ on a day does the network tell? ${people.people.length} people who had no part in choosing it. The shares are small because the published effects are: so most scores lie near 50. Intervals are over simulated people; they say nothing of the cohort being wrong. The large rival is no ceiling; “all causes known” is.`,
    demands: [rival(served, judged, 'linear', 1), rival(served, judged, 'large', SHARE_OF_LARGE)].flat(),
    tables: [
      sharesTable(context, judged),
      {
        caption: 'Mean absolute error against what happened (traits and noise included), points',
        header: ['', ...SCORES],
        rows: [
          ['always 50', ...SCORES.map((_, k) => fixed(error(always50, k), 2))],
          ...judged.map(({ name, together }) => [
            `${name}, five sessions`,
            ...SCORES.map((_, k) => fixed(error(together(k), k), 2)),
          ]),
        ],
      },
    ],
    decisive: Object.fromEntries(
      SCORES.flatMap((name, k) => [
        [`${name} explained`, served.shares[k]?.value ?? NaN],
        [`${name} error`, error(served.together(k), k)],
        [`${name} error of always 50`, error(always50, k)],
      ]),
    ),
  };
}

async function judge(context: Context, name: string, model: ServedModel): Promise<Judged> {
  const rollout = await rollOut(model, context.people);
  return judgedOf(
    context,
    name,
    await scoreDay(model, context.people, rollout.targets, context.day, 0),
    rollout,
  );
}

function judgedOf(context: Context, name: string, alone: Float32Array, rollout: Context['rollout']): Judged {
  const together: Column = (k) => rolledColumn(rollout, context, k);
  const shares = SCORES.map((_, k) => shareOf(expectedOf(context, k), together(k)));
  return { name, alone: (k) => dayColumn(alone, k), together, shares };
}

function shareOf(expected: Float64Array, predicted: Float64Array): Estimate {
  return bootstrap(expected.length, (chosen) => explained(take(expected, chosen), take(predicted, chosen)));
}

/** Each score's share over a rival's: at least `least`. */
function rival(served: Judged, judged: readonly Judged[], name: string, least: number): Demand[] {
  const other = judged.find((one) => one.name === name);
  const what = `at least ${least} of the ${name} rival’s share`;
  if (other === undefined)
    return [demand(what, 'not trained here: `npm run model:evaluate -- --rivals` does', undefined)];
  return SCORES.map((score, k) => {
    const ratio = (served.shares[k]?.value ?? NaN) / (other.shares[k]?.value ?? NaN);
    return demand(`${score}: ${what}`, fixed(ratio, 2), ratio >= least);
  });
}

function sharesTable(context: Context, judged: readonly Judged[]): Table {
  const area = (column: Column, k: number): string => {
    const [values, truth] = [column(k), truthOf(context, k)];
    return interval(bootstrap(truth.length, (chosen) => auc(take(values, chosen), take(truth, chosen)), COARSE), 3); // prettier-ignore
  };
  const row = (name: string, column: Column): string[] => [
    name,
    ...SCORES.map((_, k) => interval(shareOf(expectedOf(context, k), column(k)), 4)),
    ...LABELS.map((_, index) => area(column, SCORES.length + index)),
  ];
  return {
    caption:
      'Explained share of the percentile variance, past targets rolled out, and AUC of the labels, High against Low as drawn [95 % interval]',
    header: ['', ...SCORES, ...LABELS.map((name) => `${name}, AUC`)],
    rows: [
      ...judged.flatMap(({ name, alone, together }) => [
        row(`${name}, no history`, alone),
        row(`${name}, five sessions`, together),
      ]),
      row('all causes known', (k) => expectedOf(context, k)),
    ],
  };
}
