/** The nights of an export, and of its samples those within them, in little memory. */
import { sessionOfNight, windowOf, type Adapted, type AdapterOptions } from '#adapters/adapt.js';
import { everyNight, type Night } from '#adapters/choose.js';
import type { Field } from '#adapters/field.js';
import { AdapterError } from '#adapters/adapterError.js';
import { firstFrom } from '#adapters/ordered.js';
import type { Left, Records, SleepRecord } from '#adapters/records.js';
import { Series } from '#adapters/series.js';
import { UnitError } from '#adapters/unitChecks.js';

export type Signal = 'heart' | 'breath';

/** A sample of a signal; `source`: of a device that not every sleep is of. */
export interface Sample {
  readonly signal: Signal;
  readonly atMs: number;
  readonly value: number;
  /** Named if the samples can't be right. */
  readonly field: Field;
  readonly source?: string | undefined;
}

/** Moments and values in turn: a sample in 16 bytes. */
interface Numbers {
  readonly field: Field;
  readonly source: string | undefined;
  readonly values: number[];
}

interface OfNight {
  readonly night: Night;
  readonly heart: Map<string | undefined, Numbers>;
  readonly breath: Map<string | undefined, Numbers>;
}

/** They are in the order of their ends. */
function endOf({ night }: OfNight): number {
  return night.toMs;
}

/**
 * The nights of a person, and of all samples only those within them, as numbers: years of an export fit into memory.
 * Samples are added in any order; then each night is made into its session.
 */
export class Nights {
  readonly left: readonly Left[];
  readonly #options: AdapterOptions;
  readonly #nights: readonly OfNight[];

  /** @throws AdapterError if the zone is unknown */
  constructor(sleeps: readonly SleepRecord[], options: AdapterOptions) {
    const { nights, left } = everyNight(sleeps, windowOf(options, undefined));
    this.#options = options;
    this.#nights = nights.map((night) => ({ night, heart: new Map(), breath: new Map() }));
    this.left = left;
  }

  add(sample: Sample): void {
    // Nights of two devices may overlap a little: a sample may lie in two of them.
    for (let at = firstFrom(sample.atMs, this.#nights, endOf); at < this.#nights.length; at++) {
      const one = this.#nights[at];
      if (one === undefined || one.night.fromMs > sample.atMs) return;
      const { source, field, signal } = sample;
      let numbers = one[signal].get(source);
      if (numbers === undefined) one[signal].set(source, (numbers = { field, source, values: [] }));
      numbers.values.push(sample.atMs, sample.value);
    }
  }

  /** Each night's session, oldest first, or why it has none. */
  *sessions(): Generator<Adapted | Left> {
    const window = windowOf(this.#options, undefined);
    for (const { night, heart, breath } of this.#nights) {
      const beside = { heart: seriesOf(heart), breath: seriesOf(breath) };
      try {
        yield sessionOfNight(night, this.#options, window, beside);
      } catch (error) {
        if (!(error instanceof AdapterError || error instanceof UnitError)) throw error;
        yield { what: night.parts[0].field.place, why: error.sentence };
      }
      heart.clear();
      breath.clear();
    }
  }
}

/** All samples of some records. */
export function* samplesOf({ heart = [], breath = [] }: Pick<Records, Signal>): Generator<Sample> {
  for (const [signal, all] of [
    ['heart', heart],
    ['breath', breath],
  ] as const) {
    for (const series of all) {
      const { field, source, readings } = series.detached();
      for (const { at, value } of readings()) yield { signal, atMs: at, value, field, source };
    }
  }
}

function seriesOf(all: ReadonlyMap<string | undefined, Numbers>): Series[] {
  return [...all.values()].map(({ field, source, values }) => {
    const sample = (_: unknown, index: number) => ({
      at: values[2 * index] ?? NaN,
      value: values[2 * index + 1],
    });
    return new Series(field, () => Array.from({ length: values.length / 2 }, sample), source);
  });
}
