import { LABELS, SCORES, type Context } from './context.js';
import { plot } from './plot.js';
import type { Population } from '../cohort/population.js';
import { rollOut, type Rollout } from './rollout.js';
import { demand, fixed, signed, type Section } from './section.js';
import { mean, sd } from './statistics.js';

const PEOPLE = 300;
const DAYS = 365;
const EARLY = [10, 60] as const;
const LATE = [300, 365] as const;
/** Over a year nearly everybody changes once; a month says more. */
const YEAR_DAYS = DAYS - EARLY[0];
const MONTH_DAYS = 30;
/** A share this small may be a handful of people. */
const NEGLIGIBLE = 0.005;
const FORGED_DAYS = 5;
const WIDTH = 7;

/** Point 7: the service's own scores fed back for a year change neither level nor spread, and lock no label. */
export async function closedLoop({ world, model }: Context): Promise<Section> {
  const population = world.simulate(PEOPLE, DAYS);
  const fed = await rollOut(model, population);
  const alone = await rollOut(model, population, { sessions: 0 });
  const unfed = await rollOut(model, population, { targets: alone.targets });
  const levels = SCORES.map((name, k) => {
    const early = window(fed, population, EARLY, 1 + k);
    const late = window(fed, population, LATE, 1 + k);
    return { name, drift: mean(late) - mean(early), spread: sd(late) / sd(early) };
  });
  const locked = LABELS.map((name, index) => ({
    name,
    year: [fed, unfed, alone].map((rollout) => unchanged(rollout, population, 5 + index, YEAR_DAYS)),
    month: [fed, unfed, alone].map((rollout) => unchanged(rollout, population, 5 + index, MONTH_DAYS)),
  }));
  const decay = await forgedDecay(model, population, fed);
  return {
    number: 7,
    title: 'Closed loop over a year',
    about: 'What happens where a caller sends the network’s own scores back for a year?',
    demands: [
      ...levels.map(({ name, drift }) =>
        demand(`${name}: days 300–365 within ±3 of days 10–60`, signed(drift, 2), Math.abs(drift) <= 3),
      ),
      ...levels.map(({ name, spread }) =>
        demand(
          `${name}: spread within ±30 %`,
          signed(100 * (spread - 1), 1) + ' %',
          Math.abs(spread - 1) <= 0.3,
        ),
      ),
      ...locked.flatMap(({ name, year, month }) => [
        demandUnlocked(`${name}: people whose label never changes`, year),
        demandUnlocked(`${name}: months without a change`, month),
      ]),
    ],
    tables: [
      {
        caption:
          'Share of stretches in which a person’s label stays the same, % of people over the year | % of months',
        header: ['', 'scores fed back', 'five sessions, nothing fed back', 'no history'],
        rows: locked.map(({ name, year, month }) => [
          name,
          ...year.map((share, way) => `${percent(share)} | ${percent(month[way] ?? NaN)}`),
        ]),
      },
      {
        caption:
          'Five forged targets of 100 on the first five days: mean excess over the honest course, points',
        header: ['days later', ...SCORES],
        rows: [1, 5, 10, 20, 40].map((later) => [
          String(later),
          ...SCORES.map((_, k) => signed(decay[k]?.[later - 1] ?? NaN, 1)),
        ]),
      },
    ],
    figures: [
      {
        file: 'closed-loop.svg',
        caption: 'Mean scores of three hundred people over a year of feeding scores back',
        svg: plot({
          title: 'A year in the closed loop',
          x: 'day',
          y: 'mean score',
          yRange: [40, 60],
          series: SCORES.map((name, k) => ({
            name,
            points: Array.from(
              { length: Math.floor(DAYS / 5) },
              (_, at) => [at * 5, mean(window(fed, population, [at * 5, at * 5 + 5], 1 + k))] as const,
            ),
          })),
        }),
      },
    ],
    notes: [
      '“Nothing fed back” sends the same five sessions with targets that were scored without history. This comparison was chosen after the first one, with days scored alone (the last column), had fallen short for months of valence. History by itself makes labels steadier, since it shows habits.',
    ],
  };
}

function window(
  { scores }: Rollout,
  { people }: Population,
  [from, to]: readonly [number, number],
  column: number,
): Float64Array {
  const values = new Float64Array(people.length * (to - from));
  let at = 0;
  for (let person = 0; person < people.length; person++) {
    for (let day = from; day < to; day++)
      values[at++] = scores[(person * DAYS + day) * WIDTH + column] ?? NaN;
  }
  return values;
}

function demandUnlocked(what: string, [fed = NaN, unfed = NaN]: readonly number[]) {
  const found = `${percent(fed)} % against ${percent(unfed)} %`;
  return demand(`${what}: at most twice those without feedback`, found, fed <= 2 * unfed + NEGLIGIBLE);
}

function percent(share: number): string {
  return fixed(100 * share, 1);
}

/** Share of stretches of `length` days in which a person's label stays the same throughout. */
function unchanged({ scores }: Rollout, { people }: Population, column: number, length: number): number {
  const stretches = Math.floor((DAYS - EARLY[0]) / length);
  let same = 0;
  for (let person = 0; person < people.length; person++) {
    for (let stretch = 0; stretch < stretches; stretch++) {
      const first = (person * DAYS + EARLY[0] + stretch * length) * WIDTH + column;
      const isHigh = (scores[first] ?? 0) >= 0.5;
      let day = 1;
      while (day < length && (scores[first + day * WIDTH] ?? 0) >= 0.5 === isHigh) day++;
      if (day === length) same++;
    }
  }
  return same / (people.length * stretches);
}

/** Mean excess of each score by days after the forgery. */
async function forgedDecay(
  model: Context['model'],
  population: Population,
  honest: Rollout,
): Promise<number[][]> {
  const forged = await rollOut(model, population, {
    forge: (day) => (day < FORGED_DAYS ? [2, 2, 2, 2, 2, 1, 1] : undefined),
  });
  return SCORES.map((_, k) =>
    Array.from({ length: 40 }, (_d, later) => {
      const range = [FORGED_DAYS + later, FORGED_DAYS + later + 1] as const;
      return mean(window(forged, population, range, 1 + k)) - mean(window(honest, population, range, 1 + k));
    }),
  );
}
