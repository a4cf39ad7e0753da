import type { Watched } from '#acuity/base/hangWatch.js';
import { blockAt, createBatchBuffers, readRow } from '#acuity/score/batchBuffers.js';
import { OUTPUT_COLUMNS } from '#acuity/model/tensors.js';
import type { InferencePool, PoolOptions, RunListener } from '#acuity/score/pool.js';
import type { BatchResult, BatchTask } from '#acuity/score/protocol.js';
import { BATCHES_PER_WORKER } from '#acuity/score/taskRing.js';
import type { Scheduler } from './scheduler.js';
import { marksOf, scoresOf } from './scores.js';

export interface SimulatedPoolOptions extends Pick<
  PoolOptions,
  'workers' | 'blocks' | 'batchMax' | 'onWorkerLost'
> {
  readonly scheduler: Scheduler;
  /** Which model it runs. */
  readonly model: number;
  /** What the simulation has in store for its workers now. */
  readonly troubles: WorkerTroubles;
}

/** Chances of a run, from 0 to 1; changed while the workers run. */
export interface WorkerTroubles {
  dies: number;
  hangs: number;
  isSlow: number;
  /** Requests that end every worker that runs them, by their weight. */
  readonly poison: Set<number>;
  /** Requests whose run on their own was met by a trouble that is not theirs. */
  readonly unlucky: Set<number>;
  onTrouble(trouble: string): void;
}

interface Run {
  readonly task: BatchTask;
  readonly done: RunListener;
}

class Worker implements Watched {
  readonly name = 'simulated worker';
  readonly folder = undefined;
  progress = 0;
  /** What was sent to it and was not told yet, oldest first. */
  readonly runs: Run[] = [];
  /** Results that wait in its port, of the first runs. */
  readonly posted: BatchResult[] = [];
  isRunning = false;
  isStarting = false;

  get isBusy(): boolean {
    return this.runs.length > 0;
  }
}

const START_MS = 1500;
const SLOW_MS = 1200;

/** Workers that score by `scoresOf`, in their time, and that die and hang. */
export class SimulatedPool implements InferencePool {
  readonly buffers: SharedArrayBuffer;
  readonly capacity: number;
  isClosed = false;
  private readonly workers: Worker[];

  constructor(private readonly options: SimulatedPoolOptions) {
    const { workers, blocks, batchMax } = options;
    this.buffers = createBatchBuffers(blocks, batchMax);
    this.capacity = workers * BATCHES_PER_WORKER;
    this.workers = Array.from({ length: workers }, () => new Worker());
  }

  get watched(): readonly Watched[] {
    return this.workers;
  }

  run(task: BatchTask, done: RunListener): void {
    if (this.isClosed) throw new Error('a run of a pool that is closed');
    const all = this.workers.flatMap(({ runs }) => runs);
    if (all.some((run) => run.task.blockIndex === task.blockIndex))
      throw new Error(`block ${task.blockIndex} runs twice`);
    const worker = this.workers.reduce((idlest, other) =>
      other.runs.length < idlest.runs.length ? other : idlest,
    );
    if (worker.runs.length >= BATCHES_PER_WORKER) throw new RangeError('more batches than a worker may hold');
    worker.runs.push({ task, done });
    if (!worker.isRunning) this.begin(worker);
  }

  collect(): void {
    for (const worker of this.workers) while (worker.posted.length > 0) deliver(worker);
  }

  async warmUp(): Promise<void> {}

  readonly isStarting = false;
  readonly atWork = [];

  halt(): void {}

  async close(): Promise<void> {
    if (this.workers.some(({ runs }) => runs.length > 0)) throw new Error('a worker is ended during a run');
    this.isClosed = true;
  }

  private begin(worker: Worker): void {
    const run = worker.runs[worker.posted.length];
    if (run === undefined || worker.isStarting) return;
    worker.isRunning = true;
    const { scheduler, troubles } = this.options;
    const { random } = scheduler;
    const marks = this.marksOf(run);
    const ms = 0.2 + 2 * random() + 0.05 * run.task.rows;
    const isPoisoned = marks.some(({ weight }) => troubles.poison.has(weight));
    if (!isPoisoned && random() < troubles.hangs) return troubles.onTrouble('worker hangs');
    if (isPoisoned || random() < troubles.dies) {
      if (!isPoisoned && run.task.rows === 1) this.spoil(run);
      troubles.onTrouble('worker dies');
      return this.later(ms, () => this.lose(worker));
    }
    const isSlow = random() < troubles.isSlow;
    if (isSlow) troubles.onTrouble('worker is slow');
    this.later(isSlow ? SLOW_MS * random() : ms, () => this.finish(worker, run, ms));
  }

  private finish(worker: Worker, run: Run, ms: number): void {
    const { scores } = this.block(run);
    for (const [row, marks] of this.marksOf(run).entries())
      scores.set(scoresOf(marks, this.options.model), (run.task.first + row) * OUTPUT_COLUMNS);
    worker.posted.push(ms);
    worker.isRunning = false;
    worker.progress++;
    this.later(0.3 * this.options.scheduler.random(), () => {
      if (worker.posted.length > 0) deliver(worker);
    });
    this.begin(worker);
  }

  /** The thread ends: what it had posted may come or not, the rest fails. */
  private lose(worker: Worker): void {
    const at = this.workers.indexOf(worker);
    const next = new Worker();
    this.workers[at] = next;
    const error = new Error('the worker has ended');
    this.options.onWorkerLost(error);
    worker.posted.length = 0;
    const runs = worker.runs.splice(0);
    for (const run of runs) if (run.task.rows === 1 && run !== runs[0]) this.spoil(run);
    this.start(next);
    for (const { done } of runs) done(error);
  }

  private start(worker: Worker): void {
    worker.isStarting = true;
    this.later(20 + START_MS * this.options.scheduler.random(), () => {
      worker.isStarting = false;
      this.begin(worker);
    });
  }

  private spoil(run: Run): void {
    for (const { weight } of this.marksOf(run)) this.options.troubles.unlucky.add(weight);
  }

  private marksOf(run: Run) {
    const { first, rows } = run.task;
    const block = this.block(run);
    return Array.from({ length: rows }, (_, row) => {
      const { records, targets, pastCount } = readRow(block, first + row);
      return marksOf(records, targets, pastCount);
    });
  }

  private block({ task }: Run) {
    return blockAt(this.buffers, this.options.batchMax, task.blockIndex);
  }

  private later(ms: number, work: () => void): void {
    const { scheduler } = this.options;
    scheduler.after(scheduler.actor, ms, work);
  }
}

function deliver(worker: Worker): void {
  const result = worker.posted.shift();
  const run = worker.runs.shift();
  if (result === undefined || run === undefined) throw new Error('a result of no run');
  run.done(result);
}
