import { HangWatch, type HangKind, type Watched } from './hangWatch.js';
import { folderOf, ownThread } from './threadTimes.js';

/**
 * What the probe thread knows about the other threads, in shared memory: whether requests are accepted, and how often
 * each event loop has turned, and in which thread.
 */
export class Heartbeats {
  private readonly cells: Int32Array;

  constructor(readonly memory: SharedArrayBuffer) {
    this.cells = new Int32Array(memory);
  }

  get loops(): number {
    return (this.cells.length - FIRST_LOOP) / CELLS_OF_LOOP;
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
    return Atomics.load(this.cells, beatsAt(loop));
  }

  /** The ID of the loop's thread, see `ownThread`. */
  threadOf(loop: number): number {
    return Atomics.load(this.cells, beatsAt(loop) + 1);
  }

  /** Counts the turns of this thread's event loop. Returns the function that stops it. */
  beat(loop: number, onBeat: () => void = () => undefined): () => void {
    const cell = beatsAt(loop);
    Atomics.store(this.cells, cell + 1, ownThread());
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
/** From here on a loop's beats and its thread, for each. */
const FIRST_LOOP = 2;
const CELLS_OF_LOOP = 2;

function beatsAt(loop: number): number {
  return FIRST_LOOP + loop * CELLS_OF_LOOP;
}

export function allocateHeartbeats(loops: number): SharedArrayBuffer {
  return new SharedArrayBuffer((FIRST_LOOP + loops * CELLS_OF_LOOP) * Int32Array.BYTES_PER_ELEMENT);
}

/** Tells a blocked loop from one that starves on a busy machine. */
export class BlockedLoops {
  private readonly loops: readonly Watched[];
  private readonly watch: HangWatch;
  any = false;

  constructor(
    heartbeats: Heartbeats,
    /** How long a loop may be silent, without its waits for a processor. */
    { silentMs, nowMs, readTimes }: Pick<HangKind, 'readTimes'> & Record<'silentMs' | 'nowMs', number>,
  ) {
    this.loops = Array.from({ length: heartbeats.loops }, (_, loop) => ({
      name: `event loop ${loop}`,
      get folder() {
        return folderOf(heartbeats.threadOf(loop));
      },
      get isBusy() {
        return heartbeats.beatsOf(loop) !== ABSENT;
      },
      get progress() {
        return heartbeats.beatsOf(loop);
      },
    }));
    this.watch = new HangWatch({
      hangMs: silentMs,
      periodMs: BEAT_MS,
      nowMs,
      ...(readTimes && { readTimes }),
    });
  }

  /** Call it every `BEAT_MS`. */
  look(nowMs: number): void {
    this.any = this.watch.look(nowMs, this.loops) !== undefined;
  }
}
