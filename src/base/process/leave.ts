/** The end of the process, within a limit. */
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { isatty } from 'node:tty';
import { Worker } from 'node:worker_threads';
import { createRequire } from 'node:module';
import { messageOf, OperatorError } from '../errors.js';
import { isAsleep, type ThreadTimes, timesOfOthers } from '../threadTimes.js';
import { within } from '../within.js';
import type { StandardOutput } from './standardOutput.js';

const STDIO = [0, 1, 2] as const;

/** The standard streams that are terminals, looked at while none can have been closed. */
export const TERMINALS = STDIO.filter((file) => isatty(file));

/** How long `exit` may wait for work in libuv's pool, for instance a file being loaded. */
const POOL_MS = 200;
const POOL_STEP_MS = 5;

/** How long `exitAtOnce` may wait for other threads to be at rest: they may starve. */
const REST_MS = 700;
/** A thread that runs for so long in that time loops: it is not waited for. */
const LOOP_MS = 100;
const REST_STEP_MS = 5;

/*
 * Limits for leaving. Every step is bounded; if together they take too long, the process is killed within the two seconds
 * after the drain that docs/OPERATIONS.md promises.
 */
const FLUSH_MS = 400;
const KILL_MS = 1800;
const STEP_MS = 1000;

export interface ProcessEndOptions {
  readonly output: StandardOutput;
  /** Threads for files. */
  readonly threads: { readonly isHanging: boolean; close(): Promise<void> };
}

export interface LastSteps {
  readonly code: number;
  /** Ends the process where `exit` would not return. */
  readonly signal: NodeJS.Signals;
  /** Until then it waits for threads that are starting or ending. */
  readonly endsMs: number;
  /** After these no thread is starting or ending any more, and none is in a run of the network. */
  settled(): readonly Promise<unknown>[];
  /** Whether workers may still live. */
  hasWorkers(): boolean;
}

/** The end of the process: within a limit, even if something hangs. Times are those of `performance.now`. */
export class ProcessEnd {
  hasBegun = false;
  private readonly watchdog = new Watchdog();

  constructor(private readonly options: ProcessEndOptions) {
    this.watchdog.started.catch(() => undefined); // `guarded` tells it
  }

