import type { Clock } from '../base/clock.js';
import type { PredictionRequest } from '../records/request.js';
import { Batch } from './batch.js';
import type { BatchVariant } from '../contract/graphVariant.js';
import { blockAt, blockCountOf, type Block } from './batchBuffers.js';
import { HangWatch } from './hangWatch.js';
import type { BatchResult } from './protocol.js';
import type { InferencePool } from './pool.js';
import { Retries } from './retries.js';
import { LineBatches } from './lineBatches.js';
import type { AdmitOutcome, ExplainOutcome, LineLane, ScoreHandler, ScoringModel } from './scorer.js';
import { BATCHES_PER_WORKER } from './taskRing.js';

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
  /** Longest model run before the worker counts as hung. */
  readonly hangMs: number;
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
  onHung(): void;
}

/** Lines that have waited for this share of the deadline pass single requests. */
const PATIENCE_OF_LINES = 1 / 4;
/** Lines take no block if fewer than this are free: the next line may be of either variant. */
const LINE_BLOCKS_MIN = 2;

/** How often waits are checked, per deadline. */
const SWEEPS_PER_DEADLINE = 20;

/**
 * Called when `rows` of `block` were answered with scores of `model`. The block is reused when this returns.
 */
export type AnswerListener = (block: Block, rows: readonly number[], model: ScoringModel) => void;

interface CompletedRun {
  readonly inferMs: number;
  readonly rows: number;
  readonly scoredMs: number;
}

/**
 * Gathers requests into batches. A request never waits for company: while a worker is free, the batch leaves
 * at the end of this turn of the event loop; while all are busy, requests gather and leave together.
 *
 *   admit ─► open batch of its variant ─► queue (oldest first) ─► pool ─► answers
 *   admitLine ─► batches of lines, while no single request waits ─┘
 *                                         failed batch ─► retries, one row at a time, alone in the pool
 */
export class Batcher implements LineLane {
  readonly linesMax: number;
  onLineRoom: (() => void) | undefined;
  /** Requests admitted and not yet scored: single ones, and places that lines have taken. */
  private singles = 0;
  private lines = 0;
  private most = 0;
  /** Called after answering, before the block is reused; undefined without a listener. */
  onAnswered: AnswerListener | undefined;
  private readonly batches: readonly Batch[];
  private readonly free: Batch[];
  private readonly open: Record<BatchVariant, Batch | undefined> = {
    base: undefined,
    history: undefined,
    explain: undefined,
  };
  private readonly queue: Batch[] = [];
  private readonly lineBatches: LineBatches;
  /** Places in the queue for lines that have not come yet, by holder. */
  private readonly reservedOf = new Map<number, number>();
  /**
   * This many requests of the queue, the oldest ones, have already waited for a batch of lines: they wait for
   * no other.
   */
  private overtaken = 0;
  private linesInFlight = 0;
  private readonly running = new Set<Batch>();
  private readonly retries = new Retries();
  private inFlight = 0;
  private flushScheduled = false;
  private readonly hangWatch: HangWatch;
  /** While finished batches are collected in the middle of a request's handling, no answer may be written. */
  private isCollecting = false;
  /** The answers of such batches. */
  private unwritten: (() => void)[] = [];
  private readonly sweeper: NodeJS.Timeout;
  private idleListeners: (() => void)[] = [];

  constructor(private readonly options: BatcherOptions) {
    const { buffers } = options.pool;
    const blocks = blockCountOf(buffers, options.batchMax);
    this.batches = Array.from(
      { length: blocks },
      (_, index) => new Batch(index, blockAt(buffers, options.batchMax, index), options.model),
    );
    this.free = this.batches.toReversed();
    this.linesMax = options.linesMax ?? Math.max(1, Math.floor(options.queueMax / 2));
    this.lineBatches = new LineBatches(options.batchMax, (variant) => this.takeFree(variant));
    const { pool, deadlineMs, hangMs, clock } = options;
    const periodMs = Math.max(5, Math.min(deadlineMs, hangMs) / SWEEPS_PER_DEADLINE);
    this.hangWatch = new HangWatch({ hangMs, periodMs, pool, nowMs: clock.monotonicMs() });
    this.sweeper = setInterval(() => this.sweep(), periodMs).unref();
  }

  get model(): ScoringModel {
    return this.options.model;
  }

  admit(request: PredictionRequest, handler: ScoreHandler): AdmitOutcome {
    if (!this.makeRoom()) return 'saturated';
    const variant = this.variantOf(request);
    const batch = this.open[variant] ?? this.openBatch(variant);
    if (batch === undefined) return 'saturated';
    batch.add(request, handler, this.options.clock.monotonicMs());
    this.singles++;
    this.noteMost();
    if (batch.rows === 1) this.enqueue(batch);
    if (batch.rows === this.options.batchMax) this.open[variant] = undefined;
    this.scheduleFlush();
    return 'admitted';
  }

