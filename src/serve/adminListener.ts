/** The main thread's half of the admin listener: it opens the thread, tells it the state, and does what it asks. */
import { Worker } from 'node:worker_threads';
import type { AdminThreadData, FromAdminThread } from '../admin/adminThread.js';
import type { ProcessState } from '../admin/measurements.js';
import type { TryScore } from '../admin/tryDesk.js';
import { answer, call, type Call } from '../base/calls.js';
import { errorOf } from '../base/errors.js';
import { listenError } from './listenError.js';

export interface AdminServer {
  readonly port: number;
  /** Tells the state at once; else it is told every `TELL_MS`. */
  tell(): void;
  /** Resolves when the listener's thread has ended. */
  close(): Promise<void>;
}

export interface AdminHooks {
  state(): ProcessState;
  readonly score: TryScore;
  /** The thread has failed. */
  onCrash(error: Error): void;
  /** A page could not be kept up to date for a moment. */
  onProblem(error: Error): void;
}

/** As often as the event loops read their gauges. */
const TELL_MS = 250;
/** The thread keeps little from one request to the next. */
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 4 };

/** Opens the admin listener, separate from the public one. @throws OperatorError if it cannot listen */
export async function openAdmin(
  data: AdminThreadData,
  { state, score, onCrash, onProblem }: AdminHooks,
): Promise<AdminServer> {
  const thread = new Worker(new URL('../admin/adminThread.js', import.meta.url), {
    workerData: data,
    resourceLimits: THREAD_LIMITS,
  });
  thread.unref();
  thread.on('message', (message: Call<FromAdminThread>) => {
    void answer(message, (asked) => ('problem' in asked ? onProblem(errorOf(asked.problem)) : score(asked)));
  });
  const failed = new Promise<never>((_, reject) => {
    thread.on('error', (error) => {
      reject(error);
      onCrash(error);
    });
  });
  const tell = (): void => thread.postMessage(state());
  try {
    const port = await Promise.race([call<number>(thread, state()), failed]);
    const telling = setInterval(tell, TELL_MS).unref();
    const close = async (): Promise<void> => {
      clearInterval(telling);
      await thread.terminate();
    };
    return { port, tell, close };
  } catch (error) {
    await thread.terminate();
    const { adminHost: host, adminPort: port } = data.config;
    throw listenError(error, { host, port, variables: 'ACUITY_ADMIN' });
  }
}
