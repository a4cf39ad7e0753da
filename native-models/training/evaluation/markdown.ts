import { markdownTable } from '#acuity/base/table.js';
import type { Table } from './section.js';

/** The table in Markdown, its caption above it. */
export function markdown({ caption, header, rows }: Table): string {
  const table = markdownTable([header, ...rows]);
  return caption === '' ? table : `${caption}:\n\n${table}`;
}