  /** Resolves when the process is sure to end once it has to. @throws OperatorError where no thread can be started */
  async guarded(): Promise<void> {
    try {
      await this.watchdog.started;
    } catch (error) {
      throw new OperatorError(`no thread can be started: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Ends the process soon after `atMs` at the latest. */
  limit(atMs: number): void {
    this.watchdog.limit(atMs + KILL_MS - performance.now());
  }

  /**
   * Flushes, and ends the process. `exit` waits for the threads of libuv's pool, so if one of them hangs (a log write to
   * a dead disk, a name look-up) the process kills itself instead.
   */
  async leave({ code, signal, endsMs, settled, hasWorkers }: LastSteps): Promise<never> {
    this.hasBegun = true;
    const { threads, output } = this.options;
    this.limit(endsMs);
    const stepMs = endsMs - performance.now() + STEP_MS;
    const steps = [...settled(), threads.close(), Promise.allSettled([this.watchdog.started])];
    const outcomes = await Promise.all(steps.map((step) => within(stepMs, step)));
    await output.flushed(FLUSH_MS);
    for (let waited = 0; isPoolAtWork() && waited < POOL_MS; waited += POOL_STEP_MS) {
      await new Promise((resolve) => setTimeout(resolve, POOL_STEP_MS));
    }
    letGoOfTerminals();
    // Threads that may be starting, ending or in a run would crash if the process ended.
    const isKilled = !outcomes.every(Boolean) || isPoolAtWork();
    if (!isKilled && !hasWorkers() && !threads.isHanging) process.exit(code);
    process.emit('exit', code);
    if (isKilled) dieBy(signal);
    return exitAtOnce(code);
  }
}

/** Exits with `code` once no run is in flight (see `exitAtOnce`); kills the process if that takes too long. */
export async function exitOnceStill(code: number, still: Promise<unknown>): Promise<never> {
  if (!(await within(STEP_MS, still))) dieBy('SIGKILL');
  return exitAtOnce(code);
}

/** Ends the process by a signal's default action: no more of its code runs. */
function dieBy(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Node 20 aborts if it can't restore a terminal's modes, for instance because the terminal was closed. */
function letGoOfTerminals(): void {
  for (const file of TERMINALS.filter((wasTerminal) => !isatty(wasTerminal))) {
    closeSync(file);
    openSync(devNull, 'r+'); // takes the lowest free descriptor, which is this one
  }
}

/** Whether this thread waits for a file operation or a name look-up, which run in libuv's pool. */
function isPoolAtWork(): boolean {
  return process.getActiveResourcesInfo().some((name) => /^(FSReq|CloseReq|Get\w+InfoReq)/.test(name));
}

/**
 * Kills the process if its end does not come in time: the last resort if the event loop itself hangs. Its thread starts
 * with the process: at the end a starved machine may start none in time, and V8 aborts where no address space is left
 * for one. The thread's code is passed as text, because loading a file would wait for the pool.
 */
export class Watchdog {
  /** Nanoseconds on the clock of `process.hrtime`; `NEVER_YET` until there is a limit. */
  private readonly at = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT));
  /**
   * Resolves once the thread waits, since exiting while a thread starts can crash; rejects if it can't be started, for
   * instance without a free file descriptor.
   */
  readonly started = this.start();

  /** Kills the process `inMs` milliseconds from now, or earlier if an earlier limit stands. */
  limit(inMs: number): void {
    const at = process.hrtime.bigint() + BigInt(Math.round(inMs)) * 1_000_000n;
    const known = Atomics.load(this.at, 0);
    if (known !== NEVER_YET && known <= at) return;
    Atomics.store(this.at, 0, at);
    Atomics.notify(this.at, 0);
  }

  private async start(): Promise<void> {
    const resourceLimits = { maxYoungGenerationSizeMb: 1 };
    const thread = new Worker(WATCHDOG, { eval: true, execArgv: [], workerData: this.at, resourceLimits });
    thread.unref();
    await once(thread, 'message');
  }
}

const NEVER_YET = 0n;

const WATCHDOG = `
const { parentPort, workerData: at } = require('node:worker_threads');
parentPort.postMessage('waiting');
for (;;) {
  const known = Atomics.load(at, 0);
  const leftMs = known === ${NEVER_YET}n ? Infinity : Number(known - process.hrtime.bigint()) / 1e6;
  if (leftMs <= 0) {
    process.kill(process.pid, 'SIGKILL');
    (${String(exitOfC)})(require, 128 + 9); // the first process of a container: the system drops its signals to itself
  }
  Atomics.wait(at, 0, known, Math.max(0, leftMs));
}
`;

/**
 * Exits with `code` (0 to 255), even while a worker thread hangs. Calls no `exit` listener: flush everything first. Call
 * it only when no other worker is in a run: the C library's `exit` takes apart what Node and the network's library work
 * with, and a thread that goes on then crashes (SIGSEGV instead of the code). So it waits until none has run between two
 * looks.
 *
 * `process.exit` ends the worker threads and waits for them: it never returns if one hangs in native code. Node's only way
 * to the plain `exit` of the C library is WASI's `proc_exit`.
 */
function exitAtOnce(code: number): never {
  awaitRest();
  try {
    exitOfC(createRequire(import.meta.url), code);
  } finally {
    process.exit(code);
  }
}

/** Blocks this thread, so that none of its own work begins in the meantime. */
function awaitRest(): void {
  const still = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const first = timesOfOthers();
  let before = first;
  // By the clock: looks at many threads take long, and so do the steps of a process that starves.
  for (const endsMs = performance.now() + REST_MS; performance.now() < endsMs;) {
    Atomics.wait(still, 0, 0, REST_STEP_MS);
    const now = timesOfOthers();
    const isAtRest = ([thread, times]: [string, ThreadTimes | undefined]): boolean => {
      if (times === undefined) return false;
      const ranSince = (look: typeof now): number => times.ranMs - (look.get(thread)?.ranMs ?? NaN);
      return (isAsleep(times) && ranSince(before) === 0) || ranSince(first) > LOOP_MS;
    };
    if ([...now].every(isAtRest)) return;
    before = now;
  }
}

/** Needs nothing else of this file: the watchdog's thread gets its text. */
function exitOfC(load: NodeJS.Require, code: number): void {
  // Loaded only here: Node warns that it is experimental, in a later tick that never comes.
  const { WASI } = load('node:wasi') as typeof import('node:wasi');
  const wasi = new WASI({ version: 'preview1', returnOnExit: false });
  const memory = new WebAssembly.Memory({ initial: 1 });
  wasi.initialize({ exports: { memory } }); // it takes no calls without a memory
  (wasi.wasiImport as { proc_exit(code: number): void }).proc_exit(code);
}