  reserve(lines: number, holder: number | undefined): ExplainOutcome {
    const { queueMax, explainsEach } = this.options;
    const isShared = explainsEach === true && holder !== undefined;
    if (isShared && this.pendingOf(holder) + lines > this.linesMax) return 'shareFull';
    // Single requests pass lines, so lines take no place from them: a long list would leave them next to none.
    if (this.lines + lines > queueMax) return 'saturated';
    this.lines += lines;
    this.noteMost();
    if (holder !== undefined) this.addReserved(holder, lines);
    return 'admitted';
  }

  release(lines: number, holder: number | undefined): void {
    this.lines -= lines;
    if (holder !== undefined) this.addReserved(holder, -lines);
    this.tellIdle();
  }

  get hasLineRoom(): boolean {
    return this.lineBatches.hasRoom && this.free.length >= LINE_BLOCKS_MIN;
  }

  admitLine(request: PredictionRequest, handler: ScoreHandler, arrivedMs: number): void {
    this.lineBatches.add(this.variantOf(request), request, handler, arrivedMs);
    if (handler.holder !== undefined) this.addReserved(handler.holder, -1);
    this.scheduleFlush();
  }

  private addReserved(holder: number, lines: number): void {
    const reserved = (this.reservedOf.get(holder) ?? 0) + lines;
    if (reserved > 0) this.reservedOf.set(holder, reserved);
    else this.reservedOf.delete(holder);
  }

  get pending(): number {
    return this.singles + this.lines;
  }

  private noteMost(): void {
    this.most = Math.max(this.most, this.pending);
  }

  /** `rows` of `batch` are scored, refused or given up. */
  private leave(batch: Batch, rows: number): void {
    if (batch.isOfLines) this.lines -= rows;
    else this.singles -= rows;
  }

  /**
   * Collects finished runs if the queue is full. @returns whether one more request may come in
   *
   * A turn of the loop may bring a thousand requests, and results are otherwise collected between two turns:
   * rows already scored must not count any longer. Their answers are written after the turn, since the HTTP
   * library sends an answer in many pieces while it is reading another connection.
   */
  makeRoom(): boolean {
    if (this.singles < this.options.queueMax) return true;
    this.isCollecting = true;
    this.options.pool.collect();
    this.isCollecting = false;
    return this.singles < this.options.queueMax;
  }

  takeMost(): number {
    const { most } = this;
    this.most = this.pending;
    return most;
  }

  get queueMax(): number {
    return this.options.queueMax;
  }

