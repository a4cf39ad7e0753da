import { parentPort } from 'node:worker_threads';
import { messageOf } from '../base/errors.js';
import { errorCode } from './fileError.js';
import { runOperation, type FileOperation } from './files.js';

/** Code of a thread for file operations, one after the other; `fileThreads.ts` faces it. */

export interface FileQuestion {
  readonly operation: FileOperation;
  readonly args: readonly string[];
}

/** An error does not keep its code when it crosses threads. */
export type FileAnswer =
  | { readonly value: unknown }
  | { readonly error: { readonly message: string; readonly code: string | undefined } };

function answer({ operation, args }: FileQuestion): FileAnswer {
  try {
    return { value: runOperation(operation, args) };
  } catch (error) {
    return { error: { message: messageOf(error), code: errorCode(error) } };
  }
}

parentPort?.on('message', (question: FileQuestion) => parentPort?.postMessage(answer(question)));
