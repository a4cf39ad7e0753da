/** A body that could not be held: all together hold too much, or those of this holder do. */
export type BudgetOutcome = 'taken' | 'full' | 'shareFull';

/** No holder, that is no key, holds more than this share: one caller's slow uploads leave room for the others'. */
const SHARE_OF_HOLDER = 1 / 4;
/** Counted in these, so that the largest budget that can be configured fits 32 bits. */
const UNIT_BYTES = 1024;

/** Memory for the counts of a `BodyBudget`: one of all, then one of each holder. Touched when it is used. */
export function allocateBodyBudget(holdersMax: number): SharedArrayBuffer {
  return new SharedArrayBuffer((1 + holdersMax) * Int32Array.BYTES_PER_ELEMENT);
}

export interface BodyBudgetOptions {
  /** Of `allocateBodyBudget`. */
  readonly memory: SharedArrayBuffer;
  /** Of all bodies together. */
  readonly bytesMax: number;
  /** Of one body. */
  readonly bodyBytesMax: number;
}

/**
 * How many bytes bodies that are still arriving may hold, together and for each holder. The counts are shared by
 * the event loops of the process; each loop has a budget of its own on the same memory.
 */
export class BodyBudget {
  private readonly counts: Int32Array;
  private readonly unitsMax: number;
  private readonly shareMax: number;
  private held = 0;

  constructor({ memory, bytesMax, bodyBytesMax }: BodyBudgetOptions) {
    this.counts = new Int32Array(memory);
    this.unitsMax = Math.floor(bytesMax / UNIT_BYTES);
    // Where a quarter is less than the longest body, that body could never be admitted.
    this.shareMax = Math.max(Math.floor(this.unitsMax * SHARE_OF_HOLDER), unitsOf(bodyBytesMax));
  }

  /** Bytes held by this event loop, in whole units. */
  get heldBytes(): number {
    return this.held * UNIT_BYTES;
  }

  /** Whether the bodies of all loops together hold everything. */
  get isExhausted(): boolean {
    return Atomics.load(this.counts, ALL) >= this.unitsMax;
  }

  /** Takes room for a buffer of `bytes`, which takes the place of one of `insteadOf` bytes; or takes nothing. */
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

  /** Gives back the room of a buffer of `bytes`. */
  give(holder: number, bytes: number): void {
    const units = unitsOf(bytes);
    Atomics.sub(this.counts, FIRST_HOLDER + holder, units);
    Atomics.sub(this.counts, ALL, units);
    this.held -= units;
  }
}

const ALL = 0;
const FIRST_HOLDER = 1;

function unitsOf(bytes: number): number {
  return Math.ceil(bytes / UNIT_BYTES);
}
