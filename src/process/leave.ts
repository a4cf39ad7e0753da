import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { isatty } from 'node:tty';
import { Worker } from 'node:worker_threads';
import { exitAtOnce } from './exit.js';

const STDIO = [0, 1, 2] as const;

/** Those of standard input, output and error that are a terminal. Asked early: of a closed one nobody can tell. */
export function terminals(): readonly number[] {
  return STDIO.filter((file) => isatty(file));
}

export interface Leaving {
  readonly code: number;
  /** Ends the process in place of `exit` where that would not return. */
  readonly signal: NodeJS.Signals;
  /**
   * What the other threads do. `idle`: nothing that could hang, so that each can be ended. `halted`: they run no
   * JavaScript. `busy`: they may, and would crash when the process is taken from under them.
   */
  readonly threads: 'idle' | 'halted' | 'busy';
  /** As `terminals` found them at the start. */
  readonly terminals: readonly number[];
}

/** `exit` is held back so long for what is at work in libuv's pool, as a file that is being loaded. */
const POOL_MS = 200;
const POOL_STEP_MS = 5;
/** Longer than workers take for the batches that they hold. */
const SETTLE_MS = 50;

/**
 * Ends the process; the caller has flushed what must be flushed. `exit` waits for the threads of libuv's pool, so where
 * one of them hangs (a write to a log on a dead disk, a name that is looked up) this process is killed instead.
 */
export async function leave({ code, signal, threads, terminals: given }: Leaving): Promise<never> {
  for (let waited = 0; isPoolAtWork() && waited < POOL_MS; waited += POOL_STEP_MS) {
    await new Promise((resolve) => setTimeout(resolve, POOL_STEP_MS));
  }
  letGo(given);
  const isKilled = threads === 'busy' || isPoolAtWork();
  if (threads === 'idle' && !isKilled) process.exit(code);
  process.emit('exit', code);
  if (isKilled) dieBy(signal);
  // This thread gives the workers nothing more: they come to the end of what they run, and wait.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SETTLE_MS);
  return exitAtOnce(code);
}

/** Ends the process by the plain effect of a signal: nothing of it runs any more. */
function dieBy(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Node 20 aborts when it can't give a terminal back the modes that it found, as where that was closed. */
function letGo(files: readonly number[]): void {
  for (const file of files.filter((wasTerminal) => !isatty(wasTerminal))) {
    closeSync(file);
    openSync(devNull, 'r+'); // takes the lowest free number: this one
  }
}

/** Whether this thread waits for an operation on a file or a name, which run in libuv's pool. */
function isPoolAtWork(): boolean {
  return process.getActiveResourcesInfo().some((name) => /^(FSReq|CloseReq|Get\w+InfoReq)/.test(name));
}

/**
 * Kills the process when the time is up, from a thread of its own: the last resort where the event loop itself hangs.
 * Its code is given as text, as loading a file would itself wait for the pool. Resolves when the thread waits, as
 * leaving while one is being made can crash the process; rejects where there can't be one, as without a free file
 * descriptor.
 */
export async function killAfter(limitMs: number): Promise<void> {
  const at = process.hrtime.bigint() + BigInt(Math.round(limitMs)) * 1_000_000n;
  const watchdog = new Worker(WATCHDOG, { eval: true, execArgv: [], workerData: at });
  watchdog.unref();
  await once(watchdog, 'message');
}

const WATCHDOG = `
const { parentPort, workerData: at } = require('node:worker_threads');
parentPort.postMessage('waiting');
const leftMs = Number(at - process.hrtime.bigint()) / 1e6;
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.max(0, leftMs));
process.kill(process.pid, 'SIGKILL');
`;
