import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../base/clock.js';
import type { PredictionRequest } from '../night/request.js';
import { Answers, type AnswerListener } from './answers.js';
import { Batch } from './batch.js';
import type { BatchVariant } from '../contract/graphVariant.js';
import { blockAt, blockCountOf } from './batchBuffers.js';
import { HangWatch, type Hang, type HangKind, type Watched } from '../base/hangWatch.js';
import type { BatchResult } from './protocol.js';
import { Places } from './places.js';
import type { InferencePool } from './pool.js';
import { LineBatches } from './lineBatches.js';
import type { AdmitOutcome, LineLane, ScoreHandler, ScoringModel } from './scorer.js';
import { BATCHES_PER_WORKER } from './taskRing.js';

/**
 * Gathers requests into batches. A request never waits for company: while a worker is free, the batch leaves
 * at the end of this turn of the event loop; while all are busy, requests gather and leave together.
 *
 *   admit      -> open batch of its variant -> queue, oldest first  -+
 *   admitLine  -> LineBatches: one open of each variant, one full   -+-> pool -> answers
 *   a failed batch -> retries, row by row                           -+
 *
 *   who goes first: 1. retries, each alone in the pool
 *                   2. a batch of lines that has waited for a quarter of the deadline, if no lines run and no batch of
 *                      the queue has waited for lines before
 *                   3. the queue
 *                   4. lines, if a worker is idle
 */
export class Batcher implements LineLane {
  readonly linesMax: number;
  onLineRoom: (() => void) | undefined;
  private readonly batches: readonly Batch[];
  private readonly free: Batch[];
  private readonly open: Record<BatchVariant, Batch | undefined> = {
    base: undefined,
    history: undefined,
    explain: undefined,
  };
  private readonly queue: Batch[] = [];
  private readonly lineBatches: LineBatches;
  private readonly running = new Set<Batch>();
  /** Rows of batches whose run failed, oldest first: each runs again alone, so that a faulty row fails alone. */
  private readonly retries: { readonly batch: Batch; readonly row: number }[] = [];
  private readonly places: Places;
  private readonly answers: Answers;
  private inFlight = 0;
  private flushScheduled = false;
  private readonly hangWatch: HangWatch;
  private hasHung = false;
  private readonly sweeper: NodeJS.Timeout;
  private idleListeners: (() => void)[] = [];

  constructor(private readonly options: BatcherOptions) {
    this.answers = new Answers({
      model: options.model,
      onFault: (cause) => options.onFault(cause),
      onWritten: () => this.tellIdle(),
    });
    this.batches = batchesOf(options);
    this.free = this.batches.toReversed();
    this.linesMax = options.linesMax ?? Math.max(1, Math.floor(options.queueMax / 2));
    this.places = new Places(options.queueMax, options.explainsEach === true ? this.linesMax : undefined);
    const { batchMax, deadlineMs, hangMs, hangKind, clock } = options;
    this.lineBatches = new LineBatches({
      batchMax,
      deadlineMs,
      clock,
      takeFree: (variant) => this.takeFree(variant),
    });
    const periodMs = Math.max(5, Math.min(deadlineMs, hangMs) / SWEEPS_PER_DEADLINE);
    this.hangWatch = new HangWatch({ ...hangKind, hangMs, periodMs, nowMs: clock.monotonicMs() });
    this.sweeper = setInterval(() => this.sweep(), periodMs).unref();
  }

  /** Called after answering, before the block is reused. */
  set onAnswered(listener: AnswerListener | undefined) {
    this.answers.onAnswered = listener;
  }

  get model(): ScoringModel {
    return this.options.model;
  }

