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
  /** Number of numbers, strings that are no keys, `true`, `false` and `null`; only where each becomes a value. */
  readonly scalarsMax?: number;
}

export const STRUCTURE_BOUNDS: StructureBounds = { levelsMax: 64, bracketsMax: 10_000, stringsMax: 20_000 };

/**
 * Inside a recording: a day of heart rate every five seconds has 17,000 samples, which some providers write as two
 * objects and five strings each.
 */
export const RECORDING_BOUNDS: Required<StructureBounds> = {
  levelsMax: 64,
  bracketsMax: 200_000,
  stringsMax: 600_000,
  scalarsMax: 400_000,
};

/** Most lines of a list of requests. */
export const LINES_MAX = 1_000;
