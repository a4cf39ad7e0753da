import type { Batch } from './batch.js';

/** The requests that are admitted and not yet scored: single ones, and places that lines of lists have taken. */
export class Places {
  private singles = 0;
  private lines = 0;
  private most = 0;
  /** Places of lines that have not come yet, by holder. */
  private readonly reservedOf = new Map<number, number>();

  constructor(
    /** Most single requests, and as many lines: single requests pass lines, so lines take no place from them. */
    readonly max: number,
  ) {}

  get pending(): number {
    return this.singles + this.lines;
  }

  get hasRoom(): boolean {
    return this.singles < this.max;
  }

  take(): void {
    this.singles++;
    this.noteMost();
  }

  /** Takes places for the lines of a list; false if there are too few. */
  reserve(lines: number, holder: number | undefined): boolean {
    if (this.lines + lines > this.max) return false;
    this.lines += lines;
    this.noteMost();
    this.addReserved(holder, lines);
    return true;
  }

  /** Gives back places of lines that do not come. */
  release(lines: number, holder: number | undefined): void {
    this.lines -= lines;
    this.addReserved(holder, -lines);
  }

  /** A line has come to its place. */
  arrived(holder: number | undefined): void {
    this.addReserved(holder, -1);
  }

  /** Places of `holder` whose lines have not come yet. */
  reservedFor(holder: number): number {
    return this.reservedOf.get(holder) ?? 0;
  }

  /** `rows` of `batch` are scored, refused or given up. */
  leave(batch: Batch, rows: number): void {
    if (batch.isOfLines) this.lines -= rows;
    else this.singles -= rows;
  }

  /** The most that were pending at once since the last call. */
  takeMost(): number {
    const { most } = this;
    this.most = this.pending;
    return most;
  }

  private noteMost(): void {
    this.most = Math.max(this.most, this.pending);
  }

  private addReserved(holder: number | undefined, lines: number): void {
    if (holder === undefined) return;
    const reserved = this.reservedFor(holder) + lines;
    if (reserved > 0) this.reservedOf.set(holder, reserved);
    else this.reservedOf.delete(holder);
  }
}
