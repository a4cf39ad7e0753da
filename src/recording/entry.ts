import { parentPort, workerData } from 'node:worker_threads';
import { asError, type PlainError } from '../base/errors.js';
import { WasmParser } from '../reading/wasmParser.js';
import { giveWay } from '../process/priority.js';
import { readRecordingOf, type RecordingOutcome } from './readRecording.js';
import type { SeriesLimits } from '#rules/fields.js';

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

/** Code of the thread that reads recordings, one at a time; `recordingThread.ts` is its counterpart. */
function run(port: NonNullable<typeof parentPort>, { limits, niceness }: RecordingThreadData): void {
  const parser = new WasmParser(limits);
  const say = (message: FromRecordingThread, transferred: readonly ArrayBuffer[] = []): void =>
    port.postMessage(message, transferred);
  port.on('message', (body: ToRecordingThread) => {
    const outcome = read(body, parser);
    say(outcome, 'body' in outcome ? [outcome.body.buffer as ArrayBuffer] : []);
  });
  // Only now: with all cores busy, starting at low priority would take longer than a request may wait.
  giveWay(niceness);
  say({ kind: 'started' });
}

function read(body: Uint8Array, parser: WasmParser): FromRecordingThread {
  try {
    return readRecordingOf(body, parser);
  } catch (error) {
    const { name, stack = '' } = asError(error);
    const message = `${name} while a recording was read`;
    const frames = stack.split('\n').filter((line) => line.startsWith('    at '));
    const plain = { message, stack: [message, ...frames].join('\n'), isForOperator: false };
    return { kind: 'failed', error: plain };
  }
}

if (parentPort !== null) run(parentPort, workerData as RecordingThreadData);
