import { parentPort, workerData } from 'node:worker_threads';
import { createLog } from '../base/log.js';
import type { SlottedRecord } from '../auth/keyTable.js';
import type { PublicAddress } from '../http/server.js';
import { openFront, type FrontSetup } from './front.js';

/** Code of a thread that is one of several event loops; `frontThreads.ts` faces it. */

/** What the main thread tells an event loop. */
export type ToFront =
  | { readonly kind: 'keys'; readonly records: readonly SlottedRecord[] }
  | { readonly kind: 'drain' }
  | { readonly kind: 'close' };

/** What an event loop tells the main thread. */
export type FromFront =
  | { readonly kind: 'listening'; readonly address: PublicAddress }
  | { readonly kind: 'failed'; readonly error: Error }
  | { readonly kind: 'drained' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'hung' };

export interface FrontThreadData {
  readonly setup: FrontSetup;
  readonly name: string;
}

async function runFront(port: NonNullable<typeof parentPort>): Promise<void> {
  const { setup, name } = workerData as FrontThreadData;
  const log = createLog({ level: setup.config.logLevel, name });
  const say = (message: FromFront): void => port.postMessage(message);
  const front = await openFront(setup, log, { onHung: () => say({ kind: 'hung' }) });
  port.on('message', (message: ToFront) => {
    if (message.kind === 'keys') front.replaceKeys(message.records);
    else if (message.kind === 'drain') void front.drain().then(() => say({ kind: 'drained' }));
    else {
      void front.close().then(() => {
        log.flush();
        say({ kind: 'closed' });
        port.close(); // the last handle: the thread ends by itself, its sockets closed
      });
    }
  });
  say({ kind: 'listening', address: front.address });
}

if (parentPort !== null) {
  const port = parentPort;
  await runFront(port).catch((error: unknown) => {
    port.postMessage({
      kind: 'failed',
      error: error instanceof Error ? error : new Error(String(error)),
    } satisfies FromFront);
  });
}
