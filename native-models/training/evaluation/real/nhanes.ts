import type { Session } from '#acuity/contract/request.js';
import { COLUMN } from '../../served.js';
import type { Judged } from '../context.js';
import { demand, fixed, interval } from '../section.js';
import { addedShare, bootstrapOf, correlation, residual } from '../statistics.js';
import { numberOf, readCsv, type RealFinding } from './dataSet.js';

/** NHANES 2011–2014, people of 60 and over: three tests of cognition beside the pulse and hours slept as told. */
const FILE = 'nhanes/cognition.csv';

/** A test, and the score that is nearest to it. The pairs were chosen before any correlation was seen. */
const TESTS = [
  { name: 'digit symbol', column: 'dsst', score: 'attention' },
  { name: 'delayed recall', column: 'cerad_delayed', score: 'memory' },
  { name: 'animal fluency', column: 'animal_fluency', score: 'reasoning' },
] as const;

type Adult = Readonly<Record<'age' | 'woman' | 'pulse' | 'hours' | 'result' | 'score', number>>;

/** Whether a score made of pulse and hours slept goes with a test beyond age and sex. */
export async function nhanes(
  folder: string,
  { model }: Pick<Judged, 'model'>,
): Promise<RealFinding | undefined> {
  const rows = readCsv(folder, FILE);
  if (rows === undefined) return undefined;
  const tested = [];
  for (const { name, column, score } of TESTS) {
    const adults: Adult[] = [];
    for (const row of rows) {
      const [result, age, pulse, hours, education] = [column, 'age', 'pulse', 'sleep_hours', 'education'].map(
        (of) => numberOf(row, of),
      ) as [number, number, number, number, number];
      if (![result, age, pulse, hours, education].every(Number.isFinite)) continue;
      const sex = row.get('sex') === 'F' ? 'F' : 'M';
      const current_session: Session = { HR_day_1h: [pulse], sleepTimeSeconds: 3_600 * hours, age, sex };
      const scores = await model.score({ current_session });
      adults.push({
        result,
        age,
        woman: sex === 'F' ? 1 : 0,
        pulse,
        hours,
        score: scores[COLUMN[score]] ?? NaN,
      });
    }
    tested.push({
      name,
      score,
      people: adults.length,
      goesWith: bootstrapOf(adults, (chosen) =>
        correlation(
          residual(of(chosen, 'score'), base(chosen)),
          residual(of(chosen, 'result'), base(chosen)),
        ),
      ),
      both: bootstrapOf(adults, (chosen) => shareOf(chosen, [of(chosen, 'pulse'), ...bent(chosen, 'hours')])),
      own: bootstrapOf(adults, (chosen) => shareOf(chosen, [of(chosen, 'score')])),
    });
  }
  return {
    demands: tested.map(({ name, score, goesWith }) =>
      demand(
        `NHANES 60+: ${score} from pulse and hours slept goes with ${name} beyond age and sex (correlation, interval above 0; a coin 0)`,
        interval(goesWith, 2),
        goesWith.low > 0,
      ),
    ),
    figures: tested
      .slice(0, 1)
      .map(({ name, score, both, own }) => [
        `People of 60 and over (NHANES): share of a ${name} test, beyond age and sex, that goes with pulse and hours slept; with ${score} made of the two`,
        `${fixed(both.value, 1)} %; ${fixed(own.value, 1)} %`,
      ]),
  };
}

function of(adults: readonly Adult[], name: keyof Adult): number[] {
  return adults.map((adult) => adult[name]);
}

/** A line and its square: too little and too much may both be bad. */
function bent(adults: readonly Adult[], name: keyof Adult): number[][] {
  return [of(adults, name), of(adults, name).map((value) => value ** 2)];
}

const base = (adults: readonly Adult[]): number[][] => [...bent(adults, 'age'), of(adults, 'woman')];

/** In percent of the variance of the test, beyond age and sex. */
function shareOf(adults: readonly Adult[], more: number[][]): number {
  return 100 * addedShare(of(adults, 'result'), base(adults), more);
}