  admit(request: PredictionRequest, handler: ScoreHandler): AdmitOutcome {
    if (this.places.isShareFull(1, handler)) return 'shareFull';
    if (!this.makeRoom()) return 'saturated';
    const variant = this.variantOf(request);
    const batch = this.open[variant] ?? this.openBatch(variant);
    if (batch === undefined) return 'saturated';
    batch.add(request, handler, this.options.clock.monotonicMs());
    this.places.add('single', 1, handler);
    if (batch.rows === 1) this.enqueue(batch);
    if (batch.rows === this.options.batchMax) this.open[variant] = undefined;
    this.scheduleFlush();
    return 'admitted';
  }

  reserve(lines: number, holder: number | undefined): AdmitOutcome {
    const { places } = this;
    if (places.isShareFull(lines, { holder })) return 'shareFull';
    if (!places.hasRoomFor(lines)) return 'saturated';
    places.add('line', lines, { holder });
    return 'admitted';
  }

  release(lines: number, holder: number | undefined): void {
    this.places.add('line', -lines, { holder });
    this.tellIdle();
  }

  get hasLineRoom(): boolean {
    return this.lineBatches.hasRoom && this.free.length >= LINE_BLOCKS_MIN;
  }

  admitLine(request: PredictionRequest, handler: ScoreHandler, arrivedMs: number): void {
    this.lineBatches.add(this.variantOf(request), request, handler, arrivedMs);
    this.scheduleFlush();
  }

  get pending(): number {
    return this.places.pending;
  }

  /**
   * Collects finished runs if the queue is full. @returns whether one more request may come in
   *
   * A turn of the loop may bring a thousand requests, and results are otherwise collected between two turns:
   * rows already scored must not count any longer. Their answers are written after the turn, since the HTTP
   * library sends an answer in many pieces while it is reading another connection.
   */
  makeRoom(): boolean {
    if (this.places.hasRoom) return true;
    this.answers.holdWhile(() => this.options.pool.collect());
    return this.places.hasRoom;
  }

  takeMost(): number {
    return this.places.takeMost();
  }

  get queueMax(): number {
    return this.options.queueMax;
  }

  /** Places of `holder`; 0 where holders have no share. */
  pendingOf(holder: number): number {
    return this.places.of(holder);
  }

  get queued(): number {
    let rows = 0;
    for (const batch of this.queue) rows += batch.rows;
    return rows + this.lineBatches.rows;
  }

  async drained(): Promise<void> {
    while (!this.isIdle) {
      await new Promise<void>((resolve) => this.idleListeners.push(resolve));
    }
  }

  warmUp(): Promise<void> {
    return this.options.pool.warmUp();
  }

  /** A run that hangs but has not been silent for long enough is known by its sleep. */
  async halt(): Promise<void> {
    const { pool, clock, hangKind } = this.options;
    pool.halt();
    const nowMs = clock.monotonicMs();
    const watch = new HangWatch({ ...hangKind, hangMs: SLEEP_MS, periodMs: HALT_STEP_MS, nowMs });
    const goesOn = (worker: Watched): boolean => !this.hangWatch.hangs(worker) && !watch.sleeps(worker);
    while (pool.isStarting || pool.atWork.some(goesOn)) {
      await sleep(HALT_STEP_MS);
      watch.look(clock.monotonicMs(), pool.watched);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.sweeper);
    await this.options.pool.close();
  }

  private variantOf(request: PredictionRequest): BatchVariant {
    if (this.options.explainsEach === true) return 'explain';
    return request.pastCount > 0 ? 'history' : 'base';
  }

  private openBatch(variant: BatchVariant): Batch | undefined {
    const batch = this.takeFree(variant);
    this.open[variant] = batch;
    return batch;
  }

  private takeFree(variant: BatchVariant): Batch | undefined {
    const batch = this.free.pop();
    if (batch !== undefined) batch.variant = variant;
    return batch;
  }

  private enqueue(batch: Batch): void {
    this.queue.push(batch);
    this.lineBatches.queued(this.queue.length);
  }

