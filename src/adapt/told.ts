import type { Left } from '#adapters/records.js';

/** What was not used, counted by its reason: an export of years has the same ones thousands of times. */
export class Told {
  readonly #kinds = new Map<string, { readonly first: string; count: number; nights: number }>();

  /** `night`: a whole night was left out for it. */
  add({ what, why }: Left, weight?: 'night'): void {
    // A reason may name another place.
    const kind = why.replaceAll(/\[\d+\]/g, '[…]');
    const known = this.#kinds.get(kind) ?? { first: what, count: 0, nights: 0 };
    known.count++;
    if (weight === 'night') known.nights++;
    this.#kinds.set(kind, known);
  }

  /** One for each kind, the most frequent first. */
  lines(written: number): string[] {
    const kinds = [...this.#kinds].toSorted(([, a], [, b]) => b.count - a.count);
    const nights = kinds.reduce((sum, [, one]) => sum + one.nights, 0);
    return [
      `${written} nights written${nights === 0 ? '' : `, ${nights} could not be`}`,
      ...kinds.map(
        ([why, { first, count, nights: lost }]) =>
          `${count} × ${why} (${count > 1 ? 'first ' : ''}${first})${lost === 0 ? '' : ': the night was left out'}`,
      ),
    ];
  }
}
