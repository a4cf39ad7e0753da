import { markdownTable } from '#acuity/base/table.js';
import type { Estimate } from './statistics.js';

/** One point of the evaluation, ready for the card. */
export interface Section {
  readonly number: number;
  readonly title: string;
  /** Why the point is there, and what its table needs to be read. */
  readonly why: string;
  /** Each demand with what was found; the point holds where all of them do. */
  readonly demands: readonly Demand[];
  readonly tables: readonly Table[];
  /** Lines of the card's first page: what, and what was found. */
  readonly figures?: readonly (readonly [what: string, found: string])[];
}

export interface Demand {
  readonly demand: string;
  readonly found: string;
  /** Undefined where it could not be tested here. */
  readonly holds: boolean | undefined;
}

export interface Table {
  readonly caption: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export type Verdict = 'holds' | 'falls short' | 'not tested';

export function demand(text: string, found: string, holds: boolean | undefined): Demand {
  return { demand: text, found, holds };
}

/** A point holds where each demand that could be tested does. */
export function verdictOf({ demands }: Pick<Section, 'demands'>): Verdict {
  if (demands.some(({ holds }) => holds === false)) return 'falls short';
  return demands.some(({ holds }) => holds === true) ? 'holds' : 'not tested';
}

export function tableOf({ header, rows }: Omit<Table, 'caption'>): string {
  return markdownTable([header, ...rows]);
}

/** A point as the appendix holds it and the command prints it. */
export function markdownSection({ number, title, why, demands, tables }: Section): string {
  const rows = demands.map((one) => {
    const verdict = verdictOf({ demands: [one] });
    return [one.demand, one.found, verdict === 'falls short' ? `**${verdict}**` : verdict];
  });
  return [
    `## ${number}. ${title}`,
    why,
    markdownTable([['demand', 'found', ''], ...rows]),
    ...tables.map((table) => `${table.caption}:\n\n${tableOf(table)}`),
  ].join('\n\n');
}

/** −0 reads badly. */
export function fixed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text.replace('-', '−');
}

export function signed(value: number, digits: number): string {
  const text = fixed(value, digits);
  return value > 0 && Number(text) !== 0 ? `+${text}` : text;
}

export function interval({ value, low, high }: Estimate, digits: number): string {
  return `${fixed(value, digits)} [${fixed(low, digits)}, ${fixed(high, digits)}]`;
}

export function isWithin(value: number, low: number, high: number): boolean {
  return value >= low && value <= high;
}
