/** Rows of cells; the first row is the header. */
export type Rows = readonly (readonly string[])[];

export interface TextTableOptions {
  /** Columns that stand right, as numbers want; the first never does. */
  readonly alignsRight?: boolean;
  /** A line below the header. */
  readonly hasRule?: boolean;
}

/** Rows as aligned text. */
export function textTable(rows: Rows, { alignsRight = true, hasRule = true }: TextTableOptions = {}): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    widths
      .map((width, column) => {
        const cell = row[column] ?? '';
        return alignsRight && column > 0 ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  const [header = [], ...body] = rows;
  const rule = hasRule ? [widths.map((width) => '─'.repeat(width)).join('  ')] : [];
  return [line(header), ...rule, ...body.map(line)].join('\n');
}

/** Rows in Markdown; `alignsRight` for the columns behind the first. */
export function markdownTable([header = [], ...rows]: Rows, { alignsRight = false } = {}): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const rule = `|${header.map((_, column) => (alignsRight && column > 0 ? '--:' : '---')).join('|')}|`;
  return [line(header), rule, ...rows.map(line)].join('\n');
}
