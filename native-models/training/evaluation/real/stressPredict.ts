import { join } from 'node:path';
import type { ScoreRecord, Session } from '#acuity/contract/request.js';
import { recordOf, type ServedModel } from '../../served.js';
import { demand, fixed, interval, isWithin, signed } from '../section.js';
import { bootstrap, mean, meanEstimate } from '../statistics.js';
import { groupRows, numberOf, readCsv, type Row } from './csv.js';
import type { RealFinding } from './finding.js';

/** Stress-Predict (Iqbal et al. 2022): 35 people, wrist heart rate each second at rest and in stress tasks. */
const FILE = 'stress_predict/Improved_All_Combined_hr_rsp_binary.csv';
/** The wrist device gives one value a second; a day series holds at most an hour of them. */
const PAST = 5;
const SAMPLES_LEAST = 180;
const HOUR_S = 3_600;

export async function stressPredict(folder: string, model: ServedModel): Promise<RealFinding | undefined> {
  const rows = readCsv(join(folder, FILE));
  if (rows === undefined) return undefined;
  const changes: { hr: number; alone: number; known: number }[] = [];
  for (const seconds of groupRows(rows, 'Participant').values()) {
    const rest = samples(seconds, 0);
    const task = samples(seconds, 1);
    if (rest.length < SAMPLES_LEAST * PAST || task.length < SAMPLES_LEAST) continue;
    const alone = (await stress(model, task)) - (await stress(model, rest));
    const known = (await stressKnown(model, rest, task)) - (await stressKnown(model, rest, rest));
    changes.push({ hr: mean(task) - mean(rest), alone, known });
  }
  const rise = meanEstimate(Float64Array.from(changes, ({ known }) => known));
  const hr = mean(changes.map((change) => change.hr));
  const faster = changes.filter((change) => change.hr > 0);
  const raised = faster.filter(({ known }) => known > 0).length / faster.length;
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
        `${fixed(most.value, 2)} [${fixed(most.low, 2)}, ${fixed(most.high, 2)}] of ${changes.length}`,
        most.low > 0.5,
        `coin 0.50; minutes asleep: the same; the heart rate itself rose in ${fixed(faster.length / changes.length, 2)}`,
      ),
    ],
    tables: [
      {
        caption: 'Stress-Predict, heart rate only',
        header: [
          'people',
          'heart rate in the tasks',
          'stress, rest known as five sessions',
          'stress, no history',
          'raised among those whose heart rate rose',
        ],
        rows: [
          [
            String(changes.length),
            `${signed(hr, 1)} bpm`,
            signed(rise.value, 2),
            signed(mean(changes.map(({ alone }) => alone)), 2),
            `${fixed(100 * raised, 0)} %`,
          ],
        ],
      },
    ],
    figures: [],
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

async function stress(model: ServedModel, hr: readonly number[]): Promise<number> {
  return (await model.score({ current_session: session(hr) }))[4] ?? NaN;
}

/** With the person's rest, cut into five sessions, as history. */
async function stressKnown(
  model: ServedModel,
  rest: readonly number[],
  now: readonly number[],
): Promise<number> {
  const sessions: Session[] = [];
  const targets: ScoreRecord[] = [];
  for (let part = 0; part < PAST; part++) {
    const piece = session(rest.slice((part * rest.length) / PAST, ((part + 1) * rest.length) / PAST));
    const past = part === 0 ? {} : { past_sessions: [...sessions], past_targets: [...targets] };
    targets.push(recordOf(await model.score({ current_session: piece, ...past })));
    sessions.push(piece);
  }
  const scores = await model.score({
    current_session: session(now),
    past_sessions: sessions,
    past_targets: targets,
  });
  return scores[4] ?? NaN;
}

function session(hr: readonly number[]): Session {
  return { HR_day_1h: [...hr], RR_day_1h: [], HR_night: [], RR_night: [] };
}
