/** Memory for a `ConnectionLimit`. */
export function allocateConnectionCount(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
}

/** Bounds the open public connections of the process; the count is shared by its event loops. */
export class ConnectionLimit {
  private readonly count: Int32Array;

  /** Uses memory from `allocateConnectionCount`. */
  constructor(
    memory: SharedArrayBuffer,
    private readonly connectionsMax: number,
  ) {
    this.count = new Int32Array(memory);
  }

  /** Counts a new connection; false if it is one too many. Even then it counts until it is closed. */
  opened(): boolean {
    return Atomics.add(this.count, 0, 1) < this.connectionsMax;
  }

  closed(): void {
    Atomics.sub(this.count, 0, 1);
  }
}
