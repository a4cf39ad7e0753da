import { markdownTable } from '#acuity/base/table.js';
import type { Trial } from './part.js';

/** The result of a part. */
export interface PartOutcome {
  readonly name: string;
  readonly seconds: number;
  readonly trials: readonly Trial[];
}

export function rowsOf(outcomes: readonly PartOutcome[]): string[][] {
  const rows = outcomes.flatMap(({ name, trials }) => trials.map((trial) => [name, ...cellsOf(trial)]));
  return [['group', 'tried', 'times', 'held', 'figure'], ...rows];
}

function cellsOf({ what, tried, held, figure, skipped }: Trial): string[] {
  if (skipped !== undefined) return [what, '', 'not tried', skipped];
  return [what, tried.toLocaleString('en'), tried === held ? 'all' : held.toLocaleString('en'), figure];
}

/** The document with new sections for these parts; those of parts not run stay unchanged. */
export function withOutcomes(document: string, outcomes: readonly PartOutcome[], machine: string): string {
  return outcomes.reduce((text, outcome) => withOutcome(text, outcome, machine), document);
}

function withOutcome(document: string, outcome: PartOutcome, machine: string): string {
  const { name, seconds } = outcome;
  const [start, end] = [`<!-- torture ${name}`, `<!-- /torture ${name} -->`];
  const [from, to] = [document.indexOf(start), document.indexOf(end)];
  if (from === -1 || to === -1) throw new Error(`no place for the part ${name} in the document`);
  const table = markdownTable(rowsOf([outcome]).map(([, ...cells]) => cells));
  const section = `${start}: npm run faults -- ${name} --docs -->\n${table}\n\n${seconds} s; ${machine}.\n`;
  return document.slice(0, from) + section + document.slice(to);
}
