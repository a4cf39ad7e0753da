/**
 * Counters, gauges and histograms in one shared array for each event loop. A loop writes its own array with plain
 * additions, which cost almost nothing; a reader sums all arrays, without messages or locks. Each array has one
 * writer, so no atomic operation is needed. A reader may see a histogram whose sum is one observation ahead of its
 * buckets, and nothing worse.
 */

/** Label names and all their values, in order: no part of a request can become a new label. */
export type Labels = Readonly<Record<string, readonly string[]>>;

interface Described {
  /** The name in Prometheus. */
  readonly name: string;
  readonly help: string;
  readonly labels?: Labels;
}

/** A counter only ever grows. `scale` converts recorded to exported units, for instance 0.001 for milliseconds. */
export interface PlainSpec extends Described {
  readonly type: 'counter' | 'gauge';
  readonly scale?: number;
  /** Exported for each event loop, under the label `loop`. */
  readonly eachLoop?: boolean;
}

/**
 * Buckets from 2^minExponent to 2^maxExponent of the recorded unit, 2^splitBits equal ones in each octave, plus an
 * open one at either end. `exportEvery`: every n-th bound is exported, which keeps a scrape small.
 */
export interface HistogramSpec extends Described {
  readonly type: 'histogram';
  readonly scale?: number;
  readonly minExponent: number;
  readonly maxExponent: number;
  readonly splitBits: number;
  readonly exportEvery: number;
}

export type MetricSpec = PlainSpec | HistogramSpec;
export type Catalogue = Readonly<Record<string, MetricSpec>>;

/** The names of all metrics of a type. */
export type KeysOfType<C extends Catalogue, Type extends MetricSpec['type']> = {
  [K in keyof C]: C[K]['type'] extends Type ? K : never;
}[keyof C] &
  string;

/** The label values of each cell; the last label varies fastest. */
export function labelSets(labels: Labels = {}): Readonly<Record<string, string>>[] {
  return Object.entries(labels).reduce<Record<string, string>[]>(
    (sets, [name, values]) => sets.flatMap((set) => values.map((value) => ({ ...set, [name]: value }))),
    [{}],
  );
}

/** Buckets of a histogram, including the open one at the top. */
export function bucketCount({ minExponent, maxExponent, splitBits }: HistogramSpec): number {
  return (maxExponent - minExponent) * 2 ** splitBits + 2;
}

/** The upper bound of a bucket in the recorded unit; bucket 0 starts at 0. */
export function bucketBound(spec: HistogramSpec, bucket: number): number {
  const { minExponent, splitBits } = spec;
  if (bucket >= bucketCount(spec) - 1) return Infinity;
  const split = 2 ** splitBits;
  const octave = Math.floor(bucket / split);
  return 2 ** (minExponent + octave) * (1 + (bucket % split) / split);
}

/** One cell of a histogram is its sum, then its buckets. */
function widthOf(spec: MetricSpec): number {
  return spec.type === 'histogram' ? 1 + bucketCount(spec) : 1;
}

/** Where each metric starts in the array of a loop, and how long that array is. */
function layoutOf(catalogue: Catalogue): { readonly first: ReadonlyMap<string, number>; length: number } {
  const first = new Map<string, number>();
  let length = 0;
  for (const [key, spec] of Object.entries(catalogue)) {
    first.set(key, length);
    length += labelSets(spec.labels).length * widthOf(spec);
  }
  return { first, length };
}

/** Zeroed memory for one event loop. */
export function allocateMetrics(catalogue: Catalogue): SharedArrayBuffer {
  return new SharedArrayBuffer(layoutOf(catalogue).length * Float64Array.BYTES_PER_ELEMENT);
}

/** Counters and gauges of one metric, by cell. */
export class Cells {
  constructor(
    private readonly values: Float64Array,
    private readonly first: number,
    private readonly spec: PlainSpec,
  ) {}

  add(cell: number, amount = 1): void {
    this.values[this.first + cell]! += amount; // cell < labelSets().length
  }

  set(cell: number, value: number): void {
    this.values[this.first + cell] = value;
  }

  /** Back to 0: Prometheus treats a falling counter as restarted. */
  clear(): void {
    this.values.fill(0, this.first, this.first + labelSets(this.spec.labels).length);
  }
}

/** The exponent and the leading mantissa bits of a float approximate its logarithm at no cost. */
const float = new Float32Array(1);
const bits = new Int32Array(float.buffer);
const MANTISSA_BITS = 23;
const EXPONENT_BIAS = 127;

/** Histograms of one metric, by cell. */
export class Histograms {
  private readonly shift: number;
  private readonly base: number;
  private readonly top: number;
  private readonly width: number;

  constructor(
    private readonly values: Float64Array,
    private readonly first: number,
    private readonly spec: HistogramSpec,
  ) {
    this.shift = MANTISSA_BITS - spec.splitBits;
    this.base = ((spec.minExponent + EXPONENT_BIAS) << spec.splitBits) - 1;
    this.top = bucketCount(spec) - 1;
    this.width = widthOf(spec);
  }

