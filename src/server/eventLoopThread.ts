import { parentPort, workerData } from 'node:worker_threads';
import type { IndexedRecord } from '../auth/authenticator.js';
import { createLog } from '../process/log.js';
import { Heartbeats } from '../base/heartbeats.js';
import { plainError, type PlainError } from '../base/plainError.js';
import { StandardOutput } from '../process/standardOutput.js';
import type { OwnAnswer } from '../http/ownRequest.js';
import type { PublicAddress } from '../http/publicListener.js';
import type { Bundle } from '../model/bundle.js';
import type { TracedRequest } from '../tracing/tracedRequest.js';
import { TraceQueue } from '../tracing/traceQueue.js';
import { openEventLoopServer, type EventLoopServer, type EventLoopSetup } from './eventLoopServer.js';

/**
 * Code of a thread that runs one of several event loops; `eventLoops.ts` is its counterpart on the main
 * thread.
 */

/** Messages from the main thread to an event loop. */
export type ToEventLoop =
  | { readonly kind: 'keys'; readonly records: readonly IndexedRecord[] }
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }
  | { readonly kind: 'score'; readonly id: number; readonly bytes: Uint8Array }
  | { readonly kind: 'halt' };

/** Questions to an event loop, each answered when it is done. */
export type Question =
  | { readonly kind: 'prepareModel'; readonly bundle: Bundle }
  | { readonly kind: 'replaceShadow'; readonly bundle: Bundle | undefined }
  | { readonly kind: 'switchModel' | 'dropModel' | 'drain' | 'close' };

/** Messages from an event loop to the main thread. */
export type FromEventLoop =
  | { readonly kind: 'listening'; readonly address: PublicAddress }
  | { readonly kind: 'failed'; readonly error: PlainError }
  | { readonly kind: 'done'; readonly id: number; readonly error?: PlainError }
  | { readonly kind: 'scored'; readonly id: number; readonly answer: OwnAnswer }
  | { readonly kind: 'hung' }
  | { readonly kind: 'traced'; readonly request: TracedRequest }
  | { readonly kind: 'halted' };

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
    onHung: () => say({ kind: 'hung' }),
    onTraced: queue && ((request) => queue.send(request, sayTraced)),
  });
  const stopBeating = new Heartbeats(setup.heartbeats).beat(beatsAt);
  port.on('message', (message: ToEventLoop) => {
    if (message.kind === 'keys') return server.replaceKeys(message.records);
    if (message.kind === 'halt') return void server.halt().then(() => hold(() => say({ kind: 'halted' })));
    if (message.kind === 'score') {
      const { id, bytes } = message;
      return void server.scoreOwn(bytes).then((answer) => say({ kind: 'scored', id, answer }));
    }
    const { id, question } = message;
    void answer(server, question).then(
      async () => {
        const isLast = question.kind === 'close';
        if (isLast) stopBeating();
        if (isLast) await output.flushed(FLUSH_MS);
        say({ kind: 'done', id });
        if (isLast) port.close(); // the last handle: the thread then ends by itself, its sockets closed
      },
      (error: unknown) => say({ kind: 'done', id, error: plainError(error) }),
    );
  });
  say({ kind: 'listening', address: server.address });
}

/** Holds this thread until the process ends. */
function hold(say: () => void): void {
  say();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function answer(server: EventLoopServer, question: Question): Promise<void> {
  switch (question.kind) {
    case 'prepareModel':
      return server.prepareModel(question.bundle);
    case 'replaceShadow':
      return server.replaceShadow(question.bundle);
    case 'switchModel':
      return server.switchModel();
    case 'dropModel':
      return server.dropModel();
    case 'drain':
      return server.drain();
    case 'close':
      return server.close();
  }
}

if (parentPort !== null) {
  const port = parentPort;
  await runEventLoop(port).catch((error: unknown) => {
    port.postMessage({ kind: 'failed', error: plainError(error) } satisfies FromEventLoop);
  });
}
