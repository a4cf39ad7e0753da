import { markdown } from './markdown.js';
import type { Section } from './section.js';

export type Verdict = 'holds' | 'falls short' | 'not tested';

/** A point holds where each demand that could be tested does. */
export function verdictOf({ demands }: Section): Verdict {
  if (demands.some(({ holds }) => holds === false)) return 'falls short';
  return demands.some(({ holds }) => holds === true) ? 'holds' : 'not tested';
}

/** The points as plain text, each demand with what was found. */
export function summaryTable(sections: readonly Section[]): string {
  const lines = sections.flatMap((section) => [
    `${String(section.number).padStart(2)}  ${section.title.padEnd(48)} ${verdictOf(section)}`,
    ...section.demands.map(({ demand, found, holds, useless }) => {
      const mark = holds === undefined ? '–' : holds ? '✓' : '✗';
      return `      ${mark} ${demand}: ${found}${useless === undefined ? '' : ` (useless: ${useless})`}`;
    }),
  ]);
  return `${lines.join('\n')}\n`;
}

/** The tables of some points, as the card would hold them. */
export function tablesOf(sections: readonly Section[]): string {
  const tables = sections.flatMap((section) => section.tables.map((table) => markdown(table)));
  return `\n${tables.join('\n\n')}\n`;
}
