import { TABLE } from '../cohort/parameters.js';
import type { ServedModel } from '../served.js';
import { lastDayScores, rolledColumn, SCORES, type Context } from './context.js';
import { plot } from './plot.js';
import { columnOf, rollOut } from './rollout.js';
import { demand, fixed, signed, type Section } from './section.js';
import { mean, meanAbsolute, sd, slope } from './statistics.js';

const PEOPLE = 1_000;
const NORMAL_DAYS = 8;
const DAYS = 13;

interface Variant {
  readonly name: string;
  readonly columns: readonly Float64Array[];
  readonly restriction: readonly number[];
}

/** Point 11: how strongly the scores depend on effect sizes that the literature leaves open. */
export async function assumptions(context: Context): Promise<Section> {
  const served: Variant = {
    name: 'as published',
    columns: SCORES.map((_, k) => rolledColumn(context.rollout, context, k)),
    restriction: await restriction(context, context.model),
  };
  const variants = [
    await variantOf(context, 'effects halved', context.rivals.half),
    served,
    await variantOf(context, 'effects doubled', context.rivals.double),
  ];
  const ordered = SCORES.every((_, k) => {
    const spreads = variants.map(({ columns }) => sd(columns[k] ?? empty));
    return spreads.every((spread, index) => index === 0 || spread > (spreads[index - 1] ?? 0));
  });
  return {
    number: 11,
    title: 'Assumptions',
    about: 'How far would scores move if effects were half as large as published, or twice?',
    demands: [
      demand(
        'networks of cohorts with halved and doubled effects compared',
        '2 retrained',
        variants.length === 3,
      ),
      demand(
        'the spread of scores follows the assumed effects, on every score',
        ordered ? 'ordered' : 'not ordered',
        ordered,
      ),
    ],
    tables: [
      {
        caption:
          'The same people scored by networks of other cohorts: spread of scores | mean distance to the served score | correlation with it | five nights of 4 h against 8 h',
        header: ['cohort', ...SCORES],
        rows: variants.map(({ name, columns, restriction: change }) => [
          name,
          ...SCORES.map((_, k) => {
            const column = columns[k] ?? empty;
            const own = served.columns[k] ?? empty;
            const distance = meanAbsolute(column, own);
            const together = (slope(own, column) * sd(own)) / sd(column);
            return `${fixed(sd(column), 1)} | ${fixed(distance, 1)} | ${fixed(together, 2)} | ${signed(change[k] ?? NaN, 1)}`;
          }),
        ]),
      },
      {
        caption: 'Links that rest on an assumption, not on a measured size',
        header: ['parameter', 'value', 'unit', 'meaning'],
        rows: Object.entries(TABLE)
          .filter(([name, { source }]) => isAssumed(name, source))
          .map(([name, { value, unit, meaning }]) => [`\`${name}\``, fixed(value, 3), unit, meaning]),
      },
    ],
    figures: [
      {
        file: 'assumptions.svg',
        caption: 'Five nights of 4 h against 8 h under halved, published and doubled effects',
        svg: plot({
          title: 'Sensitivity to the assumed effect sizes',
          x: 'factor on the effects (logarithm to base 2)',
          y: 'change of the mean score, points',
          series: SCORES.map((name, k) => ({
            name,
            points: variants.map(({ restriction: change }, index) => [index - 1, change[k] ?? NaN] as const),
          })),
        }),
      },
    ],
    notes: ['The other networks are fitted to smaller cohorts (16,000 people) in one round.'],
  };
}

/** Links to scores without a measured size, and all between efficiency, vagal tone, BMI and cognition. */
function isAssumed(name: string, source: string): boolean {
  const isLink = /^(attention|memory|reasoning|stress|valence|arousal)/.test(name);
  return (
    name.endsWith('Vagal') || (isLink && (source.includes('assumption') || /(Efficiency|Bmi)$/.test(name)))
  );
}

const empty = new Float64Array(0);

async function variantOf(context: Context, name: string, model: ServedModel): Promise<Variant> {
  const { people, day } = context;
  const rollout = await rollOut(model, people);
  return {
    name,
    columns: SCORES.map((_, k) => columnOf(rollout.scores, 7, 1 + k, people, day)),
    restriction: await restriction(context, model),
  };
}

async function restriction({ world }: Context, model: ServedModel): Promise<number[]> {
  const after = async (inBedH: number): Promise<Float64Array[]> => {
    const intervene = (day: number) => (day >= NORMAL_DAYS ? { inBedH } : {});
    return lastDayScores(model, world.simulate(PEOPLE, DAYS, { isComplete: true, intervene }));
  };
  const [short, long] = [await after(4), await after(8)];
  return SCORES.map((_, k) => mean(short[k] ?? empty) - mean(long[k] ?? empty));
}
