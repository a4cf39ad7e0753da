/** The shared memory of limits: an entry for each key, which its lock guards, and marks of the entries that changed. */

/*
 * A header, one entry of 64 bytes for each keyIndex (Int32 cells on the left, Float64 on the right), and one bit for
 * each keyIndex: whether its entry changed since `takeChanged`.
 *
 *   header   keysMax │ replicas
 *   entry    lock │ day │ used │ most's day │ spent (tokens) │ settledMs │ taken │ day before │ used │ earlier day │ used │ most │ spent day
 *   marks    a bit for each entry
 */
const ENTRY_BYTES = 64;
const ENTRY_CELLS = ENTRY_BYTES / 4;
const KEYS_MAX = 0;
const REPLICAS = 1;
const MARKS_IN_CELL = 32;
const LOCK = 0;
const FREE = 0;
const HELD = 1;
const SPINS_MAX = 1000;
/** Naps of 1 ms. */
const NAPS_MAX = 100;

/** Clock readings of two threads differ by less than this; a larger step back means that the clock was set back. */
export const SET_BACK_MS = 1000;

/** Entries, marks and header, for the classes that use them. */
export class LimitsMemory {
  readonly keysMax: number;
  /** An entry's begin at its first cell, its readings at half of that. All exist: the keyring assigns the keyIndexes. */
  readonly cells: Int32Array;
  readonly readings: Float64Array;
  /** The first cell of the mark bits. */
  private readonly marks: number;

  /** Unused keyIndexes cost no physical memory: the system maps zeroed pages at the first write. */
  static allocate(keysMax: number): SharedArrayBuffer {
    // Fixed length: in Node 20, views on growable memory are several times slower to read.
    const memory = new SharedArrayBuffer(
      (keysMax + 1) * ENTRY_BYTES + Math.ceil(keysMax / MARKS_IN_CELL) * Int32Array.BYTES_PER_ELEMENT,
    );
    new Int32Array(memory)[KEYS_MAX] = keysMax;
    return memory;
  }

  /** On memory from `allocate`, made by this thread or received from another. */
  constructor(readonly memory: SharedArrayBuffer) {
    this.cells = new Int32Array(memory);
    this.keysMax = this.cells[KEYS_MAX] ?? 0;
    this.marks = (this.keysMax + 1) * ENTRY_CELLS;
    this.readings = new Float64Array(memory, 0, this.marks / 2);
  }

  /** By how many replicas a quota is divided on a day of which nothing was read yet; 0 means 1. */
  get replicas(): number {
    return this.cells[REPLICAS]!; // always there
  }

  set replicas(count: number) {
    this.cells[REPLICAS] = count;
  }

  /**
   * Returns the keyIndex's first cell. Hold the lock for well under a microsecond. One that is held for longer belongs
   * to a thread that lost its processor, or ended. It is taken over after some time: that may cost one count, where
   * waiting would stop every event loop for good.
   */
  lock(keyIndex: number): number {
    const first = (keyIndex + 1) * ENTRY_CELLS;
    for (let tries = 0; tries < SPINS_MAX + NAPS_MAX; tries++) {
      if (Atomics.compareExchange(this.cells, first + LOCK, FREE, HELD) === FREE) break;
      if (tries >= SPINS_MAX) Atomics.wait(this.cells, first + LOCK, HELD, 1);
    }
    return first;
  }

  unlock(first: number): void {
    Atomics.store(this.cells, first + LOCK, FREE);
  }

  /** Call it under the key's lock: a reader that takes the mark and then the lock sees the new count. */
  mark(keyIndex: number): void {
    const cell = this.marks + (keyIndex >>> 5);
    const bit = 1 << (keyIndex & 31);
    if ((this.cells[cell]! & bit) === 0) Atomics.or(this.cells, cell, bit);
  }

  /** The keyIndexes that were marked since the last call. Only one caller may use this. */
  takeChanged(): number[] {
    const changed: number[] = [];
    for (let cell = 0; cell < Math.ceil(this.keysMax / MARKS_IN_CELL); cell++) {
      if (this.cells[this.marks + cell] === 0) continue;
      const marks = Atomics.exchange(this.cells, this.marks + cell, 0);
      for (let bit = 0; bit < MARKS_IN_CELL; bit++) {
        if ((marks & (1 << bit)) !== 0) changed.push(cell * MARKS_IN_CELL + bit);
      }
    }
    return changed;
  }
}
