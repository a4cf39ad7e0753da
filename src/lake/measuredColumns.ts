import { MEASURED_FIELDS, type MeasuredField } from '#rules/fields.js';
import { nearestName } from '#rules/nearest.js';
import { UNPROCESSABLE, type Finding } from '../contract/problems.js';
import { measurementFindings } from '../reading/measurementReader.js';
import type { GivenMeasurement } from '../records/request.js';
import type { RowProblem } from './errors.js';

/** A column with measurements for the night of its row. */
export interface MeasuredColumn {
  readonly score: MeasuredField;
  /** As written in the input. */
  readonly name: string;
  /** The column of its reliability, if any. */
  readonly reliability: string | undefined;
}

const PREFIX = 'measured_';
const RELIABILITY = '_reliability';
const LETTERS_WRONG = 3;
const NAMES: readonly string[] = MEASURED_FIELDS.flatMap((field) => [
  PREFIX + field,
  PREFIX + field + RELIABILITY,
]);

/** The measured columns among `names`. */
export function measuredColumns(names: readonly string[]): MeasuredColumn[] {
  const find = (known: string): string | undefined => names.find((name) => name.toLowerCase() === known);
  return MEASURED_FIELDS.flatMap((score) => {
    const name = find(PREFIX + score);
    return name === undefined ? [] : [{ score, name, reliability: find(PREFIX + score + RELIABILITY) }];
  });
}

/** The remark on an unknown name with a known prefix; undefined for any other name. */
export function measuredSlip(name: string): string | undefined {
  const small = name.toLowerCase();
  if (!small.startsWith(PREFIX) || NAMES.includes(small)) return undefined;
  const near = nearestName(small, NAMES, LETTERS_WRONG);
  const meant = near === undefined ? `such columns are ${NAMES.join(', ')}` : `did you mean ${near}?`;
  return `the column ${name} is not known, and ignored: ${meant}`;
}

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
