/** The pool of workers that run batches. */
import { MessageChannel, receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { GRAPH_VARIANTS } from '../contract/graphVariant.js';
import type { Watched } from '../base/hangWatch.js';
import { folderOf } from '../base/threadTimes.js';
import { YOUNG_THREAD_LIMITS } from '../base/process/collector.js';
import { createBatchBuffers } from './batchBuffers.js';
import type { BatchResult, BatchTask, WorkerChannel, WorkerSetup } from './protocol.js';
import { BATCHES_PER_WORKER, createTaskRing, TaskRingWriter } from './taskRing.js';

export interface PoolOptions extends Omit<WorkerSetup, 'buffers'> {
  readonly workers: number;
  /** Blocks of the buffers: batches being gathered, queued or running at once. */
  readonly blocks: number;
  /** Called when a worker was lost; a new one replaces it. */
  onWorkerLost(error: Error): void;
  /** The workers' code; tests replace it. */
  readonly workerUrl?: URL;
}

/** Worker threads that run batches from shared buffers. */
export type InferencePool = Pick<PiscinaPool, keyof PiscinaPool>;

export type RunListener = (result: BatchResult) => void;

/** Milliseconds of one run of `task`; rejects if it failed. */
export function runOnce(pool: Pick<InferencePool, 'run'>, task: BatchTask): Promise<number> {
  return new Promise((resolve, reject) => {
    pool.run(task, (result) => (typeof result === 'number' ? resolve(result) : reject(result)));
  });
}

/** Starts the workers. */
export function openPool(options: PoolOptions): InferencePool {
  return new PiscinaPool(options);
}

/**
 * Piscina starts the workers, notices their end and replaces them. Each gets one Piscina task, which lasts as
 * long as the worker: to serve a channel. Batches go to the worker through a ring in shared memory, and their
 * results come back by a message port. A Piscina task for each batch would cost more, above all on the event
 * loop's thread.
 */
class PiscinaPool {
  readonly buffers: SharedArrayBuffer;
  /** Batches that may be in flight at once. */
  readonly capacity: number;
  private readonly piscina: Piscina;
  private readonly workers: WorkerHandle[];
  private isClosing = false;
  private isHalted = false;

  constructor(private readonly options: PoolOptions) {
    const { workers, blocks, onWorkerLost, workerUrl, ...setup } = options;
    this.buffers = createBatchBuffers(blocks, options.batchMax);
    this.capacity = workers * BATCHES_PER_WORKER;
    this.piscina = new Piscina({
      filename: (workerUrl ?? new URL('./worker/entry.js', import.meta.url)).href,
      name: 'run',
      minThreads: workers,
      maxThreads: workers,
      idleTimeout: Infinity,
      recordTiming: false,
      resourceLimits: YOUNG_THREAD_LIMITS,
      workerData: { ...setup, buffers: this.buffers } satisfies WorkerSetup,
    });
    // A worker that fails while it starts has no channel yet; the task that waits for it reports the error.
    this.piscina.on('error', (error: Error) => onWorkerLost(error));
    this.workers = Array.from({ length: workers }, (_, index) => this.openChannel(index));
  }

  /**
   * Runs `task`, then calls `done` with the milliseconds of the run, or with an error if it failed or its
   * worker was lost; the buffers still hold the rows then. Once halted it does nothing, and never calls `done`.
   * @throws RangeError with more than `capacity` in flight
   */
  run(task: BatchTask, done: RunListener): void {
    if (this.isHalted) return;
    let idlest = this.workers[0];
    for (const worker of this.workers) {
      if (idlest === undefined || worker.running < idlest.running) idlest = worker;
    }
    if (idlest === undefined) throw new RangeError('a pool without workers');
    idlest.run(task, done);
  }

  /** Calls the listeners of all ended runs before it returns. */
  collect(): void {
    for (const worker of this.workers) worker.collect();
  }

  /** Resolves when each worker has loaded and run its graphs; rejects if one can't. */
  async warmUp(): Promise<void> {
    for (const variant of GRAPH_VARIANTS) {
      // As many at once as the pool holds, so that each worker gets its share; the rows are still empty.
      const tasks = Array.from({ length: this.capacity }, () =>
        runOnce(this, { variant, blockIndex: 0, first: 0, rows: 1 }),
      );
      // Await all of them before reporting a failure: a caller that then closes the pool must find no run in
      // flight.
      const failure = (await Promise.allSettled(tasks)).find(({ status }) => status === 'rejected');
      if (failure?.status === 'rejected') throw failure.reason;
    }
  }

  /** Begins no other run: the process is about to exit, which takes the network away under one that goes on. */
  halt(): void {
    this.isHalted = true;
  }

  /** Whether a worker, the replacement of a lost one too, is starting. */
  get isStarting(): boolean {
    return this.workers.some((worker) => worker.isStarting);
  }

  /** The workers that are in a run, or have one before them; their results may be known later. */
  get atWork(): readonly Watched[] {
    return this.workers.filter((worker) => worker.isAtWork);
  }

  get watched(): readonly Watched[] {
    return this.workers;
  }

  /** Call it only when no run is in flight: ending a worker during a run aborts the process. */
  async close(): Promise<void> {
    this.isClosing = true;
    await this.piscina.destroy();
    for (const worker of this.workers) worker.end(new Error('the pool is closed'));
  }

  private openChannel(index: number): WorkerHandle {
    const { port1, port2 } = new MessageChannel();
    const ring = createTaskRing();
    const name = `worker ${index + 1} for ${this.options.explain === undefined ? 'scores' : 'explanations'}`;
    const worker = new WorkerHandle(name, new TaskRingWriter(ring), port1);
    const channel: WorkerChannel = { ring, results: port2 };
    this.piscina.run(channel, { transferList: [port2] }).catch((error: Error) => {
      if (this.isClosing) return;
      this.options.onWorkerLost(error);
      // Open the replacement first: a listener that learns of a failed run may run it again at once.
      this.workers[index] = this.openChannel(index);
      worker.end(error);
    });
    return worker;
  }
}

/** A worker as its pool sees it: the runs it has not answered yet, oldest first. */
class WorkerHandle implements Watched {
  private readonly runs: RunListener[] = [];
  /** Results that have come back; wraps around like the ring's count. */
  private received = 0;

  constructor(
    readonly name: string,
    private readonly writer: TaskRingWriter,
    private readonly results: MessagePort,
  ) {
    results.on('message', (result: BatchResult) => this.receive(result));
  }

  get running(): number {
    return this.runs.length;
  }

  get isBusy(): boolean {
    return this.runs.length > 0;
  }

  get isStarting(): boolean {
    return this.writer.thread === 0;
  }

  get isAtWork(): boolean {
    return this.writer.posted !== this.writer.sent;
  }

  get folder(): string | undefined {
    return this.isStarting ? undefined : folderOf(this.writer.thread);
  }

  get progress(): number {
    return this.writer.posted;
  }

  /** @throws RangeError if the ring is full, that is above the pool's `capacity` */
  run(task: BatchTask, done: RunListener): void {
    if (this.runs.length >= BATCHES_PER_WORKER) throw new RangeError('more batches than a worker may hold');
    this.runs.push(done);
    this.writer.send(task);
  }

  /** Asks the port only if a result was posted: asking costs more than reading the count. */
  collect(): void {
    while (this.writer.posted !== this.received) {
      const posted = receiveMessageOnPort(this.results) as { readonly message: BatchResult } | undefined;
      if (posted === undefined) return;
      this.receive(posted.message);
    }
  }

  /** Fails its current runs. */
  end(error: Error): void {
    this.results.close();
    for (const done of this.runs.splice(0)) done(error);
  }

  private receive(result: BatchResult): void {
    this.received = (this.received + 1) | 0;
    this.runs.shift()?.(result);
  }
}

/** Most events that the loop handles in one turn: this many answers may wait for the end of the turn. */
const EVENTS_PER_TURN = 1024;

/** Batches of lines gathered or waiting at once: one of each variant being filled, and a full one. */
const LINE_BATCHES = 3;

/**
 * Most blocks that a queue of `queueMax` requests can need: full ones, two being filled, those of lines,
 * those in flight, and scored ones whose answers are not written yet.
 */
export function blocksFor(queueMax: number, batchMax: number, workers: number): number {
  const scored = Math.ceil(Math.min(queueMax, EVENTS_PER_TURN) / batchMax);
  return Math.ceil(queueMax / batchMax) + 2 + LINE_BATCHES + workers * BATCHES_PER_WORKER + scored;
}
