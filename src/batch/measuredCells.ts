import { UNPROCESSABLE, type Finding } from '../contract/problems.js';
import { measurementFindings } from '../reading/exact.js';
import type { GivenMeasurement } from '../records/request.js';
import type { MeasuredColumn } from './measuredColumns.js';
import type { RowProblem } from './page.js';

/**
 * The measurements in a row's cells, for its night. `cell` returns a number, a text, or null or undefined for none; a
 * reliability without a value is ignored.
 */
export function measuredCells(
  columns: readonly MeasuredColumn[],
  cell: (name: string) => unknown,
): readonly GivenMeasurement[] | RowProblem {
  const given: GivenMeasurement[] = [];
  const findings: Finding[] = [];
  for (const { score, name, reliability: column } of columns) {
    const value = cell(name) ?? undefined;
    if (value === undefined) continue;
    const reliability = (column === undefined ? undefined : cell(column)) ?? undefined;
    const frame = { score, value, ...(reliability === undefined ? {} : { reliability }) };
    const wrong = measurementFindings(frame, ['body']);
    for (const [field, { msg, type }] of wrong)
      findings.push({ loc: ['body', field === 'reliability' ? (column ?? name) : name], msg, type });
    if (wrong.size === 0)
      given.push({
        score,
        value: value as GivenMeasurement['value'],
        day: NaN,
        reliability: reliability as number | undefined,
      });
  }
  return findings.length === 0 ? given : { status: UNPROCESSABLE.status, detail: findings };
}
