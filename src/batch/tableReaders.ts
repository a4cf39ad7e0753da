import { Worker } from 'node:worker_threads';
import { tableFromIPC, type Schema } from 'apache-arrow';
import { YOUNG_THREAD_LIMITS } from '../process/collector.js';
import { FILE_NAMES, TableError, isBroken, readingError } from './tableError.js';
import type { TableOptions, TableRows } from './tableRows.js';

/** A table file, and what is needed of it. */
export interface TableTask {
  readonly path: string;
  readonly format: 'arrow' | 'parquet';
  /** Absent: only its schema is read. */
  readonly options?: TableOptions;
}

/** A request to a thread: to open a file, or for more rows of it. */
export type TableRequest = TableTask | 'next';
/** The answer to the first kind of request. */
export interface TableOpened {
  /** The columns, as an Arrow stream without rows. */
  readonly schema: Uint8Array;
  /** Most memory that reading it takes, beyond the usual. */
  readonly memory: number;
}
/** The answer to 'next': rows, or undefined after the last ones. To both kinds: why there are none. */
export type TableAnswer = TableRows | { readonly failure: string; readonly isOperators: boolean } | undefined;

/**
 * Pieces of up to 1,024 rows that a thread reads ahead, 200 bytes per row plus kept columns: enough to read several
 * files ahead.
 */
const AHEAD = 32;

/**
 * Most memory that all open files may take together, unless a single one takes more: the process stays below 1 GB.
 */
const MEMORY_MAX = 512 << 20;

/**
 * Reads tables on dedicated threads, one file on each: reading a row costs more than everything else this process
 * does with it. Expected files are started in order, while earlier ones are still being scored. `close` ends the
 * threads.
 */
export class TableReaders {
  private readonly waiting: TableFile[] = [];
  private readonly expected: TableFile[] = [];
  private readonly threads = new Map<Worker, TableFile | undefined>();
  /** The files assigned to threads, in the order they were started. */
  private underWay: TableFile[] = [];

  constructor(
    private readonly threadsMax: number,
    private readonly memoryMax = MEMORY_MAX,
  ) {}

  /** Starts files that will be requested, in this order. */
  expect(tasks: readonly TableTask[]): void {
    for (const task of tasks) this.expected.push(this.queue(task));
  }

  /**
   * The schema of a file. An expected file has been opened already, since its rows may occupy all threads. @throws
   * TableError
   */
  async schema(task: Omit<TableTask, 'options'>): Promise<Schema> {
    const file = this.expected.find(({ task: { path } }) => path === task.path) ?? this.queue(task);
    return tableFromIPC(await file.schema()).schema;
  }

  /** The rows of a file, in order. */
  async *rows(task: TableTask): AsyncGenerator<TableRows, void, undefined> {
    const place = this.expected.findIndex(({ task: { path } }) => path === task.path);
    const [file = this.queue(task)] = place < 0 ? [] : this.expected.splice(place, 1);
    try {
      for (let rows = await file.next(); rows !== undefined; rows = await file.next()) yield rows;
    } finally {
      if (!file.isOver) await this.abandon(file);
    }
  }

  async close(): Promise<void> {
    const threads = [...this.threads.keys()];
    this.threads.clear();
    await Promise.all(threads.map((thread) => thread.terminate()));
  }

  private queue(task: TableTask): TableFile {
    const file = new TableFile(task);
    this.waiting.push(file);
    this.assign();
    return file;
  }

  /** Assigns waiting files to idle threads. */
  private assign(): void {
    while (this.waiting.length > 0) {
      const idle = [...this.threads].find(([, file]) => file === undefined)?.[0];
      const thread = idle ?? (this.threads.size < this.threadsMax ? this.start() : undefined);
      if (thread === undefined) return;
      const file = this.waiting.shift();
      if (file === undefined) return;
      this.threads.set(thread, file);
      this.underWay.push(file);
      file.begin(thread);
    }
  }

