import { join } from 'node:path';
import type { Context } from '../context.js';
import { SCORES } from '../context.js';
import { columnOf, rollOut } from '../rollout.js';
import { demand, fixed, signed } from '../section.js';
import { mean, sd, slope } from '../statistics.js';
import { groupRows, numberOf, readCsv } from './csv.js';
import type { Finding } from './finding.js';

/** sleepstudy (Belenky et al. 2003): 18 people, reaction time after each night of 3 h in bed. */
const FILE = 'sleepstudy/lme4_sleepstudy.csv';
const PEOPLE = 1_000;
const NORMAL_DAYS = 8;
const NIGHTS = 8;
/** The file's days 0 to 2 are adaptation and training; restriction begins with the night after day 2. */
const FIRST_DAY = 2;

export async function sleepstudy(folder: string, { world, model }: Context): Promise<Finding | undefined> {
  const rows = readCsv(join(folder, FILE));
  if (rows === undefined) return undefined;
  const people = [...groupRows(rows, 'Subject').values()];
  const slopes = people.map((days) =>
    slope(
      days.map((d) => numberOf(d, 'Days')),
      days.map((d) => numberOf(d, 'Reaction')),
    ),
  );
  const reaction = Array.from({ length: NIGHTS }, (_, night) =>
    mean(
      rows
        .filter((row) => numberOf(row, 'Days') === FIRST_DAY + night)
        .map((row) => numberOf(row, 'Reaction')),
    ),
  );
  const days = NORMAL_DAYS + NIGHTS - 1;
  const population = world.simulate(PEOPLE, days, {
    isComplete: true,
    intervene: (day) => (day >= NORMAL_DAYS ? { inBedH: 3 } : {}),
  });
  const rollout = await rollOut(model, population);
  const attention = Array.from({ length: NIGHTS }, (_, night) =>
    mean(columnOf(rollout.scores, 7, 1, population, NORMAL_DAYS - 1 + night)),
  );
  const cause = Array.from({ length: NIGHTS }, (_, night) =>
    mean(columnOf(population.expected, 6, 0, population, NORMAL_DAYS - 1 + night)),
  );
  const falls = attention.every(
    (score, night) => night === 0 || night > 5 || score < (attention[night - 1] ?? 0),
  );
  const together = correlation(reaction, attention);
  return {
    demands: [
      demand(
        `sleepstudy: ${SCORES[0]} falls with each of five nights of 3 h`,
        attention.map((a) => fixed(a, 1)).join(' → '),
        falls,
      ),
      demand(
        'sleepstudy: course by day goes against reaction time (correlation below −0.8)',
        fixed(together, 2),
        together < -0.8,
      ),
    ],
    tables: [
      {
        caption: `sleepstudy: reaction time rises by ${fixed(mean(slopes), 1)} ms a day (person SD ${fixed(sd(slopes), 1)}, ${people.length} people); attention, served and expected, of ${PEOPLE} simulated people by nights of 3 h`,
        header: ['nights', ...reaction.map((_, night) => String(night))],
        rows: [
          ['reaction time, ms', ...reaction.map((ms) => fixed(ms, 0))],
          ['attention, served', ...attention.map((a) => fixed(a, 1))],
          ['attention, expected', ...cause.map((a) => fixed(a, 1))],
          [
            'change a night',
            '–',
            ...attention.slice(1).map((a, night) => signed(a - (attention[night] ?? NaN), 1)),
          ],
        ],
      },
    ],
    figures: [],
  };
}

function correlation(x: readonly number[], y: readonly number[]): number {
  return (slope(x, y) * sd(x)) / sd(y);
}
