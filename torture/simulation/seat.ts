import type { Line } from './line.js';
import type { Member } from './quotaBound.js';
import type { Target } from './traffic.js';

/** A process in the place of a replica. */
export interface Seat extends Target {
  readonly member: Member;
  readonly lines: Line[];
  /** Since when it is paused. */
  pausedSinceMs: number | undefined;
  pausedMs: number;
  /** When it last was not in contact with the store. */
  troubledMs: number;
  /** Key id → since when the process could know that it is revoked. */
  readonly visibleSinceMs: Map<string, number>;
  /** Ids of keys that the process has had the time to see as revoked. */
  readonly mustRefuse: Set<string>;
  /** Ids of keys that it honoured when the store last held any. */
  readonly honoured: Set<string>;
}

/** Whether the process is in contact with the store, and nothing is under way that began when it was not. */
export function isReached({ lines, pausedSinceMs }: Seat): boolean {
  return (
    pausedSinceMs === undefined && lines.every(({ state, doubtful }) => state === 'sound' && doubtful === 0)
  );
}