  private scheduleFlush(): void {
    if (this.flushScheduled || this.inFlight >= this.options.pool.capacity) return;
    this.flushScheduled = true;
    const flush = (): void => {
      this.flushScheduled = false;
      this.flush();
    };
    const { gatherMs } = this.options;
    if (gatherMs === undefined) setImmediate(flush);
    else setTimeout(flush, gatherMs);
  }

  /** Hands out work while the pool has room; retries go first, each alone. */
  private flush(): void {
    while (this.inFlight < this.options.pool.capacity) {
      if (this.retries.length > 0) {
        if (this.inFlight === 0) this.retryNext();
        return;
      }
      const batch = this.nextBatch();
      if (batch === undefined) return;
      if (batch.hasWaiting()) this.run(batch, 0, batch.rows);
      else this.discard(batch);
    }
  }

  private nextBatch(): Batch | undefined {
    const { queue } = this;
    const { pool } = this.options;
    const hasIdleWorker = this.inFlight * BATCHES_PER_WORKER < pool.capacity;
    if (this.lineBatches.isTheirTurn(queue.length, hasIdleWorker)) {
      const batch = this.lineBatches.take();
      this.onLineRoom?.();
      return batch;
    }
    const batch = queue.shift();
    if (batch === undefined) return undefined;
    this.lineBatches.passed();
    if (this.open[batch.variant] === batch) this.open[batch.variant] = undefined;
    return batch;
  }

  private retryNext(): void {
    const retry = this.retries.shift();
    if (retry === undefined) return;
    const { batch, row } = retry;
    if (batch.isWaitedFor(row)) return this.run(batch, row, 1);
    this.drop(batch, row);
    this.answered(batch);
    this.flush();
  }

  /** Runs the rows `first … first + rows` and answers them; a batch whose first run fails is retried. */
  private run(batch: Batch, first: number, rows: number): void {
    const { variant, blockIndex } = batch;
    this.start(batch);
    this.options.pool.run({ variant, blockIndex, first, rows }, (result) => {
      const scoredMs = this.ended(batch, rows, result);
      if (typeof result !== 'number' && batch.retried === 0) {
        batch.retried = batch.rows;
        for (let row = 0; row < batch.rows; row++) this.retries.push({ batch, row });
        return this.flush();
      }
      for (let row = first; row < first + rows; row++) this.leave(batch, batch.waiting(row));
      this.flush(); // the worker first, then the answers
      this.answers.write(() => {
        if (typeof result === 'number') this.answers.give(batch, first, { inferMs: result, rows, scoredMs });
        else tellFault(batch.take(first));
        this.answered(batch);
      });
    });
  }

  private start(batch: Batch): void {
    batch.sentMs = this.options.clock.monotonicMs();
    this.inFlight++;
    if (batch.isOfLines) this.lineBatches.sent();
    this.running.add(batch);
  }

  /** @returns the time at which the run ended */
  private ended(batch: Batch, rows: number, result: BatchResult): number {
    const { clock, onRun, onFault } = this.options;
    this.inFlight--;
    if (batch.isOfLines) this.lineBatches.ended(this.queue.length);
    this.running.delete(batch);
    if (typeof result === 'number') onRun?.(batch.variant, rows, result);
    else onFault(result);
    return clock.monotonicMs();
  }

  /** Drops a batch that no caller waits for any more. */
  private discard(batch: Batch): void {
    for (let row = 0; row < batch.rows; row++) this.drop(batch, row);
    this.reuse(batch);
  }

  /** Takes `row` from its caller, if it has not its answer yet; the row then has no place any more. */
  private drop(batch: Batch, row: number): ScoreHandler | undefined {
    const handler = batch.take(row);
    this.leave(batch, handler);
    return handler;
  }

  private leave(batch: Batch, handler: ScoreHandler | undefined): void {
    if (handler !== undefined) this.places.add(batch.isOfLines ? 'line' : 'single', -1, handler);
  }

