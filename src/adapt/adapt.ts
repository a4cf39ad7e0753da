/** Writes the nights of exports as requests, and says what was not used: `acuity adapt`. */
import type { Adapted, AdapterOptions } from '#adapters/adapt.js';
import type { Provider } from '#adapters/recording.js';
import type { Left } from '#adapters/records.js';
import { print } from '../base/process/print.js';
import { Nights } from './nights.js';
import { sourceOf } from './sources.js';

export interface AdaptOptions extends AdapterOptions {
  readonly provider: Provider;
  readonly files: readonly string[];
  /** Stands in each line, for `acuity score --person`. */
  readonly name: string | undefined;
}

/**
 * Writes a request for each night of the files to standard output, oldest first, and what was not used to standard
 * error.
 * @returns how many nights were written
 * @throws OperatorError if a file is not one of the provider's, OutputError
 */
export async function adaptFiles({ provider, files, name, ...options }: AdaptOptions): Promise<number> {
  const told = new Told();
  const source = sourceOf(provider, files, options, (left) => told.add(left));
  const nights = new Nights(source.sleeps(), options);
  for (const sample of source.samples()) nights.add(sample);
  for (const one of nights.left) told.add(one);
  const lines = { written: 0 };
  for (const line of linesOf(nights, told, lines, name)) await print(line);
  for (const line of told.lines(lines.written)) process.stderr.write(`acuity adapt: ${line}\n`);
  return lines.written;
}

function* linesOf(
  nights: Nights,
  told: Told,
  count: { written: number },
  name: string | undefined,
): Generator<string> {
  for (const night of nights.sessions()) {
    if (isLeft(night)) {
      told.add(night, 'night');
      continue;
    }
    for (const one of night.left) told.add(one);
    count.written++;
    yield lineOf(night, name);
  }
}

function isLeft(one: Adapted | Left): one is Left {
  return 'why' in one;
}

function lineOf({ at, night, session }: Adapted, name: string | undefined): string {
  return `${JSON.stringify({ ...(name !== undefined && { person: name }), night, at, current_session: session })}\n`;
}

/** Unused data, counted by its reason: an export of years has the same ones thousands of times. */
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
