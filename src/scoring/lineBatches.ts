import type { BatchVariant } from '../contract/graphVariant.js';
import type { PredictionRequest } from '../records/request.js';
import type { Batch } from './batch.js';
import type { ScoreHandler } from './scorer.js';

/** Lines of lists on their way to the workers: for each variant a batch being filled, and a full one. */
export class LineBatches {
  /** Being filled, oldest first. */
  private readonly open: Batch[] = [];
  private full: Batch | undefined;

  constructor(
    private readonly batchMax: number,
    private readonly takeFree: (variant: BatchVariant) => Batch | undefined,
  ) {}

  get isEmpty(): boolean {
    return this.full === undefined && this.open.length === 0;
  }

  /** Whether a line of any variant may be added. */
  get hasRoom(): boolean {
    return this.full === undefined;
  }

  get waiting(): readonly Batch[] {
    return this.full === undefined ? this.open : [this.full, ...this.open];
  }

  /** Arrival time of the first line in the next batch to run. */
  get oldestMs(): number {
    return (this.full ?? this.open[0])?.arrived(0) ?? Infinity;
  }

  get rows(): number {
    let rows = 0;
    for (const batch of this.waiting) rows += batch.rows;
    return rows;
  }

  /** @throws RangeError if no block is free */
  add(variant: BatchVariant, request: PredictionRequest, handler: ScoreHandler, arrivedMs: number): void {
    const batch = this.open.find((known) => known.variant === variant) ?? this.begin(variant);
    batch.add(request, handler, arrivedMs);
    if (batch.rows < this.batchMax) return;
    this.open.splice(this.open.indexOf(batch), 1);
    this.full = batch;
  }

  /** The next batch to run. */
  take(): Batch | undefined {
    const { full } = this;
    this.full = undefined;
    return full ?? this.open.shift();
  }

  private begin(variant: BatchVariant): Batch {
    const batch = this.takeFree(variant);
    if (batch === undefined) throw new RangeError('a line came where no block is free');
    batch.isOfLines = true;
    this.open.push(batch);
    return batch;
  }
}
