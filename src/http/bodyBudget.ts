/**
 * Limits the bytes of bodies that are still arriving: a holder's to a part of those that no other holder has, so that
 * no number of holders has the whole. The counts are shared by the event loops of the process; each loop has its own
 * budget on the same memory.
 */
export class BodyBudget {
  private readonly counts: Int32Array;
  private readonly unitsMax: number;
  private readonly bodyUnitsMax: number;
  private held = 0;

  constructor({ memory, bytesMax, bodyBytesMax }: BodyBudgetOptions) {
    this.counts = new Int32Array(memory);
    this.unitsMax = Math.floor(bytesMax / UNIT_BYTES);
    this.bodyUnitsMax = Math.min(unitsOf(bodyBytesMax), this.unitsMax);
  }

  /** Bytes held by this event loop, in whole units. */
  get heldBytes(): number {
    return this.held * UNIT_BYTES;
  }

  /** Takes memory for a buffer of `bytes` that replaces one of `insteadOf` bytes; or takes nothing. */
  take(holder: number, bytes: number, insteadOf = 0): BudgetOutcome {
    const units = unitsOf(bytes) - unitsOf(insteadOf);
    const { counts } = this;
    const all = Atomics.add(counts, ALL, units) + units;
    const own = Atomics.add(counts, FIRST_HOLDER + holder, units) + units;
    if (own > this.shareBeside(all - own)) {
      Atomics.sub(counts, FIRST_HOLDER + holder, units);
      Atomics.sub(counts, ALL, units);
      return own > this.shareBeside(0) ? 'shareFull' : 'full';
    }
    this.held += units;
    return 'taken';
  }

  /** The most units of a holder, where the others hold that many. The longest body fits where they hold none. */
  private shareBeside(others: number): number {
    return Math.max((this.unitsMax - others) * SHARE_OF_HOLDER, this.bodyUnitsMax - others);
  }

  /** Gives back the memory of a buffer of `bytes`. */
  give(holder: number, bytes: number): void {
    const units = unitsOf(bytes);
    Atomics.sub(this.counts, FIRST_HOLDER + holder, units);
    Atomics.sub(this.counts, ALL, units);
    this.held -= units;
  }
}

/** `full`: the other holders leave too little; `shareFull`: this one would have too much even alone. */
export type BudgetOutcome = 'taken' | 'full' | 'shareFull';

/** No holder (no key) takes more than this share of what is left, so that slow uploads leave room for others. */
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
