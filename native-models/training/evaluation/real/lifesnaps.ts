import type { Session } from '#acuity/contract/request.js';
import { EXPLANATION } from '#acuity/contract/explanation.js';
import { PAST_MAX } from '#rules/fields.js';
import { Lives } from '../../cohort/lives.js';
import { COLUMN, type Explain } from '../../served.js';
import { SCORES, type Judged } from '../context.js';
import { demand, fixed, isWithin } from '../section.js';
import { correlation, mean, quantile } from '../statistics.js';
import { groupRows, levelOf, numberOf, orNull, readCsv, type RealFinding, type Row } from './dataSet.js';

/** LifeSnaps (Yfantidou et al. 2022): 48 people, months of daily summaries of a wrist device. */
const FILE = 'lifesnaps/daily.csv';
/** The own median is that of so many days before. */
const MEDIAN_DAYS = 20;
/** A day this far from the own median is clearly below it. */
const CLEARLY = 5;

/** One day's attention in points: against the own median, and against each reference day. */
interface Told {
  readonly deviation: number;
  readonly nights: number;
  readonly usual: number;
}

/** The recorded days of each person, as sessions, in their order; undefined where the data are not there. */
export function lifesnapsLives(folder: string): Session[][] | undefined {
  const rows = readCsv(folder, FILE);
  return rows && [...groupRows(rows, 'id').values()].map((days) => days.map(sessionOf).filter(isRecorded));
}

function isRecorded({ HR_night, sleepTimeSeconds }: Session): boolean {
  return (HR_night?.length ?? 0) > 0 || typeof sleepTimeSeconds === 'number';
}

/** Whether scores of real days lie where they should, and are told against what is usual as they lie. */
export async function lifesnaps(
  folder: string,
  { model, bundle: { explain } }: Judged,
): Promise<RealFinding | undefined> {
  const people = lifesnapsLives(folder);
  if (people === undefined || explain === undefined) return undefined;
  const explained = model.explainer(explain);
  const scores = SCORES.map((): number[] => []);
  const told: Told[] = [];
  for (const sessions of people) {
    const lives = Lives.read(sessions);
    await lives.rollOut(model);
    const targetOf = (day: number, column: number): number => lives.targets[day * 7 + column] ?? NaN;
    for (const day of sessions.keys()) {
      for (const [k, name] of SCORES.entries()) scores[k]?.push(targetOf(day, COLUMN[name]));
      if (day < MEDIAN_DAYS) continue;
      const before = Array.from({ length: MEDIAN_DAYS }, (_, back) =>
        targetOf(day - 1 - back, COLUMN.attention),
      );
      const changeOf = async (request: Parameters<Explain>[0]): Promise<number> => {
        const { scores: found, floats } = await explained(request);
        return (found[COLUMN.attention] ?? NaN) - (floats[EXPLANATION.reference + COLUMN.attention] ?? NaN);
      };
      told.push({
        deviation: targetOf(day, COLUMN.attention) - quantile(before, 0.5),
        nights: await changeOf(lives.request(0, day, PAST_MAX)),
        usual: await changeOf(lives.requestWithUsual(0, day, PAST_MAX)),
      });
    }
  }
  const medians = scores.map((of) => quantile(of, 0.5));
  const worse = told.filter(({ deviation }) => deviation <= -CLEARLY);
  // In whole points, as sentences tell it.
  const toldBetter = (of: 'nights' | 'usual'): number =>
    mean(worse.map((day) => (Math.round(day[of]) > 0 ? 1 : 0)));
  const goesWith = (of: 'nights' | 'usual'): number =>
    correlation(
      told.map(({ deviation }) => deviation),
      told.map((day) => day[of]),
    );
  return {
    demands: [
      demand(
        'LifeSnaps: the median of each score over the real days lies between 45 and 55 (so does always 50: this is about level, not skill)',
        SCORES.map((name, k) => `${name} ${fixed(medians[k] ?? NaN, 1)}`).join(', '),
        medians.every((value) => isWithin(value, 45, 55)),
      ),
      demand(
        `LifeSnaps: of days at least ${CLEARLY} points below the own median of the last ${MEDIAN_DAYS} at most 10 % are told to be above usual`,
        `${fixed(100 * toldBetter('usual'), 1)} % of ${worse.length}; against the last nights ${fixed(100 * toldBetter('nights'), 1)} %, a coin 50 %`,
        toldBetter('usual') <= 0.1,
      ),
      demand(
        'LifeSnaps: correlation of `change` against usual with that deviation at least .6, against the last nights below .5',
        `${fixed(goesWith('usual'), 2)}; against the last nights ${fixed(goesWith('nights'), 2)}, a coin 0`,
        goesWith('usual') >= 0.6 && goesWith('nights') < 0.5,
      ),
    ],
    figures: [],
  };
}

/** A daily summary as a session: a value a series, sleep in minutes, no stages. */
function sessionOf(row: Row): Session {
  const gender = row.get('gender');
  const seconds = (name: string): number | null => orNull(60 * numberOf(row, name, 0, 1_440));
  return {
    HR_day_1h: levelOf(row, 'bpm', 30, 200),
    HR_night: levelOf(row, 'nremhr', 30, 120),
    RR_night: levelOf(row, 'full_sleep_breathing_rate', 5, 30),
    sleepTimeSeconds: seconds('minutesAsleep'),
    awakeSleepSeconds: seconds('minutesAwake'),
    // The study gives age in two bands only.
    age: row.get('age') === '<30' ? 26 : row.get('age') === '>=30' ? 36 : null,
    sex: gender === 'MALE' ? 'M' : gender === 'FEMALE' ? 'F' : null,
  };
}
