import { PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';
import type { ExplainTable } from '#acuity/model/explainTable.js';
import { fixed, type Section, type Table } from './section.js';

const TOLD = ['attention', 'stress'] as const;

/** What each further night earns: shown in the appendix of the card and in docs/SCORES.md. */
export function nightsTable(sections: readonly Section[], table: ExplainTable | undefined): Table {
  const figures = decisiveOf(sections);
  const nights = Array.from({ length: PAST_MAX + 1 }, (_, count) => count);
  const row = (what: string, of: (count: number) => number, digits: number): string[] => [
    what,
    ...nights.map((count) => told(of(count), digits)),
  ];
  return {
    caption: '',
    header: ['past nights sent', ...nights.map(String)],
    rows: TOLD.flatMap((name) => {
      const limit = (count: number): number =>
        table?.notable.lastNights.changes[count]?.[SCORE_FIELDS.indexOf(name)] ?? NaN;
      return [
        row(`${name}: distance from what is to be expected`, (count) => figures.get(distanceAfter(name, count)) ?? NaN, 1), // prettier-ignore
        row(`${name}: nine ordinary days in ten stay so near to a day like the last nights`, limit, 1),
      ];
    }),
  };
}

/** The name of a decisive figure of point 3. */
export function distanceAfter(score: string, nights: number): string {
  return `${score} distance after ${nights}`;
}

export function decisiveOf(sections: readonly Section[]): Map<string, number> {
  return new Map(sections.flatMap((section) => Object.entries(section.decisive ?? {})));
}

/** A figure that was not made, as without the data it needs, is a dash. */
export function told(value: number, digits: number): string {
  return Number.isFinite(value) ? fixed(value, digits) : '–';
}
