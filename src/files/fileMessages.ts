import type { FileOperation } from './files.js';

/** What crosses threads between `fileThreads.ts` and `fileThread.ts`. */

export interface FileQuestion {
  readonly operation: FileOperation;
  readonly args: readonly string[];
}

/** An error does not keep its code when it crosses threads. */
export type FileAnswer =
  | { readonly value: unknown }
  | { readonly error: { readonly message: string; readonly code: string | undefined } };

/** The first message of a thread: its code is loaded. */
export const STARTED = 'started';

export type FileThreadMessage = FileAnswer | typeof STARTED;
