import { Worker } from 'node:worker_threads';
import { asError } from '../base/errors.js';
import { NO_ANSWER, systemError } from './fileError.js';
import { filesBy, type Files } from './files.js';
import { STARTED, type FileAnswer, type FileQuestion, type FileThreadMessage } from './fileMessages.js';

/** How long the owner of an operation waits for it. */
export interface Patience {
  readonly limitMs: number;
  /** Operations that may be late at once; while so many are, new ones are refused without a try. */
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

/** So long a task waits behind another one's; then it gets a thread of its own. */
const WAIT_MS = 250;
/** Operations keep nothing from one to the next. */
const LIMITS = { maxYoungGenerationSizeMb: 4 };

/**
 * Threads for file operations that may hang, as on a mount whose server is gone. Not those of libuv, which
 * `fs/promises` uses: there are four for everything, and `exit` waits for them, so that the process could not be
 * left while one hangs. One thread does for as long as the disks answer; an operation that is late keeps its
 * thread, and the next one gets another.
 */
export class FileThreads {
  private readonly waiting = new Set<Task>();
  private idle: FileThread | undefined;
  /** Threads that are idle or at work on what is not late yet. */
  private prompt = 0;
  private late = 0;
  /** Threads that load their code. */
  private readonly starting = new Set<FileThread>();
  private isClosed = false;

  /** `code`: what a thread runs; tests put other code in its place. */
  constructor(private readonly code: URL = new URL('./fileThread.js', import.meta.url)) {}

  /** Whether a thread hangs: only `exitAtOnce` leaves then. */
  get isHanging(): boolean {
    return this.late > 0;
  }

  /** The operations for one owner. Those of another that are late refuse it nothing. */
  files(patience: Patience): Files {
    const owner = { ...patience, late: 0 };
    return filesBy((operation, args) => this.ask(owner, { operation, args }));
  }

  /**
   * Refuses every further operation. Resolves when no thread is being made any more: leaving the process meanwhile
   * takes from under it what it uses, and crashes. What hangs is not waited for.
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
      // As where no file descriptor is left: the owner will ask again.
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
  /** Its task did not come back in time. */
  onLate(): void;
  /** A late task came back after all, or its thread has ended. */
  onBack(): void;
  /** Its code is loaded, or it has ended before. */
  onStarted(): void;
  /** It can be given another task. */
  onFree(): void;
  /** It is no more. */
  onEnd(): void;
}

/** So much longer the first task of a thread may take, which has to start. */
const START_MS = 5_000;

/** A thread that does one task at a time. */
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

  /** The task, which is no longer this thread's. */
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
