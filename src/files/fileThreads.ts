import { Worker } from 'node:worker_threads';
import { asError } from '../base/errors.js';
import { NO_ANSWER, systemError } from './fileError.js';
import { filesBy, type Files } from './files.js';
import { STARTED, type FileAnswer, type FileQuestion, type FileThreadMessage } from './fileMessages.js';

/** How long an owner waits for its operations. */
export interface Patience {
  readonly limitMs: number;
  /** Most late operations at once; beyond it, new ones are refused without a try. */
  readonly lateMax: number;
}

interface Owner extends Patience {
  late: number;
}

interface Task {
  readonly question: FileQuestion;
  readonly owner: Owner;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** A task waits this long for the one before it; then it gets its own thread. */
const WAIT_MS = 250;
/** Operations keep nothing in memory between them. */
const LIMITS = { maxYoungGenerationSizeMb: 4 };

/**
 * Threads for file operations that may hang, for instance on a mount whose server is gone. libuv's own threads, which
 * `fs/promises` uses, won't do: there are four for everything, and `exit` waits for them, so the process could not
 * exit while one hangs. While the disks answer, one thread is enough; a late operation keeps its thread, and the next
 * one gets another.
 */
export class FileThreads {
  private readonly waiting = new Set<Task>();
  private idle: FileThread | undefined;
  /** Threads that are idle, or busy with a task that is not late yet. */
  private prompt = 0;
  private late = 0;
  /** Threads still loading their code. */
  private readonly starting = new Set<FileThread>();
  private isClosed = false;

  /** `code`: what a thread runs; tests replace it. */
  constructor(private readonly code: URL = new URL('./fileThread.js', import.meta.url)) {}

  /** Whether a thread hangs: then only `exitAtOnce` ends the process. */
  get isHanging(): boolean {
    return this.late > 0;
  }

  /** The operations for one owner. Late operations of other owners do not count against it. */
  files(patience: Patience): Files {
    const owner = { ...patience, late: 0 };
    return filesBy((operation, args) => this.ask(owner, { operation, args }));
  }

  /**
   * Refuses all further operations. Resolves when no thread is starting any more: exiting while one starts crashes.
   * Does not wait for threads that hang.
   */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const { question, reject } of this.waiting) reject(noAnswer(question));
    this.waiting.clear();
    await Promise.all([...this.starting].map(({ started }) => started));
  }

  private ask(owner: Owner, question: FileQuestion): Promise<unknown> {
    if (this.isClosed) return Promise.reject(noAnswer(question));
    if (owner.late >= owner.lateMax) return Promise.reject(noAnswer(question));
    return new Promise((resolve, reject) => {
      const task: Task = { question, owner, resolve, reject };
      const { idle } = this;
      this.idle = undefined;
      if (idle !== undefined) idle.give(task);
      else if (this.prompt === 0) this.start(task);
      else this.queue(task);
    });
  }

  private queue(task: Task): void {
    this.waiting.add(task);
    setTimeout(() => {
      if (this.waiting.delete(task)) this.start(task);
    }, WAIT_MS);
  }

  private start(task: Task): void {
    try {
      const thread = new FileThread(this.code, {
        onLate: () => {
          this.prompt--;
          this.late++;
        },
        onBack: () => {
          this.prompt++;
          this.late--;
        },
        onStarted: () => this.starting.delete(thread),
        onFree: () => this.free(thread),
        onEnd: () => {
          this.prompt--;
          if (this.idle === thread) this.idle = undefined;
        },
      });
      this.prompt++;
      this.starting.add(thread);
      thread.give(task);
    } catch (error) {
      // For instance without a free file descriptor: the owner will try again.
      task.reject(asError(error));
    }
  }

  private free(thread: FileThread): void {
    const [next] = this.waiting;
    if (next !== undefined) {
      this.waiting.delete(next);
      thread.give(next);
    } else if (this.idle === undefined) this.idle = thread;
    else thread.end();
  }
}

interface FileThreadEvents {
  /** Its task did not finish in time. */
  onLate(): void;
  /** A late task has finished after all, or its thread has ended. */
  onBack(): void;
  /** Its code is loaded, or it ended before that. */
  onStarted(): void;
  /** It can take another task. */
  onFree(): void;
  /** It has ended. */
  onEnd(): void;
}

/** Extra time for the first task of a thread, which has to start. */
const START_MS = 5_000;

/** A thread that runs one task at a time. */
class FileThread {
  private readonly worker: Worker;
  private startMs = START_MS;
  private task: Task | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isLate = false;
  readonly started: Promise<void>;

  constructor(
    code: URL,
    private readonly events: FileThreadEvents,
  ) {
    this.worker = new Worker(code, { resourceLimits: LIMITS });
    this.worker.on('error', (error: Error) => this.finish()?.reject(error));
    this.worker.once('exit', () => events.onEnd());
    this.started = new Promise((resolve) => {
      const onStarted = (): void => {
        events.onStarted();
        resolve();
      };
      this.worker.once('message', onStarted).once('exit', onStarted);
    });
    this.worker.on('message', (message: FileThreadMessage) => {
      if (message !== STARTED) this.answered(message);
    });
  }

  give(task: Task): void {
    this.task = task;
    this.timer = setTimeout(() => this.late(task), task.owner.limitMs + this.startMs);
    this.worker.ref();
    this.worker.postMessage(task.question);
  }

  end(): void {
    void this.worker.terminate();
  }

  private late({ owner, question, reject }: Task): void {
    this.isLate = true;
    owner.late++;
    this.worker.unref();
    this.events.onLate();
    reject(noAnswer(question));
  }

  private answered(answer: FileAnswer): void {
    this.startMs = 0;
    const task = this.finish();
    if ('value' in answer) task?.resolve(answer.value);
    else task?.reject(rebuilt(answer.error));
    this.events.onFree();
  }

  /** Returns the task and takes it from this thread. */
  private finish(): Task | undefined {
    const { task } = this;
    clearTimeout(this.timer);
    if (this.isLate && task !== undefined) {
      task.owner.late--;
      this.events.onBack();
    }
    this.isLate = false;
    this.task = undefined;
    this.worker.unref();
    return task;
  }
}

function noAnswer({ args }: FileQuestion): Error {
  return systemError(NO_ANSWER, `${args[0] ?? 'a file'} does not answer`);
}

function rebuilt({ message, code }: { readonly message: string; readonly code: string | undefined }): Error {
  return code === undefined ? new Error(message) : systemError(code, message);
}
