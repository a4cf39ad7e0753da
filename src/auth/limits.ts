/** One slot for each key that has a limit. The memory is shared between event loops. */
export class Limits {
  readonly memory: SharedArrayBuffer;

  /** On the memory of `allocateLimits`, here or in another thread. */
  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
  }
}

export function allocateLimits(slotsMax: number): SharedArrayBuffer {
  return new SharedArrayBuffer(slotsMax);
}
