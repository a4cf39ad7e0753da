import type { Estimate } from './statistics.js';

/** One point of the evaluation, ready for the card. */
export interface Section {
  readonly number: number;
  readonly title: string;
  /** The question that the point answers, in a sentence. */
  readonly about?: string;
  /** Each demand with what was found; the point holds where all of them do. */
  readonly demands: readonly Demand[];
  readonly tables: readonly Table[];
  readonly figures: readonly Figure[];
  readonly notes: readonly string[];
  /** Figures that the top of the card is made of, by name. */
  readonly decisive?: Readonly<Record<string, number>>;
}

export interface Demand {
  readonly demand: string;
  readonly found: string;
  /** Undefined where it could not be tested here. */
  readonly holds: boolean | undefined;
  /** What a useless predictor gets: a coin, the minutes asleep as they are. A demand that it passes is none. */
  readonly useless?: string;
}

export interface Table {
  readonly caption: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Figure {
  readonly file: string;
  readonly caption: string;
  readonly svg: string;
}

export function demand(text: string, found: string, holds: boolean | undefined, useless?: string): Demand {
  return { demand: text, found, holds, ...(useless === undefined ? {} : { useless }) };
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
