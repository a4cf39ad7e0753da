import { join } from 'node:path';
import { SCORES, type Context } from '../context.js';
import { correlation } from '../leastSquares.js';
import { columnOf, rollOut } from '../rollout.js';
import { demand, fixed } from '../section.js';
import { mean, sd, slope } from '../statistics.js';
import { groupRows, numberOf, readCsv, type Row } from './csv.js';
import type { RealFinding } from './validationData.js';

/** sleepstudy (Belenky et al. 2003): 18 people, reaction time after each night of 3 h in bed. */
const FILE = 'sleepstudy/lme4_sleepstudy.csv';
const PEOPLE = 1_000;
const NORMAL_DAYS = 5;
/** As there: three nights of 8 h in bed for training, then seven of 3 h; working people. */
const ADAPTATION = { nights: 3, inBedH: 8 } as const;
const RESTRICTION = { nights: 7, inBedH: 3 } as const;
const AGES = { ageMin: 24, ageMax: 62 } as const;
/** The file's days 0 to 2 follow the rested nights; restriction begins with the night after day 2. */
const FIRST_DAY = 2;
/** Twice or half the fall of the data still counts as its size. */
const FACTOR = 2;

export async function sleepstudy(folder: string, context: Context): Promise<RealFinding | undefined> {
  const rows = readCsv(join(folder, FILE));
  if (rows === undefined) return undefined;
  const people = [...groupRows(rows, 'Subject').values()];
  const slopes = people.map((days) => slope(days.map((d) => numberOf(d, 'Days')), days.map((d) => numberOf(d, 'Reaction')))); // prettier-ignore
  const nights = Array.from({ length: RESTRICTION.nights + 1 }, (_, night) => night);
  const reaction = nights.map((night) => mean(reactionsOn(rows, FIRST_DAY + night)));
  const { attention, expected, asleepH } = await simulated(context);
  const data = percentilesOf(rows, nights);
  const fall = (course: readonly number[]): number[] =>
    course.slice(1).map((value) => (course[0] ?? NaN) - value);
  const ratios = fall(data).map((real, night) => real / (fall(attention)[night] ?? NaN));
  const falls = attention.every(
    (score, night) => night === 0 || night > 5 || score < (attention[night - 1] ?? 0),
  );
  const [together, alone] = [correlation(reaction, attention), correlation(reaction, asleepH)];
  return {
    demands: [
      demand(
        `sleepstudy: ${SCORES[0]} falls with each of five nights of 3 h`,
        attention.map((a) => fixed(a, 1)).join(' → '),
        falls,
        'coin: once in 120; minutes asleep: only with the first',
      ),
      demand(
        'sleepstudy: course by day goes against reaction time (correlation below −0.8)',
        fixed(together, 2),
        together < -0.8,
        `coin 0; minutes asleep ${fixed(alone, 2)}`,
      ),
      demand(
        `sleepstudy: fall in percentiles of the data over the served fall, night by night, within a factor of ${FACTOR}`,
        ratios.map((ratio) => fixed(ratio, 1)).join(', '),
        ratios.every((ratio) => ratio <= FACTOR && ratio >= 1 / FACTOR),
        'coin: no fall; minutes asleep: no unit of a score',
      ),
    ],
    tables: [
      {
        caption: `sleepstudy: reaction time rises by ${fixed(mean(slopes), 1)} ms a day (person SD ${fixed(sd(slopes), 1)}, ${people.length} people); attention of ${PEOPLE} simulated people by nights of 3 h`,
        header: ['nights', ...nights.map(String)],
        rows: [
          ['reaction time, ms', ...reaction.map((ms) => fixed(ms, 0))],
          ['mean percentile among the rested days', ...data.map((value) => fixed(value, 1))],
          ['attention, served', ...attention.map((a) => fixed(a, 1))],
          ['attention, expected', ...expected.map((a) => fixed(a, 1))],
        ],
      },
    ],
  };
}

/** Simulated people in the same protocol: mean attention, served and expected, and hours asleep, by night. */
async function simulated({ world, model }: Context) {
  const first = NORMAL_DAYS + ADAPTATION.nights;
  const days = first + RESTRICTION.nights;
  const population = world.simulate(PEOPLE, days, {
    isComplete: true,
    parameters: AGES,
    intervene: (day) =>
      day < NORMAL_DAYS ? {} : { inBedH: day < first ? ADAPTATION.inBedH : RESTRICTION.inBedH },
  });
  const rollout = await rollOut(model, population);
  const by = (values: Float32Array, width: number, column: number): number[] =>
    Array.from({ length: RESTRICTION.nights + 1 }, (_, night) =>
      mean(columnOf(values, width, column, population, first - 1 + night)),
    );
  const asleepH = Array.from({ length: RESTRICTION.nights + 1 }, (_, night) =>
    night === 0 ? ADAPTATION.inBedH : RESTRICTION.inBedH,
  );
  return { attention: by(rollout.scores, 7, 1), expected: by(population.expected, 6, 0), asleepH };
}

function reactionsOn(rows: readonly Row[], day: number): number[] {
  return rows.filter((row) => numberOf(row, 'Days') === day).map((row) => numberOf(row, 'Reaction'));
}

/**
 * What a score means, of the data: of the rested days of everybody in the study, how many were slower. The rested days
 * themselves are 50 on average.
 */
function percentilesOf(rows: readonly Row[], nights: readonly number[]): number[] {
  const rested = [0, 1, 2].flatMap((day) => reactionsOn(rows, day));
  return nights.map((night) =>
    night === 0
      ? 50
      : mean(reactionsOn(rows, FIRST_DAY + night).map((reaction) => percentileAmong(rested, reaction))),
  );
}

function percentileAmong(rested: readonly number[], reaction: number): number {
  return 100 * mean(rested.map((other) => (other > reaction ? 1 : other === reaction ? 0.5 : 0)));
}
