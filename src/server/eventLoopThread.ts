import { parentPort, workerData } from 'node:worker_threads';
import { createLog } from '../base/log.js';
import type { IndexedRecord } from '../auth/keyTable.js';
import type { PublicAddress } from '../http/publicListener.js';
import type { Bundle } from '../model/bundle.js';
import { openEventLoopServer, type EventLoopServer, type EventLoopSetup } from './eventLoopServer.js';

/** Code of a thread that is one of several event loops; `frontThreads.ts` faces it. */

/** What the main thread tells an event loop. */
export type ToEventLoop =
  | { readonly kind: 'keys'; readonly records: readonly IndexedRecord[] }
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question };

/** What an event loop is asked to do and answers when it is done. */
export type Question =
  | { readonly kind: 'prepareModel'; readonly bundle: Bundle }
  | { readonly kind: 'switchModel' | 'dropModel' | 'drain' | 'close' };

/** What an event loop tells the main thread. */
export type FromEventLoop =
  | { readonly kind: 'listening'; readonly address: PublicAddress }
  | { readonly kind: 'failed'; readonly error: Error }
  | { readonly kind: 'done'; readonly id: number; readonly error?: Error }
  | { readonly kind: 'hung' };

export interface EventLoopThreadData {
  readonly setup: EventLoopSetup;
  readonly name: string;
}

async function runEventLoop(port: NonNullable<typeof parentPort>): Promise<void> {
  const { setup, name } = workerData as EventLoopThreadData;
  const log = createLog({ level: setup.config.logLevel, name });
  const say = (message: FromEventLoop): void => port.postMessage(message);
  const server = await openEventLoopServer(setup, log, { onHung: () => say({ kind: 'hung' }) });
  port.on('message', (message: ToEventLoop) => {
    if (message.kind === 'keys') return server.replaceKeys(message.records);
    const { id, question } = message;
    void answer(server, question).then(
      () => {
        log.flush();
        say({ kind: 'done', id });
        if (question.kind === 'close') port.close(); // the last handle: the thread ends by itself, its sockets closed
      },
      (error: unknown) => say({ kind: 'done', id, error: asError(error) }),
    );
  });
  say({ kind: 'listening', address: server.address });
}

function answer(server: EventLoopServer, question: Question): Promise<void> {
  switch (question.kind) {
    case 'prepareModel':
      return server.prepareModel(question.bundle);
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

function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
}

if (parentPort !== null) {
  const port = parentPort;
  await runEventLoop(port).catch((error: unknown) => {
    port.postMessage({ kind: 'failed', error: asError(error) } satisfies FromEventLoop);
  });
}
