import { MessageChannel, receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import { setTimeout as sleep } from 'node:timers/promises';
import { Piscina } from 'piscina';
import { GRAPH_VARIANTS } from '../contract/graphVariant.js';
import { YOUNG_THREAD_LIMITS } from '../process/collector.js';
import { createBatchBuffers } from './batchBuffers.js';
import type {
  BatchResult,
  BatchTask,
  ExplainSetup,
  WorkerChannel,
  SessionOptions,
  WorkerSetup,
} from './protocol.js';
import { BATCHES_PER_WORKER, createTaskRing, TaskRingWriter } from './taskRing.js';

export interface PoolOptions {
  readonly workers: number;
  readonly batchMax: number;
  /** Blocks of the buffers: batches gathered, queued or running at once. */
  readonly blocks: number;
  readonly graphs: WorkerSetup['graphs'];
  /** What the network explains its scores with; without `runsExplainGraph` it is only seen whether it can be loaded. */
  readonly explain?: ExplainSetup | undefined;
  readonly runsExplainGraph?: boolean;
  readonly session: SessionOptions;
  /** How much the workers give way to other threads; 0 where it is absent. */
  readonly niceness?: number;
  /** A worker was lost; a new one takes its place. */
  onWorkerLost(error: Error): void;
  /** The workers' code; tests put others in its place. */
  readonly workerUrl?: URL;
}

/** Worker threads that run batches out of shared buffers. */
export interface InferencePool {
  readonly buffers: SharedArrayBuffer;
  /** Batches that may be under way at once. */
  readonly capacity: number;
  /**
   * Runs `task`, then calls `done` with the milliseconds of the run, or with an error where it failed or its worker
   * was lost; the buffers still hold the rows then.
   * @throws RangeError with more than `capacity` under way
   */
  run(task: BatchTask, done: RunListener): void;
  /** Calls, before it returns, the listeners of all runs that have ended. */
  collect(): void;
  /** Resolves when each worker has loaded its graphs and run them; rejects where one can't. */
  warmUp(): Promise<void>;
  /** Whether a worker is being started: runs wait for it. */
  readonly isStarting: boolean;
  /** Resolves when no worker is being started, of those that were lost neither. */
  started(): Promise<void>;
  /** Only when no run is in flight: ending a worker during a run aborts the process. */
  close(): Promise<void>;
}

/** How often a pool is looked at that somebody waits for. */
const START_STEP_MS = 5;

export type RunListener = (result: BatchResult) => void;

/** Milliseconds of one run of `task`; rejects where it failed. */
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
 * Piscina starts the workers, notices their end and replaces them. What it gives each is one task, which
 * ends with the worker: to serve a channel. Batches go to the worker through a ring in shared memory, and their results
 * come back by a port of its own. A Piscina task for each batch costs more, on the event loop's thread above all.
 */
class PiscinaPool implements InferencePool {
  readonly buffers: SharedArrayBuffer;
  readonly capacity: number;
  private readonly piscina: Piscina;
  private readonly workers: WorkerHandle[];
  private isClosing = false;

  constructor(private readonly options: PoolOptions) {
    const { workers, batchMax, graphs, runsExplainGraph = false, session, niceness = 0 } = options;
    this.buffers = createBatchBuffers(options.blocks, batchMax);
    this.capacity = workers * BATCHES_PER_WORKER;
    const explain = options.explain === undefined ? {} : { explain: options.explain };
    const setup: WorkerSetup = {
      graphs,
      ...explain,
      runsExplainGraph,
      options: session,
      buffers: this.buffers,
      batchMax,
      niceness,
    };
    this.piscina = new Piscina({
      filename: (options.workerUrl ?? new URL('../worker/entry.js', import.meta.url)).href,
      name: 'run',
      minThreads: workers,
      maxThreads: workers,
      idleTimeout: Infinity,
      recordTiming: false,
      resourceLimits: YOUNG_THREAD_LIMITS,
      workerData: setup,
    });
    // A worker that fails while it starts has no channel yet: the task that waits for it says so.
    this.piscina.on('error', (error: Error) => options.onWorkerLost(error));
    this.workers = Array.from({ length: workers }, (_, index) => this.openChannel(index));
  }

  run(task: BatchTask, done: RunListener): void {
    let idlest = this.workers[0];
    for (const worker of this.workers) {
      if (idlest === undefined || worker.running < idlest.running) idlest = worker;
    }
    if (idlest === undefined) throw new RangeError('a pool without workers');
    idlest.run(task, done);
  }

  collect(): void {
    for (const worker of this.workers) worker.collect();
  }

  async warmUp(): Promise<void> {
    for (const variant of GRAPH_VARIANTS) {
      // As many at once as the pool holds, so that each worker gets its share; the rows are still empty.
      const tasks = Array.from({ length: this.capacity }, () =>
        runOnce(this, { variant, blockIndex: 0, first: 0, rows: 1 }),
      );
      // Every one is awaited before a failure is told: who closes the pool then must find no run in flight.
      const failure = (await Promise.allSettled(tasks)).find(({ status }) => status === 'rejected');
      if (failure?.status === 'rejected') throw failure.reason;
    }
  }

  async started(): Promise<void> {
    while (this.isStarting) await sleep(START_STEP_MS);
  }

  get isStarting(): boolean {
    return !this.workers.every(({ hasBegun }) => hasBegun);
  }

  async close(): Promise<void> {
    this.isClosing = true;
    await this.piscina.destroy();
    for (const worker of this.workers) worker.end(new Error('the pool is closed'));
  }

  private openChannel(index: number): WorkerHandle {
    const { port1, port2 } = new MessageChannel();
    const ring = createTaskRing();
    const worker = new WorkerHandle(new TaskRingWriter(ring), port1);
    const channel: WorkerChannel = { ring, results: port2 };
    this.piscina.run(channel, { transferList: [port2] }).catch((error: Error) => {
      if (this.isClosing) return;
      this.options.onWorkerLost(error);
      // The next one first: whoever is told of a failed run may run it again at once.
      this.workers[index] = this.openChannel(index);
      worker.end(error);
    });
    return worker;
  }
}

/** A worker as its pool sees it: what was sent to it and has not come back, oldest first. */
class WorkerHandle {
  private readonly runs: RunListener[] = [];
  /** Results that have come back; wraps around as the ring's count does. */
  private received = 0;

  constructor(
    private readonly writer: TaskRingWriter,
    private readonly results: MessagePort,
  ) {
    results.on('message', (result: BatchResult) => this.receive(result));
  }

  get running(): number {
    return this.runs.length;
  }

  get hasBegun(): boolean {
    return this.writer.hasBegun;
  }

  /** @throws RangeError where the ring is full: the pool's `capacity` was overstepped */
  run(task: BatchTask, done: RunListener): void {
    if (this.runs.length >= BATCHES_PER_WORKER) throw new RangeError('more batches than a worker may hold');
    this.runs.push(done);
    this.writer.send(task);
  }

  /** Asks the port only where something has been posted: asking costs more than looking at the count. */
  collect(): void {
    while (this.writer.posted !== this.received) {
      const posted = receiveMessageOnPort(this.results) as { readonly message: BatchResult } | undefined;
      if (posted === undefined) return;
      this.receive(posted.message);
    }
  }

  /** Fails what it had at hand. */
  end(error: Error): void {
    this.results.close();
    for (const done of this.runs.splice(0)) done(error);
  }

  private receive(result: BatchResult): void {
    this.received = (this.received + 1) | 0;
    this.runs.shift()?.(result);
  }
}

/** Events that the loop handles in one turn, at most: so many answers may wait for the turn's end. */
const EVENTS_PER_TURN = 1024;

/**
 * Blocks that a queue of `queueMax` requests can need: full ones, two being filled, those under way, and those that
 * are scored and wait for their answers to be written.
 */
export function blocksFor(queueMax: number, batchMax: number, workers: number): number {
  const scored = Math.ceil(Math.min(queueMax, EVENTS_PER_TURN) / batchMax);
  return Math.ceil(queueMax / batchMax) + 2 + workers * BATCHES_PER_WORKER + scored;
}
