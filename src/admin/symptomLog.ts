import type { Diagnosis } from './diagnosis.js';
import type { Level } from './symptom.js';

/** A period in which a symptom showed. */
export interface Episode {
  /** Id of the symptom. */
  readonly id: string;
  /** Its worst level. */
  readonly level: Level;
  /** The sentence about it when it reached that level. */
  readonly sentence: string;
  /** The symptom that explained it; undefined if none did. */
  readonly cause: string | undefined;
  /** Milliseconds since 1970. */
  readonly beganMs: number;
  /** When it was last seen. */
  readonly seenMs: number;
  readonly isOver: boolean;
}

/** A day, and at most this many entries: a symptom that comes and goes must not fill the memory. */
const KEPT_MS = 24 * 3_600_000;
const EPISODES_MAX = 200;
/** A symptom that returns within this time continues the same episode. */
const PAUSE_MS = 60_000;

/** What was amber or red in the last 24 hours, in memory: for an operator who looks ten minutes late. */
export class SymptomLog {
  private episodes: readonly Episode[] = [];
  private changes = 0;

  /** Newest first. */
  get entries(): readonly Episode[] {
    return this.episodes;
  }

  /** Grows each time an entry begins, gets worse, ends or is dropped. */
  get revision(): number {
    return this.changes;
  }

  /** Records what shows at `nowMs`. Call it once a second. */
  note({ causes }: Diagnosis, nowMs: number): void {
    const before = this.episodes;
    const shown = causes.flatMap((cause) => [
      { ...cause, cause: undefined },
      ...cause.effects.map((effect) => ({ ...effect, cause: cause.id })),
    ]);
    const rest = [...before];
    for (const { id, level, sentence, cause } of shown) {
      const at = rest.findIndex((one) => one.id === id && nowMs - one.seenMs <= PAUSE_MS);
      const known = rest[at];
      if (known === undefined) {
        rest.unshift({ id, level, sentence, cause, beganMs: nowMs, seenMs: nowMs, isOver: false });
      } else {
        const isWorse = known.level === 'amber' && level === 'red';
        const said = isWorse ? { level, sentence, cause } : {};
        rest[at] = { ...known, ...said, seenMs: nowMs, isOver: false };
      }
    }
    this.episodes = rest
      .map((one) => (one.isOver || one.seenMs === nowMs ? one : { ...one, isOver: true }))
      .filter(({ seenMs }) => nowMs - seenMs <= KEPT_MS)
      .slice(0, EPISODES_MAX);
    if (isChanged(before, this.episodes)) this.changes++;
  }
}

/** Whether anything has changed besides the times of current episodes. */
function isChanged(before: readonly Episode[], after: readonly Episode[]): boolean {
  return (
    before.length !== after.length ||
    after.some((one, index) => {
      const old = before[index];
      return old?.beganMs !== one.beganMs || old.level !== one.level || old.isOver !== one.isOver;
    })
  );
}
