/** Tables as text and as Markdown. */

/** Rows of cells; the first row is the header. */
export type Rows = readonly (readonly string[])[];

export interface TextTableOptions {
  /** Right-aligns all columns but the first, for numbers. */
  readonly alignsRight?: boolean;
  /** A rule below the header. */
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

/** Rows as a Markdown table; `alignsRight` applies to all columns after the first. */
export function markdownTable([header = [], ...rows]: Rows, { alignsRight = false } = {}): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const rule = `|${header.map((_, column) => (alignsRight && column > 0 ? '--:' : '---')).join('|')}|`;
  return [line(header), rule, ...rows.map(line)].join('\n');
}

/** Groups of three digits, in any locale. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
