/** Bounds of what a body may be made of, outside of its strings: within them, reading it costs what its bytes cost. */
export interface StructureBounds {
  /** Objects and arrays in each other. */
  readonly levelsMax: number;
  /** Objects and arrays, all together. */
  readonly bracketsMax: number;
  /** Strings, keys included. */
  readonly stringsMax: number;
}

export const STRUCTURE_BOUNDS: StructureBounds = { levelsMax: 64, bracketsMax: 10_000, stringsMax: 20_000 };
