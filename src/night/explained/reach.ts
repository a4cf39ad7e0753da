import type { ExplainTable } from '../../model/manifest.js';

/**
 * How many points the ranges reach below the five scores, then above, after so many past sessions and with so many
 * fields missing; requests that lack more than the table knows share its last row.
 */
export function reachOf(
  { reach }: Pick<ExplainTable, 'reach'>,
  sessions: number,
  missing: number,
): readonly number[] {
  const rows = reach[sessions] ?? [];
  return rows[Math.min(missing, rows.length - 1)] ?? [];
}
