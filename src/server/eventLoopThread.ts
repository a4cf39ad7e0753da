import { parentPort, workerData } from 'node:worker_threads';
import { createLog } from '../process/log.js';
import type { Hang } from '../base/hangWatch.js';
import { Heartbeats } from '../base/heartbeats.js';
import { plainError, type PlainError } from '../base/errors.js';
import { StandardOutput } from '../process/standardOutput.js';
import type { PublicAddress } from '../http/publicListener.js';
import { type TracedRequest, TraceQueue } from '../tracing/tracedRequest.js';
import { type EventLoopServer, type EventLoopSetup, openEventLoopServer } from './eventLoopServer.js';

/**
 * Code of a thread that runs one of several event loops; `eventLoops.ts` is its counterpart on the main
 * thread.
 */

/** What the main thread calls on an event loop; each call is answered when it is done. */
export type LoopMethod = Exclude<keyof EventLoopServer, 'address'>;

export interface LoopCall {
  readonly id: number;
  readonly method: LoopMethod;
  readonly args: readonly unknown[];
}

/** Messages from an event loop to the main thread. */
export type FromEventLoop =
  | { readonly kind: 'listening'; readonly address: PublicAddress }
  | { readonly kind: 'failed'; readonly error: PlainError }
  | { readonly kind: 'done'; readonly id: number; readonly value?: unknown; readonly error?: PlainError }
  | { readonly kind: 'hung'; readonly hang: Hang }
  | { readonly kind: 'traced'; readonly request: TracedRequest };

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

async function runEventLoop(port: NonNullable<typeof parentPort>): Promise<void> {
  const { setup, name, beatsAt, traces } = workerData as EventLoopThreadData;
  const output = new StandardOutput();
  const log = createLog({ level: setup.config.logLevel, name, sink: output });
  const say = (message: FromEventLoop): void => port.postMessage(message);
  const queue = traces && new TraceQueue(traces);
  const sayTraced = (request: TracedRequest): void => say({ kind: 'traced', request });
  const server = await openEventLoopServer(setup, log, {
    onHung: (hang) => say({ kind: 'hung', hang }),
    onTraced: queue && ((request) => queue.send(request, sayTraced)),
  });
  const stopBeating = new Heartbeats(setup.heartbeats).beat(beatsAt);
  port.on('message', ({ id, method, args }: LoopCall) => {
    const run = server[method] as (...given: readonly unknown[]) => unknown;
    void Promise.resolve(run(...args)).then(
      async (value) => {
        const isLast = method === 'close';
        if (isLast) stopBeating();
        if (isLast) await output.flushed(FLUSH_MS);
        say({ kind: 'done', id, value });
        if (isLast) port.close(); // the last handle: the thread then ends by itself, its sockets closed
        if (method === 'halt') hold();
      },
      (error: unknown) => say({ kind: 'done', id, error: plainError(error) }),
    );
  });
  say({ kind: 'listening', address: server.address });
}

/** Holds this thread until the process ends. */
function hold(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

if (parentPort !== null) {
  const port = parentPort;
  await runEventLoop(port).catch((error: unknown) => {
    port.postMessage({ kind: 'failed', error: plainError(error) } satisfies FromEventLoop);
  });
}
