import type { Batch } from './batch.js';

/** A row of a failed batch. */
export interface Retry {
  readonly batch: Batch;
  readonly row: number;
}

/** The rows of failed batches. They run one by one, so that a faulty row fails alone. */
export class Retries {
  private readonly rows: Retry[] = [];
  /** Number of unanswered rows in each failed batch. */
  private readonly left = new Map<Batch, number>();

  get isEmpty(): boolean {
    return this.rows.length === 0;
  }

  /** Batches with unanswered rows. */
  get batches(): Iterable<Batch> {
    return this.left.keys();
  }

  has(batch: Batch): boolean {
    return this.left.has(batch);
  }

  /** Takes all rows of `batch`, whose run failed. */
  add(batch: Batch): void {
    for (let row = 0; row < batch.rows; row++) this.rows.push({ batch, row });
    this.left.set(batch, batch.rows);
  }

  /** The oldest row that has not run again. */
  next(): Retry | undefined {
    return this.rows.shift();
  }

  /**
   * Rows of `batch` are answered. @returns whether all are: those of a failed batch are answered one by one
   */
  done(batch: Batch): boolean {
    const left = this.left.get(batch);
    if (left === undefined) return true;
    if (left > 1) this.left.set(batch, left - 1);
    else this.left.delete(batch);
    return left === 1;
  }
}
