import { ABSENT, BEAT_MS, type Heartbeats } from '../base/heartbeats.js';

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
