import { parentPort, workerData } from 'node:worker_threads';
import { createLog } from '../base/log.js';
import type { SlottedRecord } from '../auth/keyTable.js';
import type { PublicAddress } from '../http/server.js';
import type { Bundle } from '../model/bundle.js';
import { openFront, type Front, type FrontSetup } from './front.js';

/** Code of a thread that is one of several event loops; `frontThreads.ts` faces it. */

/** What the main thread tells an event loop. */
export type ToFront =
  | { readonly kind: 'keys'; readonly records: readonly SlottedRecord[] }
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question };

/** What an event loop is asked to do and answers when it is done. */
export type Question =
  | { readonly kind: 'prepareModel'; readonly bundle: Bundle }
  | { readonly kind: 'switchModel' | 'dropModel' | 'drain' | 'close' };

/** What an event loop tells the main thread. */
export type FromFront =
  | { readonly kind: 'listening'; readonly address: PublicAddress }
  | { readonly kind: 'failed'; readonly error: Error }
  | { readonly kind: 'done'; readonly id: number; readonly error?: Error }
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
    if (message.kind === 'keys') return front.replaceKeys(message.records);
    const { id, question } = message;
    void answer(front, question).then(
      () => {
        log.flush();
        say({ kind: 'done', id });
        if (question.kind === 'close') port.close(); // the last handle: the thread ends by itself, its sockets closed
      },
      (error: unknown) => say({ kind: 'done', id, error: asError(error) }),
    );
  });
  say({ kind: 'listening', address: front.address });
}

function answer(front: Front, question: Question): Promise<void> {
  switch (question.kind) {
    case 'prepareModel':
      return front.prepareModel(question.bundle);
    case 'switchModel':
      return front.switchModel();
    case 'dropModel':
      return front.dropModel();
    case 'drain':
      return front.drain();
    case 'close':
      return front.close();
  }
}

function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
}

if (parentPort !== null) {
  const port = parentPort;
  await runFront(port).catch((error: unknown) => {
    port.postMessage({ kind: 'failed', error: asError(error) } satisfies FromFront);
  });
}
