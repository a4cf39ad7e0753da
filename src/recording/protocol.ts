import type { PlainError } from '../base/plainError.js';
import type { SeriesLimits } from '#rules/fields.js';
import type { RecordingOutcome } from './readRecording.js';

/** What crosses between an event loop and its thread for recordings. */

export interface RecordingThreadData {
  readonly limits: SeriesLimits;
  readonly niceness: number;
}

/** A body to the thread; its memory goes along. */
export type ToRecordingThread = Uint8Array;

/** From the thread: that it has started, or the outcome of the body sent last. */
export type FromRecordingThread =
  | { readonly kind: 'started' }
  | RecordingOutcome
  /** A mistake of ours, without its message: that may hold what was sent. */
  | { readonly kind: 'failed'; readonly error: PlainError };
