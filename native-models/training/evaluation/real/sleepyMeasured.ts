import type { MeasuredConstants } from '#acuity/model/manifest.js';
import { adjusted, adjustmentOf, evidenceOf, latentOf, standingOf } from '#acuity/pipeline/measured.js';
import { COLUMN, recordOf, type ServedModel } from '../../served.js';
import { scoreAfter } from '../requests.js';
import { demand, interval } from '../section.js';
import { bootstrap, mean, type Estimate } from '../statistics.js';
import { sleepyTests, type Tested } from './sleepyBrain.js';
import type { RealFinding } from './validationData.js';

const FIELD = 'attention';

/** Mean error of one session of a person, judged with the test of the other one: percentile points. */
interface Errors {
  readonly always: number;
  readonly shrunk: number;
  readonly measured: number;
}

/** Real people: the speed of one session as the measurement of the other, each in turn. */
export async function sleepyMeasured(
  folder: string,
  model: ServedModel,
  { reliability: { [FIELD]: reliability } }: MeasuredConstants,
): Promise<RealFinding | undefined> {
  const pairs = await sleepyTests(folder, model);
  if (pairs === undefined) return undefined;
  const people: (readonly Errors[])[] = [];
  for (const [full, short] of pairs)
    people.push([await judge(full, short, model, reliability), await judge(short, full, model, reliability)]);
  const over = (of: (one: Errors) => number): Estimate =>
    bootstrap(people.length, (chosen) => mean([...chosen].flatMap((index) => (people[index] ?? []).map(of))));
  const [measured, always] = [over((one) => one.measured), over((one) => one.always)];
  const worse = over((one) => one.measured - one.shrunk);
  return {
    demands: [
      demand(
        'SleepyBrain, the other session’s speed as a measurement: mean error below always 50',
        `${interval(measured, 1)}; always 50: ${interval(always, 1)}`,
        measured.high < always.low,
      ),
      demand(
        'SleepyBrain: mean error not shown to be above that of the shrunk number alone (difference, interval not above 0)',
        interval(worse, 2),
        worse.low <= 0,
      ),
    ],
    tables: [],
    decisive: { 'SleepyBrain measured': measured.value, 'SleepyBrain always 50': always.value },
  };
}

/** Today with the other session before it and its test as a measurement, as a history would have both. */
async function judge(today: Tested, other: Tested, model: ServedModel, reliability: number): Promise<Errors> {
  const before = recordOf(await model.score({ current_session: other.session }));
  const scores = await scoreAfter(model, today.session, [other.session], [before]);
  const evidence = evidenceOf(
    standingOf(FIELD, other.percentile),
    latentOf(FIELD, before[FIELD]),
    reliability,
    1,
  );
  const adjustment = adjustmentOf(evidence);
  if (adjustment === undefined) throw new Error('a measurement without weight');
  const measured = adjusted(FIELD, scores[COLUMN[FIELD]] ?? NaN, adjustment.base, adjustment.scale);
  const error = (value: number): number => Math.abs(value - today.percentile);
  return {
    always: error(50),
    shrunk: error(50 + reliability * (other.percentile - 50)),
    measured: error(measured),
  };
}
