import type { BatchVariant } from '../contract/graphVariant.js';
import type { PredictionRequest } from '../night/request.js';
import type { Clock } from '../base/clock.js';
import type { Batch } from './batch.js';
import type { ScoreHandler } from './scorer.js';

/**
 * Lines of lists on their way to the workers: for each variant a batch being filled, and a full one; and when it is
 * their turn beside the queue of single requests.
 */
export class LineBatches {
  /** Being filled, oldest first. */
  private readonly open: Batch[] = [];
  private full: Batch | undefined;
  private inFlight = 0;
  /** This many batches of the queue, the oldest ones, have already waited for lines: they wait for no others. */
  private overtaken = 0;

  constructor(private readonly options: LineBatchesOptions) {}

  /** Whether a line of any variant may be added. */
  get hasRoom(): boolean {
    return this.full === undefined;
  }

  get waiting(): readonly Batch[] {
    return this.full === undefined ? this.open : [this.full, ...this.open];
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
    if (batch.rows < this.options.batchMax) return;
    this.open.splice(this.open.indexOf(batch), 1);
    this.full = batch;
  }

  /** The next batch to run. */
  take(): Batch | undefined {
    const { full } = this;
    this.full = undefined;
    return full ?? this.open.shift();
  }

  /**
   * Single requests go first; a batch of lines goes to a worker without other work. Under constant load, a batch of
   * lines that has waited long passes a queue in which no request has yet waited for lines.
   */
  isTheirTurn(queueLength: number, hasIdleWorker: boolean): boolean {
    const next = this.full ?? this.open[0];
    if (next === undefined) return false;
    if (queueLength === 0) return hasIdleWorker;
    if (this.overtaken > 0 || this.inFlight > 0) return false;
    const { clock, deadlineMs } = this.options;
    return clock.monotonicMs() - next.arrived(0) > deadlineMs * WAITED_SHARE;
  }

  /** A single batch has joined the queue, which is this long now. */
  queued(queueLength: number): void {
    if (this.inFlight > 0) this.overtaken = queueLength;
  }

  /** A single batch has left the queue. */
  passed(): void {
    if (this.overtaken > 0) this.overtaken--;
  }

  sent(): void {
    this.inFlight++;
  }

  ended(queueLength: number): void {
    this.inFlight--;
    this.overtaken = queueLength;
  }

  private begin(variant: BatchVariant): Batch {
    const batch = this.options.takeFree(variant);
    if (batch === undefined) throw new RangeError('a line came where no block is free');
    batch.isOfLines = true;
    this.open.push(batch);
    return batch;
  }
}

/** Lines that have waited for this share of the deadline pass single requests. */
const WAITED_SHARE = 1 / 4;

export interface LineBatchesOptions {
  readonly batchMax: number;
  readonly deadlineMs: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  takeFree(variant: BatchVariant): Batch | undefined;
}
