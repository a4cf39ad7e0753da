import type { Table } from './section.js';

/** The table in Markdown, its caption above it. */
export function markdown({ caption, header, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const table = [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
  return caption === '' ? table : `${caption}:\n\n${table}`;
}
