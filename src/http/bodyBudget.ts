/**
 * Limits the bytes of bodies that are still arriving, in total and for each holder. The counts are shared by
 * the event loops of the process; each loop has its own budget on the same memory.
 */
export class BodyBudget {
  private readonly counts: Int32Array;
  private readonly unitsMax: number;
  private readonly shareMax: number;
  private held = 0;

  constructor({ memory, bytesMax, bodyBytesMax }: BodyBudgetOptions) {
    this.counts = new Int32Array(memory);
    this.unitsMax = Math.floor(bytesMax / UNIT_BYTES);
    // If a quarter is less than the longest body, that body could never be admitted.
    this.shareMax = Math.max(Math.floor(this.unitsMax * SHARE_OF_HOLDER), unitsOf(bodyBytesMax));
  }

  /** Bytes held by this event loop, in whole units. */
  get heldBytes(): number {
    return this.held * UNIT_BYTES;
  }

  /** Whether the bodies of all loops together use the whole budget. */
  get isExhausted(): boolean {
    return Atomics.load(this.counts, ALL) >= this.unitsMax;
  }

  /** Takes memory for a buffer of `bytes` that replaces one of `insteadOf` bytes; or takes nothing. */
  take(holder: number, bytes: number, insteadOf = 0): BudgetOutcome {
    const units = unitsOf(bytes) - unitsOf(insteadOf);
    const { counts } = this;
    if (Atomics.add(counts, ALL, units) + units > this.unitsMax) {
      Atomics.sub(counts, ALL, units);
      return 'full';
    }
    if (Atomics.add(counts, FIRST_HOLDER + holder, units) + units > this.shareMax) {
      Atomics.sub(counts, FIRST_HOLDER + holder, units);
      Atomics.sub(counts, ALL, units);
      return 'shareFull';
    }
    this.held += units;
    return 'taken';
  }

  /** Gives back the memory of a buffer of `bytes`. */
  give(holder: number, bytes: number): void {
    const units = unitsOf(bytes);
    Atomics.sub(this.counts, FIRST_HOLDER + holder, units);
    Atomics.sub(this.counts, ALL, units);
    this.held -= units;
  }
}

/** `full`: all bodies together hold too much; `shareFull`: those of this holder do. */
export type BudgetOutcome = 'taken' | 'full' | 'shareFull';

/** No holder (no key) holds more than this share, so one caller's slow uploads leave room for others. */
const SHARE_OF_HOLDER = 1 / 4;
/** The unit of the counts, so that the largest configurable budget fits 32 bits. */
const UNIT_BYTES = 1024;

/**
 * Memory for the counts of a `BodyBudget`: one for all, then one for each holder. The system provides it on
 * first use.
 */
export function allocateBodyBudget(holdersMax: number): SharedArrayBuffer {
  return new SharedArrayBuffer((1 + holdersMax) * Int32Array.BYTES_PER_ELEMENT);
}

export interface BodyBudgetOptions {
  /** From `allocateBodyBudget`. */
  readonly memory: SharedArrayBuffer;
  /** For all bodies together. */
  readonly bytesMax: number;
  /** For one body. */
  readonly bodyBytesMax: number;
}

const ALL = 0;
const FIRST_HOLDER = 1;

function unitsOf(bytes: number): number {
  return Math.ceil(bytes / UNIT_BYTES);
}
