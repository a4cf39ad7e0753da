/**
 * Bounds of a body's structure, outside of its strings: within them, the cost of reading grows only with its
 * bytes.
 */
export interface StructureBounds {
  /** Nesting depth of objects and arrays. */
  readonly levelsMax: number;
  /** Number of objects and arrays. */
  readonly bracketsMax: number;
  /** Number of strings, keys included. */
  readonly stringsMax: number;
}

export const STRUCTURE_BOUNDS: StructureBounds = { levelsMax: 64, bracketsMax: 10_000, stringsMax: 20_000 };

/** Most lines of a list of requests. */
export const LINES_MAX = 1_000;
