/** One run of `acuity judge`: rows scored, then judged. */
import { MEASURED_FIELDS } from '#rules/fields.js';
import type { LakeOptions } from '../lake/options.js';
import { scoreRows } from '../lake/score/score.js';
import type { Config } from '../config/options.js';
import { judge } from './judge.js';
import { judgeMeasured, type MeasuredOptions } from './measured.js';
import { NightRows } from './nightRows.js';
import { columnsOf, type Outcome } from './outcomes.js';
import { leftOut, type Bought, type Report } from './report.js';
import { EXIT } from '../base/process/exitCodes.js';

export interface JudgeOrder extends LakeOptions {
  readonly person: string;
  readonly order: string;
  readonly outcomes: readonly Outcome[];
  /** Outcomes used as measurements of their scores. */
  readonly measured: readonly Outcome[];
  readonly seed: number;
  readonly draws: number;
}

/** The result of `judgeRows`; without a report if there is nothing to judge, which was reported. */
export interface Judgement {
  /** 0; 65 if a row was bad or no night has an outcome; 64 for measurements that the model does not take. */
  readonly code: number;
  readonly report: Report | undefined;
}

/**
 * Scores nights like `acuity score`, with the same past, and judges the scores by the outcomes beside them. Exits the
 * process if not all rows can be read, with the code of `acuity score`.
 */
export async function judgeRows(config: Config, order: JudgeOrder): Promise<Judgement> {
  const { person, outcomes, measured, seed, draws } = order;
  const rows = new NightRows(outcomes, measured);
  const keep = [...new Set([...outcomes, ...measured].map(({ column }) => column))];
  const history = { person, order: order.order };
  const scoring = { ...order, keep, explain: false, late: 'bad', history, into: rows } as const;
  const { code, model, tally } = await scoreRows(config, scoring, 'acuity judge');
  const verdicts = judge(rows.nights, outcomes, { seed, draws });
  const empty = verdicts.find(({ nights }) => nights === 0);
  if (empty !== undefined) {
    const { column } = empty.outcome;
    const count = rows.unreadOf(column);
    const why = count === 0 ? 'give it on the nights that it is to be judged by' : leftOut(count);
    process.stderr.write(`acuity judge: no scored night has a number in ${column}: ${why}\n`);
    return { code: EXIT.data, report: undefined };
  }
  const { measured: constants, version } = model;
  if (constants === undefined && measured.length > 0) {
    process.stderr.write(`acuity judge: ${version} takes no measurements: leave out --measured\n`);
    return { code: EXIT.usage, report: undefined };
  }
  const unread = [...outcomes, ...measured].map(({ column }) => ({ column, count: rows.unreadOf(column) }));
  const bought = constants === undefined ? [] : boughtOf(measured, rows, { constants, seed, draws });
  const { scored, replaced } = rows;
  const figures = { scored, replaced, bad: tally.badLines, unread, verdicts, bought };
  return { code, report: { model: version, seed, draws, ...figures } };
}

function boughtOf(
  measured: readonly Outcome[],
  { nights }: NightRows,
  options: Omit<MeasuredOptions, 'field'>,
): Bought[] {
  return measured.map((outcome) => {
    const field = MEASURED_FIELDS.find((name) => name === outcome.score);
    if (field === undefined) throw new Error('not to be measured');
    const { outcome: value, score } = columnsOf(outcome);
    const taken = nights.take({ value, score, day: 'day' }, ['value', 'score', 'day']);
    return { outcome, verdict: judgeMeasured(taken, { ...options, field }) };
  });
}
