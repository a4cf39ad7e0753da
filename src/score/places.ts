import type { ScoreHandler } from './scorer.js';

/** The places of one batcher: of requests that are admitted and not yet scored. */
export class Places {
  private readonly taken = { single: 0, line: 0 };
  private most = 0;
  /** By holder, where one may have a share only. */
  private readonly shares = new Map<number, number>();

  constructor(
    /** Most single requests, and as many lines of lists: these are passed, so they take no place from those. */
    readonly max: number,
    /** Most of one holder (one key); undefined if it may have all. */
    private readonly shareMax?: number,
  ) {}

  get pending(): number {
    return this.taken.single + this.taken.line;
  }

  /** Whether one more single request has a place. */
  get hasRoom(): boolean {
    return this.taken.single < this.max;
  }

  hasRoomFor(lines: number): boolean {
    return this.taken.line + lines <= this.max;
  }

  isShareFull(count: number, who: Holding): boolean {
    return (
      this.shareMax !== undefined && who.holder !== undefined && this.of(who.holder) + count > this.shareMax
    );
  }

  of(holder: number): number {
    return this.shares.get(holder) ?? 0;
  }

  /** Takes this many places, or gives them back if it is negative. Those of lines are taken before the lines come. */
  add(kind: 'single' | 'line', count: number, who: Holding): void {
    this.taken[kind] += count;
    this.most = Math.max(this.most, this.pending);
    if (this.shareMax === undefined || who.holder === undefined) return;
    const share = this.of(who.holder) + count;
    if (share > 0) this.shares.set(who.holder, share);
    else this.shares.delete(who.holder);
  }

  /** The most that were pending at once since the last call. */
  takeMost(): number {
    const { most } = this;
    this.most = this.pending;
    return most;
  }
}

/** A request or a list, and the key that its places count for; a plain one's is never asked for. */
type Holding = Pick<ScoreHandler, 'holder'>;