  /** A run of `batch` is over and its rows are answered; those of a failed batch are answered one by one. */
  private answered(batch: Batch): void {
    if (batch.retried > 1) batch.retried--;
    else this.reuse(batch);
  }

  private reuse(batch: Batch): void {
    batch.reset();
    this.free.push(batch);
    if (this.free.length === LINE_BLOCKS_MIN) this.onLineRoom?.();
    this.tellIdle();
  }

  private get isIdle(): boolean {
    return this.pending === 0 && this.inFlight === 0 && this.answers.areWritten;
  }

  private tellIdle(): void {
    if (!this.isIdle) return;
    for (const listener of this.idleListeners.splice(0)) listener();
  }

  /** Sheds requests that have waited too long, and notices a worker that does not come back. */
  private sweep(): void {
    const nowMs = this.options.clock.monotonicMs();
    this.shedAll(nowMs);
    if (this.running.size === 0) return; // the first start of the workers has no limit
    const hang = this.hangWatch.look(nowMs, this.options.pool.watched);
    if (hang === undefined || this.hasHung) return;
    this.hasHung = true;
    this.options.onHung(hang);
    this.shedAll(Infinity); // the process is about to exit: each caller gets an answer
  }

  private shedAll(nowMs: number): void {
    const { queue, lineBatches, retries, running } = this;
    const failed = new Set(retries.map(({ batch }) => batch));
    for (const batches of [queue, lineBatches.waiting, failed, running])
      for (const batch of batches) this.shed(batch, nowMs);
  }

  private shed(batch: Batch, nowMs: number): void {
    for (let row = 0; row < batch.rows; row++) {
      if (!batch.isExpired(row, nowMs, this.options.deadlineMs)) continue;
      const handler = this.drop(batch, row);
      if (handler?.isGone === false) handler.failed('expired');
    }
  }
}

export interface BatcherOptions {
  readonly model: ScoringModel;
  readonly pool: InferencePool;
  readonly batchMax: number;
  /** Most single requests admitted and not yet scored; as many lines of lists have places beside them. */
  readonly queueMax: number;
  /** Most lines of one list; for explained requests, most of one holder. Half of the queue if absent. */
  readonly linesMax?: number;
  /** Longest wait for an answer before the request is shed. */
  readonly deadlineMs: number;
  /** Longest model run, without waits for a processor, before the worker counts as hung. */
  readonly hangMs: number;
  /** The kind of workers in the pool, for telling hung ones from starved ones. */
  readonly hangKind?: HangKind;
  /** How long requests without a waiting caller gather into larger batches; undefined: not at all. */
  readonly gatherMs?: number | undefined;
  /** Whether each request is explained. */
  readonly explainsEach?: boolean;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Called when a batch failed or a row's scores were invalid; the rows are retried or answered. */
  onFault(cause: Error): void;
  /** Called when a model run came back: `rows` requests in `inferMs`. */
  onRun?(variant: BatchVariant, rows: number, inferMs: number): void;
  /** Called once when a worker hangs. Only the end of the process ends it, so the owner must exit. */
  onHung(hang: Hang): void;
}

/** Lines take no block if fewer than this are free: the next line may be of either variant. */
const LINE_BLOCKS_MIN = 2;

/** While the process leaves, a worker that sleeps for half of this in a run hangs. */
const SLEEP_MS = 500;
const HALT_STEP_MS = 10;

/** How often waits are checked, per deadline. */
const SWEEPS_PER_DEADLINE = 20;

/** A batch for each block of the buffers. */
function batchesOf({ pool: { buffers }, batchMax, model }: BatcherOptions): Batch[] {
  return Array.from(
    { length: blockCountOf(buffers, batchMax) },
    (_, index) => new Batch(index, blockAt(buffers, batchMax, index), model),
  );
}

function tellFault(handler: ScoreHandler | undefined): void {
  if (handler?.isGone === false) handler.failed('fault');
}
