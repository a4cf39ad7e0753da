import { HangWatch, type HangKind, type Watched } from './hangWatch.js';
import { folderOf, ownThread } from './threadTimes.js';

/** How often each event loop has turned, and in which thread: in shared memory, for the thread that answers probes. */
export class Heartbeats {
  private readonly cells: Int32Array;

  constructor(readonly memory: SharedArrayBuffer) {
    this.cells = new Int32Array(memory);
  }

  get loops(): number {
    return this.cells.length / CELLS_OF_LOOP;
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
  beat(loop: number): () => void {
    const cell = beatsAt(loop);
    Atomics.store(this.cells, cell + 1, ownThread());
    let beats = 0;
    const beat = (): void => {
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

const ABSENT = 0;
export const BEAT_MS = 100;
const BEATS_MAX = 1 << 30;
/** A loop's beats, and its thread. */
const CELLS_OF_LOOP = 2;

function beatsAt(loop: number): number {
  return loop * CELLS_OF_LOOP;
}

export function allocateHeartbeats(loops: number): SharedArrayBuffer {
  return new SharedArrayBuffer(loops * CELLS_OF_LOOP * Int32Array.BYTES_PER_ELEMENT);
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
