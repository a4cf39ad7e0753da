import { Piscina } from 'piscina';
import {
  createArena,
  type BatchResult,
  type BatchTask,
  type SessionOptions,
  type WorkerSetup,
} from './messages.js';

export interface PoolOptions {
  readonly workers: number;
  readonly batchMax: number;
  /** Blocks of the arena: batches gathered, queued or running at once. */
  readonly slots: number;
  readonly graphs: WorkerSetup['graphs'];
  readonly session: SessionOptions;
  /** A worker was lost; a new one takes its place. */
  onWorkerLost(error: Error): void;
  /** The workers' code; tests put others in its place. */
  readonly workerUrl?: URL;
}

/** Worker threads that run batches out of a shared arena. */
export interface InferencePool {
  readonly arena: SharedArrayBuffer;
  /** Batches that may be under way at once. */
  readonly capacity: number;
  /** Rejects where the run failed or its worker was lost; the arena still holds the rows. */
  run(task: BatchTask): Promise<BatchResult>;
  /** Resolves when each worker has loaded both graphs and run them; rejects where one can't. */
  warmUp(): Promise<void>;
  /** Only when no run is in flight: ending a worker during a run aborts the process. */
  close(): Promise<void>;
}

/** A worker that has one batch running has the next one at hand, so that it never idles through a hop. */
const BATCHES_PER_WORKER = 2;

/** Starts the workers. */
export function openPool(options: PoolOptions): InferencePool {
  const { workers, batchMax, graphs, session: sessionOptions } = options;
  const arena = createArena(options.slots, batchMax);
  const setup: WorkerSetup = { graphs, options: sessionOptions, arena, batchMax };
  const piscina = new Piscina({
    filename: (options.workerUrl ?? new URL('../worker/entry.js', import.meta.url)).href,
    name: 'run',
    minThreads: workers,
    maxThreads: workers,
    idleTimeout: Infinity,
    concurrentTasksPerWorker: BATCHES_PER_WORKER,
    recordTiming: false,
    workerData: setup,
  });
  watchLosses(piscina, options.onWorkerLost);
  const capacity = workers * BATCHES_PER_WORKER;
  const run = (task: BatchTask): Promise<BatchResult> => piscina.run(task) as Promise<BatchResult>;
  return {
    arena,
    capacity,
    run,
    async warmUp() {
      for (const lane of ['base', 'history'] as const) {
        // As many at once as the pool holds, so that each worker gets its share; the rows are still empty.
        const tasks = Array.from({ length: capacity }, () => run({ lane, slot: 0, first: 0, rows: 1 }));
        // Every one is awaited before a failure is told: who closes the pool then must find no run in flight.
        const failure = (await Promise.allSettled(tasks)).find(({ status }) => status === 'rejected');
        if (failure?.status === 'rejected') throw failure.reason;
      }
    },
    close() {
      piscina.removeAllListeners('workerDestroy');
      return piscina.destroy();
    },
  };
}

/** Piscina tells why only where no run was in flight: otherwise the runs that fail say it. */
function watchLosses(piscina: Piscina, onWorkerLost: PoolOptions['onWorkerLost']): void {
  let cause: Error | undefined;
  piscina.on('error', (error: Error) => {
    cause = error;
  });
  piscina.on('workerDestroy', () => {
    // The cause is told in the same turn, but later.
    queueMicrotask(() => {
      onWorkerLost(cause ?? new Error('a worker thread ended'));
      cause = undefined;
    });
  });
}

/** Blocks that a queue of `queueMax` requests can need: full ones, two being filled, and those under way. */
export function slotsFor(queueMax: number, batchMax: number, workers: number): number {
  return Math.ceil(queueMax / batchMax) + 2 + workers * BATCHES_PER_WORKER;
}