  /** Counts `value`, in the recorded unit; NaN and negative numbers count as 0. */
  observe(cell: number, value: number): void {
    const sound = value >= 0 ? value : 0;
    float[0] = sound;
    // One less than the bits: Prometheus counts a value on a bound in the bucket below it.
    const bucket = ((bits[0]! - 1) >> this.shift) - this.base; // a float of one element
    const at = this.first + cell * this.width;
    this.values[at]! += sound; // cell < labelSets().length, for the next line too
    this.values[at + 1 + (bucket < 0 ? 0 : bucket > this.top ? this.top : bucket)]! += 1;
  }

  /** Resets to no observations. */
  clear(): void {
    this.values.fill(0, this.first, this.first + labelSets(this.spec.labels).length * this.width);
  }
}

/** The counters of one event loop's writer, by the metrics' keys. */
export type Recorders<C extends Catalogue> = {
  readonly [K in keyof C]: C[K]['type'] extends 'histogram' ? Histograms : Cells;
};

export function recordersIn<C extends Catalogue>(catalogue: C, memory: SharedArrayBuffer): Recorders<C> {
  const values = new Float64Array(memory);
  const { first } = layoutOf(catalogue);
  const recorders = Object.entries(catalogue).map(([key, spec]) => {
    const at = first.get(key) ?? NaN;
    return [key, spec.type === 'histogram' ? new Histograms(values, at, spec) : new Cells(values, at, spec)];
  });
  return Object.fromEntries(recorders) as Recorders<C>;
}

/** The metrics of all event loops, for readers. */
export class MetricReader<C extends Catalogue> {
  private readonly loops: readonly Float64Array[];
  private readonly first: ReadonlyMap<string, number>;

  constructor(
    private readonly catalogue: C,
    memories: readonly ArrayBufferLike[],
  ) {
    this.loops = memories.map((memory) => new Float64Array(memory));
    this.first = layoutOf(catalogue).first;
  }

  get loopCount(): number {
    return this.loops.length;
  }

  /** A copy of the present values. */
  snapshot(): MetricReader<C> {
    return new MetricReader(
      this.catalogue,
      this.loops.map((values) => values.slice().buffer),
    );
  }

  /** The differences from an earlier snapshot. */
  since(before: MetricReader<C>): MetricReader<C> {
    const differences = this.loops.map((values, loop) =>
      Float64Array.from(values, (value, index) => value - (before.loops[loop]?.[index] ?? 0)),
    );
    return new MetricReader(
      this.catalogue,
      differences.map(({ buffer }) => buffer),
    );
  }

  /** A counter or gauge of one loop, as recorded. */
  ofLoop(loop: number, key: KeysOfType<C, 'counter' | 'gauge'>, cell = 0): number {
    return this.loops[loop]?.[this.at(key) + cell] ?? 0;
  }

  /** A counter or gauge, summed over the loops. */
  total(key: KeysOfType<C, 'counter' | 'gauge'>, cell = 0): number {
    return this.summed(this.at(key) + cell);
  }

  /** The sum of a histogram's observations, and the count in each bucket. */
  histogram(key: KeysOfType<C, 'histogram'>, cell = 0): { sum: number; buckets: Float64Array } {
    const spec = this.catalogue[key];
    if (spec?.type !== 'histogram') throw new TypeError(`${key} is no histogram`);
    const at = this.at(key) + cell * widthOf(spec);
    const buckets = new Float64Array(bucketCount(spec));
    for (let bucket = 0; bucket < buckets.length; bucket++) buckets[bucket] = this.summed(at + 1 + bucket);
    return { sum: this.summed(at), buckets };
  }

  private at(key: string): number {
    const first = this.first.get(key);
    if (first === undefined) throw new RangeError(`no metric ${key}`);
    return first;
  }

  private summed(index: number): number {
    let sum = 0;
    for (const values of this.loops) sum += values[index] ?? 0;
    return sum;
  }
}

/**
 * The quantile `q` of a histogram's observations in the recorded unit, assuming an even spread within a bucket. NaN
 * without observations; for the open bucket at the top, its lower bound.
 */
export function quantile(spec: HistogramSpec, buckets: ArrayLike<number>, q: number): number {
  let count = 0;
  for (let bucket = 0; bucket < buckets.length; bucket++) count += buckets[bucket] ?? 0;
  if (count === 0) return NaN;
  let rest = q * count;
  let lower = 0;
  for (let bucket = 0; bucket < buckets.length; bucket++) {
    const inside = buckets[bucket] ?? 0;
    const upper = bucketBound(spec, bucket);
    if (inside > 0 && rest <= inside)
      return upper === Infinity ? lower : lower + (upper - lower) * (rest / inside);
    rest -= inside;
    lower = upper === Infinity ? lower : upper;
  }
  return lower;
}
