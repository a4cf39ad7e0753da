import { parentPort, workerData } from 'node:worker_threads';
import { createLog } from '../base/process/log.js';
import type { Hang } from '../base/hangWatch.js';
import { Heartbeats } from '../base/heartbeats.js';
import { answer, type Call } from '../base/calls.js';
import { StandardOutput } from '../base/process/standardOutput.js';
import type { PublicAddress } from '../http/publicListener.js';
import { type TracedRequest, TraceQueue } from '../http/tracedRequest.js';
import { type EventLoopSetup, openEventLoopServer } from './eventLoopServer.js';
import { type LoopVerb, tell } from './eventLoopVerbs.js';

/**
 * Code of a thread that runs one of several event loops; `eventLoops.ts` is its counterpart on the main
 * thread.
 */

/** The main thread tells an event loop. */
export interface LoopCall {
  readonly verb: LoopVerb;
  readonly args: readonly unknown[];
}

/** Messages from an event loop to the main thread. */
export type FromEventLoop =
  { readonly hung: Hang } | { readonly crashed: Error } | { readonly traced: TracedRequest };

export interface EventLoopThreadData {
  readonly setup: EventLoopSetup;
  readonly name: string;
  /** The index of its heartbeat. */
  readonly beatsAt: number;
  /** Memory of a `TraceQueue`; undefined without tracing. */
  readonly traces: SharedArrayBuffer | undefined;
}

/** How long a stop waits for this thread's last log lines. */
const FLUSH_MS = 200;

async function runEventLoop(port: NonNullable<typeof parentPort>): Promise<PublicAddress> {
  const { setup, name, beatsAt, traces } = workerData as EventLoopThreadData;
  const output = new StandardOutput();
  const log = createLog({ level: setup.config.logLevel, name, sink: output });
  const say = (message: FromEventLoop): void => port.postMessage(message);
  const queue = traces && new TraceQueue(traces);
  const sayTraced = (traced: TracedRequest): void => say({ traced });
  const server = await openEventLoopServer(setup, log, {
    onHung: (hung) => say({ hung }),
    onTraced: queue && ((request) => queue.send(request, sayTraced)),
  });
  const stopBeating = new Heartbeats(setup.heartbeats).beat(beatsAt);
  const run = async ({ verb, args }: LoopCall): Promise<unknown> => {
    const value = await tell(server, verb, args);
    if (verb !== 'close') return value;
    stopBeating();
    return output.flushed(FLUSH_MS);
  };
  port.on('message', (told: Call<LoopCall>) => {
    void answer(told, run).then(() => {
      const { verb } = told.asked;
      if (verb === 'close') port.close(); // the last handle: the thread then ends by itself, its sockets closed
      if (verb === 'halt') hold();
    });
  });
  return server.address;
}

/** Holds this thread until the process ends. */
function hold(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

if (parentPort !== null) {
  const port = parentPort;
  // The main thread ends the process. If this thread ended first, Node would abort: its sockets are open.
  process.on('uncaughtException', (error) => port.postMessage({ crashed: error } satisfies FromEventLoop));
  port.once('message', (opened: Call<'open'>) => void answer(opened, () => runEventLoop(port)));
}
