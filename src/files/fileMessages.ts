import type { FileOperation } from './files.js';

/** What crosses threads between `fileThreads.ts` and `fileThread.ts`. */

export interface FileQuestion {
  readonly operation: FileOperation;
  readonly args: readonly string[];
}

/** An error loses its code when it crosses threads. */
export type FileAnswer =
  | { readonly value: unknown }
  | { readonly error: { readonly message: string; readonly code: string | undefined } };

/** A thread's first message: its code is loaded. */
export const STARTED = 'started';

export type FileThreadMessage = FileAnswer | typeof STARTED;
