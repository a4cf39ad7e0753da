import { Worker } from 'node:worker_threads';
import { tableFromIPC, type Schema } from 'apache-arrow';
import { YOUNG_THREAD_LIMITS } from '../process/collector.js';
import { FILE_NAMES, TableError, isBroken, readingError } from './tableError.js';
import type { TableOptions, TableRows } from './tableRows.js';

/** A file of tables, and what of it is wanted. */
export interface TableTask {
  readonly path: string;
  readonly format: 'arrow' | 'parquet';
  /** Without them its schema alone is read. */
  readonly options?: TableOptions;
}

/** What a thread is asked for: to open a file, or for more rows of it. */
export type TableRequest = TableTask | 'next';
/** What it answers to the former. */
export interface TableOpened {
  /** What the file says of its columns, as an Arrow stream without rows. */
  readonly schema: Uint8Array;
  /** Most bytes that reading it takes, beside what any file does. */
  readonly memory: number;
}
/** What it answers to the latter: rows; undefined after the last ones. To both: why there are none. */
export type TableAnswer = TableRows | { readonly failure: string; readonly isOperators: boolean } | undefined;

/** Pieces of up to 1,024 rows that a thread is ahead, 200 bytes a row and what is kept: several files' worth of waiting. */
const AHEAD = 32;

/** Most bytes that the files under way may take together, unless one alone takes more: the process stays below 1 GB. */
const MEMORY_MAX = 512 << 20;

/**
 * Reads tables on threads of their own, a file on each: reading one costs more than all else that this process does
 * with a row. Files that are expected are begun in their order, while those before them are still being scored.
 * `close` ends the threads.
 */
export class TableReaders {
  private readonly waiting: TableFile[] = [];
  private readonly expected: TableFile[] = [];
  private readonly threads = new Map<Worker, TableFile | undefined>();
  /** The files that threads have, in the order in which they were begun. */
  private underWay: TableFile[] = [];

  constructor(
    private readonly threadsMax: number,
    private readonly memoryMax = MEMORY_MAX,
  ) {}

  /** Begins files that will be asked for, in this order. */
  expect(tasks: readonly TableTask[]): void {
    for (const task of tasks) this.expected.push(this.queue(task));
  }

  /** The schema of a file: of one that is expected as it was opened, since its rows may fill all threads. @throws TableError */
  async schema(task: Omit<TableTask, 'options'>): Promise<Schema> {
    const file = this.expected.find(({ task: { path } }) => path === task.path) ?? this.queue(task);
    return tableFromIPC(await file.schema()).schema;
  }

  /** The rows of a file, in their order. */
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

  /** Gives the files that wait to threads that have none. */
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

  /** Lets files be read, as far as there is memory: one after the other, so that none waits for a later one. */
  private admit(): void {
    let memory = 0;
    for (const file of this.underWay) {
      if (file.memory === undefined || (memory > 0 && memory + file.memory > this.memoryMax)) return;
      memory += file.memory;
      file.read();
    }
  }

  /** The memory of the file is free, and so is its thread where it has one. */
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

  /** Whoever wanted the file wants no more of it. */
  private async abandon(file: TableFile): Promise<void> {
    const [thread] = [...this.threads].find(([, its]) => its === file) ?? [];
    if (thread === undefined) return;
    this.threads.delete(thread);
    await thread.terminate();
    this.left(file);
  }
}

/** A file that a thread reads, and the rows of it that are there. */
class TableFile {
  /** Everything was read. */
  isRead = false;
  /** Everything was taken. */
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

  /** Asks for the first rows, once. */
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

  /** Before any rows are taken. @throws TableError */
  async schema(): Promise<Uint8Array> {
    await this.until(() => this.opened !== undefined || this.answers.length > 0);
    if (this.opened === undefined) await this.next();
    if (this.opened === undefined) throw new Error('rows of a file that is not open');
    return this.opened.schema;
  }

  /** Undefined behind the last rows. @throws TableError */
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
