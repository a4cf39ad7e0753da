/**
 * What the probe thread knows about the other threads, in shared memory: whether requests are accepted, and how often
 * each event loop has turned.
 */
export class Heartbeats {
  private readonly cells: Int32Array;

  constructor(readonly memory: SharedArrayBuffer) {
    this.cells = new Int32Array(memory);
  }

  get loops(): number {
    return this.cells.length - FIRST_LOOP;
  }

  get isReady(): boolean {
    return Atomics.load(this.cells, READY) === 1;
  }

  set isReady(isReady: boolean) {
    Atomics.store(this.cells, READY, Number(isReady));
  }

  /** Whether the shared key store has lost its keys: the process goes on with those it has. */
  get isStoreEmpty(): boolean {
    return Atomics.load(this.cells, STORE_EMPTY) === 1;
  }

  set isStoreEmpty(isEmpty: boolean) {
    Atomics.store(this.cells, STORE_EMPTY, Number(isEmpty));
  }

  /** Changes with every turn; `ABSENT` for a loop that has not started or has ended. */
  beatsOf(loop: number): number {
    return Atomics.load(this.cells, FIRST_LOOP + loop);
  }

  /** Counts the turns of this thread's event loop. Returns the function that stops it. */
  beat(loop: number, onBeat: () => void = () => undefined): () => void {
    const cell = FIRST_LOOP + loop;
    let beats = 0;
    const beat = (): void => {
      onBeat();
      beats = (beats % BEATS_MAX) + 1;
      Atomics.store(this.cells, cell, beats);
    };
    beat();
    const timer = setInterval(beat, BEAT_MS).unref();
    return () => {
      clearInterval(timer);
      Atomics.store(this.cells, cell, ABSENT);
    };
  }
}

export const ABSENT = 0;
export const BEAT_MS = 100;
const BEATS_MAX = 1 << 30;
const READY = 0;
const STORE_EMPTY = 1;
const FIRST_LOOP = 2;

export function allocateHeartbeats(loops: number): SharedArrayBuffer {
  return new SharedArrayBuffer((FIRST_LOOP + loops) * Int32Array.BYTES_PER_ELEMENT);
}

/**
 * Tells a blocked loop from a busy machine. A loop is blocked if it has not turned while this thread, which
 * needs next to no CPU time, repeatedly had a core: so looks are counted, not time. A process that was
 * stopped, or has used up its CPU limit, is not blocked.
 */
export class BlockedLoops {
  private readonly seen: { beats: number; silentLooks: number }[];

  constructor(
    private readonly heartbeats: Heartbeats,
    /** How long a loop may be silent, in milliseconds of looks made every `BEAT_MS`. */
    private readonly silentMs: number,
  ) {
    this.seen = Array.from({ length: heartbeats.loops }, () => ({ beats: ABSENT, silentLooks: 0 }));
  }

  get any(): boolean {
    return this.seen.some(({ silentLooks }) => silentLooks * BEAT_MS >= this.silentMs);
  }

  /** Call it every `BEAT_MS`. */
  look(): void {
    for (const [loop, last] of this.seen.entries()) {
      const beats = this.heartbeats.beatsOf(loop);
      last.silentLooks = beats === ABSENT || beats !== last.beats ? 0 : last.silentLooks + 1;
      last.beats = beats;
    }
  }
}