  /** Requests that hold a place for `holder`. It searches every batch, which suits a short queue. */
  pendingOf(holder: number): number {
    let rows = this.reservedOf.get(holder) ?? 0;
    for (const batch of this.batches) rows += batch.rowsOf(holder);
    return rows;
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

  started(): Promise<void> {
    return this.options.pool.started();
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
    if (this.linesInFlight > 0) this.overtaken = this.queue.length;
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
      if (!this.retries.isEmpty) {
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
    if (!this.lineBatches.isEmpty && this.isLinesTurn()) {
      const batch = this.lineBatches.take();
      this.onLineRoom?.();
      return batch;
    }
    const batch = queue.shift();
    if (batch === undefined) return undefined;
    if (this.overtaken > 0) this.overtaken--;
    if (this.open[batch.variant] === batch) this.open[batch.variant] = undefined;
    return batch;
  }

  /**
   * Single requests go first; a batch of lines goes to a worker without other work. Under constant load, a
   * batch of lines that has waited long passes a queue in which no request has yet waited for lines.
   */
  private isLinesTurn(): boolean {
    const { pool, clock, deadlineMs } = this.options;
    if (this.queue.length === 0) return this.inFlight * BATCHES_PER_WORKER < pool.capacity;
    if (this.overtaken > 0 || this.linesInFlight > 0) return false;
    return clock.monotonicMs() - this.lineBatches.oldestMs > deadlineMs * PATIENCE_OF_LINES;
  }

  private retryNext(): void {
    const retry = this.retries.next();
    if (retry === undefined) return;
    const { batch, row } = retry;
    if (batch.isWaitedFor(row)) return this.run(batch, row, 1);
    if (batch.take(row) !== undefined) this.leave(batch, 1); // its caller had hung up
    if (this.retries.done(batch)) this.reuse(batch);
    this.flush();
  }

  /** Runs the rows `first … first + rows` and answers them; a batch whose first run fails is retried. */
  private run(batch: Batch, first: number, rows: number): void {
    const { variant, blockIndex } = batch;
    this.start(batch);
    this.options.pool.run({ variant, blockIndex, first, rows }, (result) => {
      const scoredMs = this.ended(batch, rows, result);
      if (typeof result !== 'number' && !this.retries.has(batch)) {
        this.retries.add(batch);
        return this.flush();
      }
      for (let row = first; row < first + rows; row++) if (batch.holds(row)) this.leave(batch, 1);
      this.flush(); // the worker first, then the answers
      this.write(() => {
        if (typeof result === 'number') this.answerRows(batch, first, { inferMs: result, rows, scoredMs });
        else tellFault(batch.take(first));
        if (this.retries.done(batch)) this.reuse(batch);
      });
    });
  }

  private answerRows(batch: Batch, first: number, run: CompletedRun): void {
    const answered: number[] = [];
    for (let row = first; row < first + run.rows; row++) {
      if (this.answer(batch, row, run) && this.onAnswered !== undefined) answered.push(row);
    }
    if (answered.length > 0) this.onAnswered?.(batch.block, answered, this.options.model);
  }

  private start(batch: Batch): void {
    batch.sentMs = this.options.clock.monotonicMs();
    batch.sentAwakeMs = this.hangWatch.awakeMs;
    this.inFlight++;
    if (batch.isOfLines) this.linesInFlight++;
    this.running.add(batch);
  }

  /** @returns the time at which the run ended */
  private ended(batch: Batch, rows: number, result: BatchResult): number {
    const { clock, onRun, onFault } = this.options;
    this.inFlight--;
    if (batch.isOfLines) {
      this.linesInFlight--;
      this.overtaken = this.queue.length;
    }
    this.running.delete(batch);
    if (typeof result === 'number') onRun?.(batch.variant, rows, result);
    else onFault(result);
    return clock.monotonicMs();
  }

  /** Writes answers: now, or after the request that is being read. */
  private write(answers: () => void): void {
    if (!this.isCollecting) return answers();
    if (this.unwritten.length === 0) setImmediate(() => this.writeCollected());
    this.unwritten.push(answers);
  }

  private writeCollected(): void {
    const { unwritten } = this;
    this.unwritten = [];
    for (const answers of unwritten) answers();
    this.tellIdle();
  }

  /** `batch` was scored, and no longer counts as pending. @returns whether a caller got the row's scores */
  private answer(batch: Batch, row: number, { inferMs, rows, scoredMs }: CompletedRun): boolean {
    const handler = batch.take(row);
    if (handler === undefined || handler.isGone) return false;
    if (!batch.isSound(row)) {
      this.options.onFault(new Error('the network gave scores out of range'));
      handler.failed('fault');
      return false;
    }
    const admittedMs = batch.arrived(row);
    const queueMs = Math.max(0, scoredMs - admittedMs - inferMs);
    const dispatchMs = Math.max(0, scoredMs - batch.sentMs - inferMs);
    const timing = { queueMs, dispatchMs, inferMs, rows, admittedMs, scoredMs };
    handler.scored(batch.scored(row), timing);
    return true;
  }

  private expire(batch: Batch, row: number): void {
    const handler = batch.take(row);
    if (handler === undefined) return;
    this.leave(batch, 1);
    if (!handler.isGone) handler.failed('expired');
  }

  /** Drops a batch that no caller waits for any more. */
  private discard(batch: Batch): void {
    for (let row = 0; row < batch.rows; row++) if (batch.take(row) !== undefined) this.leave(batch, 1);
    this.reuse(batch);
  }

  private reuse(batch: Batch): void {
    batch.reset();
    this.free.push(batch);
    if (this.free.length === LINE_BLOCKS_MIN) this.onLineRoom?.();
    this.tellIdle();
  }

  private get isIdle(): boolean {
    return this.pending === 0 && this.inFlight === 0 && this.unwritten.length === 0;
  }

  private tellIdle(): void {
    if (!this.isIdle) return;
    const listeners = this.idleListeners;
    this.idleListeners = [];
    for (const listener of listeners) listener();
  }

  /** Sheds requests that have waited too long, and notices a worker that does not come back. */
  private sweep(): void {
    const nowMs = this.options.clock.monotonicMs();
    this.shedAll(nowMs);
    if (!this.hangWatch.sweep(nowMs, this.running)) return;
    this.options.onHung();
    this.shedAll(Infinity); // the process is about to exit: each caller gets an answer
  }

  private shedAll(nowMs: number): void {
    for (const batch of this.queue) this.shed(batch, nowMs);
    for (const batch of this.lineBatches.waiting) this.shed(batch, nowMs);
    for (const batch of this.retries.batches) this.shed(batch, nowMs);
    for (const batch of this.running) this.shed(batch, nowMs);
  }

  private shed(batch: Batch, nowMs: number): void {
    const latestMs = nowMs - this.options.deadlineMs;
    for (let row = 0; row < batch.rows; row++) {
      if (batch.arrived(row) < latestMs || batch.isExpired(row, nowMs)) this.expire(batch, row);
    }
  }
}

function tellFault(handler: ScoreHandler | undefined): void {
  if (handler?.isGone === false) handler.failed('fault');
}
