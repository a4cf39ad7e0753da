import { join } from 'node:path';
import type { Session } from '#acuity/contract/request.js';
import { PAST_MAX } from '#rules/fields.js';
import { COLUMN, type ServedModel } from '../../served.js';
import { follow } from '../requests.js';
import { demand, fixed, interval, isWithin } from '../section.js';
import { bootstrap, mean, meanEstimate } from '../statistics.js';
import { groupRows, numberOf, readCsv, type Row } from './csv.js';
import type { RealFinding } from './validationData.js';

/** Stress-Predict (Iqbal et al. 2022): 35 people, wrist heart rate each second at rest and in stress tasks. */
const FILE = 'stress_predict/Improved_All_Combined_hr_rsp_binary.csv';
/** The wrist device gives one value a second; a day series holds at most an hour of them. */
const SAMPLES_LEAST = 180;
const HOUR_S = 3_600;

export async function stressPredict(folder: string, model: ServedModel): Promise<RealFinding | undefined> {
  const rows = readCsv(join(folder, FILE));
  if (rows === undefined) return undefined;
  const changes: { hr: number; known: number }[] = [];
  for (const seconds of groupRows(rows, 'Participant').values()) {
    const rest = samples(seconds, 0);
    const task = samples(seconds, 1);
    if (rest.length < SAMPLES_LEAST * PAST_MAX || task.length < SAMPLES_LEAST) continue;
    const known = (await stressKnown(model, rest, task)) - (await stressKnown(model, rest, rest));
    changes.push({ hr: mean(task) - mean(rest), known });
  }
  const rise = meanEstimate(Float64Array.from(changes, ({ known }) => known));
  const hr = mean(changes.map((change) => change.hr));
  const faster = mean(changes.map((change) => (change.hr > 0 ? 1 : 0)));
  const most = bootstrap(changes.length, (chosen) =>
    mean([...chosen].map((i) => ((changes[i]?.known ?? 0) > 0 ? 1 : 0))),
  );
  return {
    demands: [
      demand(
        'Stress-Predict: stress tasks raise `stress` moderately (0.5 to 10 points)',
        interval(rise, 2),
        isWithin(rise.value, 0.5, 10),
        'coin and minutes asleep: 0',
      ),
      demand(
        'Stress-Predict: in most people (interval above half of them)',
        `${interval(most, 2)} of ${changes.length}`,
        most.low > 0.5,
        `coin 0.50; minutes asleep: the same; the heart rate itself rose in ${fixed(faster, 2)}, by ${fixed(hr, 1)} bpm on average`,
      ),
    ],
    tables: [],
  };
}

/** The latest hour with the given label, a sample a second. */
function samples(seconds: readonly Row[], label: number): number[] {
  return seconds
    .filter((row) => numberOf(row, 'Label') === label)
    .map((row) => numberOf(row, 'HR'))
    .filter((value) => isWithin(value, 30, 220))
    .slice(-HOUR_S);
}

/** With the person's rest, cut into five sessions, as history. */
async function stressKnown(
  model: ServedModel,
  rest: readonly number[],
  now: readonly number[],
): Promise<number> {
  const pieces = Array.from({ length: PAST_MAX }, (_, part) =>
    session(rest.slice((part * rest.length) / PAST_MAX, ((part + 1) * rest.length) / PAST_MAX)),
  );
  return (await follow(model, [...pieces, session(now)])).at(-1)?.[COLUMN.stress] ?? NaN;
}

function session(hr: readonly number[]): Session {
  return { HR_day_1h: [...hr], RR_day_1h: [], HR_night: [], RR_night: [] };
}