  /** Lets files be read while memory suffices: in order, so that none waits for a later one. */
  private admit(): void {
    let memory = 0;
    for (const file of this.underWay) {
      if (file.memory === undefined || (memory > 0 && memory + file.memory > this.memoryMax)) return;
      memory += file.memory;
      file.read();
    }
  }

  /** Frees the memory of the file, and its thread if it has one. */
  private left(file: TableFile | undefined): void {
    this.underWay = this.underWay.filter((other) => other !== file);
    this.assign();
    this.admit();
  }

  private start(): Worker {
    const thread = new Worker(new URL('./tableThread.js', import.meta.url), {
      resourceLimits: YOUNG_THREAD_LIMITS,
    });
    thread.on('message', (answer: TableOpened | TableAnswer) => {
      const file = this.threads.get(thread);
      file?.take(answer);
      if (file?.isRead !== true) return this.admit();
      this.threads.set(thread, undefined);
      this.left(file);
    });
    thread.on('error', (error) => {
      const file = this.threads.get(thread);
      this.threads.delete(thread);
      file?.fail(isBroken(error) ? readingError(error, FILE_NAMES[file.task.format]) : error);
      this.left(file);
    });
    return thread;
  }

  /** Stops reading a file that is no longer needed. */
  private async abandon(file: TableFile): Promise<void> {
    const [thread] = [...this.threads].find(([, its]) => its === file) ?? [];
    if (thread === undefined) return;
    this.threads.delete(thread);
    await thread.terminate();
    this.left(file);
  }
}

/** A file that a thread reads, and its rows so far. */
class TableFile {
  /** Whether everything was read. */
  isRead = false;
  /** Whether everything was taken. */
  isOver = false;
  private opened: TableOpened | undefined;
  private isAdmitted = false;
  private thread: Worker | undefined;
  private readonly answers: TableAnswer[] = [];
  private failure: { readonly error: unknown } | undefined;
  private wake: (() => void) | undefined;

  constructor(readonly task: TableTask) {}

  /** Bytes that reading it takes; undefined until it is open. */
  get memory(): number | undefined {
    return this.opened?.memory;
  }

  begin(thread: Worker): void {
    this.thread = thread;
    this.ask(this.task);
  }

  /** Requests the first rows, once. */
  read(): void {
    if (this.isAdmitted) return;
    this.isAdmitted = true;
    for (let ahead = 0; ahead < AHEAD; ahead++) this.ask('next');
  }

  take(answer: TableOpened | TableAnswer): void {
    if (answer !== undefined && 'memory' in answer) {
      this.opened = answer;
      this.isRead = this.task.options === undefined;
    } else {
      this.answers.push(answer);
      this.isRead = answer === undefined || 'failure' in answer;
    }
    this.wake?.();
  }

  fail(error: unknown): void {
    this.failure = { error };
    this.wake?.();
  }

  /** Call before taking rows. @throws TableError */
  async schema(): Promise<Uint8Array> {
    await this.until(() => this.opened !== undefined || this.answers.length > 0);
    if (this.opened === undefined) await this.next();
    if (this.opened === undefined) throw new Error('rows of a file that is not open');
    return this.opened.schema;
  }

  /** Undefined after the last rows. @throws TableError */
  async next(): Promise<TableRows | undefined> {
    await this.until(() => this.answers.length > 0);
    const answer = this.answers.shift();
    this.isOver = answer === undefined || 'failure' in answer;
    if (answer === undefined) return undefined;
    if ('failure' in answer)
      throw answer.isOperators ? new TableError(answer.failure) : new Error(answer.failure);
    if (!this.isRead) this.ask('next');
    return answer;
  }

  private async until(isThere: () => boolean): Promise<void> {
    while (!isThere()) {
      if (this.failure !== undefined) {
        this.isOver = true;
        throw this.failure.error;
      }
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  private ask(request: TableRequest): void {
    this.thread?.postMessage(request);
  }
}
