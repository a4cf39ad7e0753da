/** Threads for file operations that may hang. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { call } from '../calls.js';
import { within } from '../within.js';
import { NO_ANSWER, systemError } from './fileError.js';
import { filesBy, type FileQuestion, type Files } from './files.js';

/** How long an owner waits for its operations. */
export interface Patience {
  readonly limitMs: number;
  /** Most late operations at once; beyond it, new ones are refused without a try. */
  readonly lateMax: number;
}

interface Owner extends Patience {
  late: number;
}

/** An operation waits this long for the one before it; then it gets its own thread. */
const WAIT_MS = 250;
/** Extra time for the first operation of a thread, which has to start. */
const START_MS = 5_000;
/** Operations keep nothing in memory between them. */
const LIMITS = { maxYoungGenerationSizeMb: 4 };

/**
 * Threads for file operations that may hang, for instance on a mount whose server is gone. libuv's own threads, which
 * `fs/promises` uses, won't do: there are four for everything, and `exit` waits for them, so the process could not
 * exit while one hangs. While the disks answer, one thread is enough; a late operation keeps its thread, and the next
 * one gets another.
 */
export class FileThreads {
  private idle: FileThread | undefined;
  /** Settles with the operation that began last. */
  private last: Promise<unknown> = Promise.resolve();
  private late = 0;
  /** Threads still loading their code. */
  private readonly starting = new Set<Promise<void>>();
  private isClosed = false;

  /** `code`: what a thread runs; tests replace it. */
  constructor(private readonly code: URL = new URL('./fileThread.js', import.meta.url)) {}

  /** Whether a thread hangs: then `process.exit` does not end the process. */
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
    await Promise.all(this.starting);
  }

  private ask(owner: Owner, question: FileQuestion): Promise<unknown> {
    const before = this.last.catch(() => undefined);
    const answer = within(WAIT_MS, before).then(() => {
      if (this.isClosed || owner.late >= owner.lateMax) throw noAnswer(question);
      return this.run(this.idle?.isAlive === true ? this.idle : this.start(), owner, question);
    });
    this.last = answer;
    return answer;
  }

  private start(): FileThread {
    const thread = new FileThread(this.code); // throws for instance without a free file descriptor
    this.starting.add(thread.started);
    void thread.started.then(() => this.starting.delete(thread.started));
    return thread;
  }

  private async run(thread: FileThread, owner: Owner, question: FileQuestion): Promise<unknown> {
    this.idle = undefined;
    let isLate = false;
    const answer = thread.ask(question);
    const answered = (): void => {
      if (isLate) {
        owner.late--;
        this.late--;
      }
      if (thread.isAlive && this.idle === undefined) this.idle = thread;
      else thread.end();
    };
    answer.then(answered, answered);
    if (await within(owner.limitMs + thread.startMs, answer)) return answer;
    isLate = true;
    owner.late++;
    this.late++;
    thread.leave();
    throw noAnswer(question);
  }
}

/** A thread that runs one operation at a time. Keeps the process alive only while one is waited for. */
class FileThread {
  /** Resolves when its code is loaded, or it ended before that. */
  readonly started: Promise<void>;
  /** How much longer its next operation may take. */
  startMs = START_MS;
  isAlive = true;
  private readonly worker: Worker;
  /** Fails the operation that is waited for, once the thread has ended. */
  private fail: (error: Error) => void = () => undefined;

  constructor(code: URL) {
    this.worker = new Worker(code, { resourceLimits: LIMITS });
    const ended = once(this.worker, 'exit').then(() => {
      throw new Error('the thread has ended');
    });
    const loaded = once(this.worker, 'message');
    this.started = Promise.race([loaded, ended]).then(
      () => undefined,
      () => undefined,
    );
    ended.catch((error: Error) => {
      this.isAlive = false;
      this.fail(error);
    });
  }

  async ask(question: FileQuestion): Promise<unknown> {
    this.worker.ref();
    try {
      // A race of the answer with the thread's end would keep the answer until that end.
      return await new Promise((resolve, reject) => {
        this.fail = reject;
        call(this.worker, question).then(resolve, reject);
      });
    } finally {
      this.startMs = 0;
      this.worker.unref();
    }
  }

  /** Its operation is no longer waited for. */
  leave(): void {
    this.worker.unref();
  }

  end(): void {
    void this.worker.terminate();
  }
}

function noAnswer({ args }: FileQuestion): Error {
  return systemError(NO_ANSWER, `${args[0] ?? 'a file'} does not answer`);
}
