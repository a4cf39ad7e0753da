/**
 * A seeded stream of random numbers (sfc32). Streams are addressed by a path of integers, so a change to one day of
 * one person leaves all other draws unchanged: paired comparisons share their noise.
 */
export class Random {
  private a = 0;
  private b = 0;
  private c = 0;
  private counter = 1;
  private spare = NaN;

  constructor(...path: readonly number[]) {
    this.reseed(...path);
  }

  /** Restarts as the stream addressed by `path`. */
  reseed(...path: readonly number[]): void {
    let hash = 0x9e3779b9;
    for (const part of path) hash = mix(hash ^ mix((part | 0) + 0x7f4a7c15));
    this.a = mix(hash + 1);
    this.b = mix(hash + 2);
    this.c = mix(hash + 3);
    this.counter = 1;
    this.spare = NaN;
    for (let round = 0; round < 12; round++) this.bits();
  }

  /** Uniform on [0, 1). */
  uniform(): number {
    return this.bits() / 4_294_967_296;
  }

  /** Normal with the given mean and standard deviation (polar method, two at a time). */
  normal(mean = 0, sd = 1): number {
    const spare = this.spare;
    if (spare === spare) {
      this.spare = NaN;
      return mean + sd * spare;
    }
    for (;;) {
      const x = 2 * this.uniform() - 1;
      const y = 2 * this.uniform() - 1;
      const square = x * x + y * y;
      if (square >= 1 || square === 0) continue;
      const scale = Math.sqrt((-2 * Math.log(square)) / square);
      this.spare = y * scale;
      return mean + sd * x * scale;
    }
  }

  /** `count` different ones of `items`, each as likely as the others. */
  some<Item>(items: readonly Item[], count: number): Item[] {
    const left = [...items];
    return Array.from({ length: count }, () =>
      left.splice(Math.floor(this.uniform() * left.length), 1),
    ).flat() as Item[];
  }

  chance(probability: number): boolean {
    return this.uniform() < probability;
  }

  /** An index of `weights`, each as likely as its weight; the weights sum to 1. */
  pick(weights: readonly number[]): number {
    let left = this.uniform();
    for (let index = 0; index < weights.length - 1; index++) {
      left -= weights[index] ?? 0;
      if (left < 0) return index;
    }
    return weights.length - 1;
  }

  private bits(): number {
    const sum = (this.a + this.b + this.counter++) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = ((this.c << 21) | (this.c >>> 11)) + sum;
    return sum >>> 0;
  }
}

/** Murmur3's finaliser. */
function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) | 0;
}
