import { closeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { keepInspectorShut, STOP_SIGNALS } from '../../base/process/signals.js';
import { asError } from '../../base/errors.js';
import type { RecordingOutcome } from '../../read/readRecording.js';
import { ReaderEnd, type AnswerHead, type GivenToReader } from './readerPipe.js';

/** The life of the process that reads recordings; `recordingReader.ts` is its counterpart. */

/** Kills the process if its parent has gone, which it would not see in a loop: at an idle moment the pipe tells it. */
const WATCHDOG = `
const { workerData: { parent, isUp } } = require('node:worker_threads');
Atomics.store(isUp, 0, 1);
Atomics.notify(isUp, 0);
while (process.ppid === parent) Atomics.wait(isUp, 0, 1, 500);
process.kill(process.pid, 'SIGKILL');
`;

export function givenToReader(): GivenToReader {
  return JSON.parse(process.argv[2] ?? '') as GivenToReader;
}

/** Answers one body after the other by `read`, until the pipe ends. */
export function runReader(read: (body: Uint8Array) => RecordingOutcome): never {
  const { parent, inherited } = givenToReader();
  for (const file of inherited) closeSync(file);
  // Ctrl-C in a terminal, or a stop of the whole unit, leaves it to answer what is in flight.
  for (const signal of STOP_SIGNALS) process.on(signal, () => undefined);
  keepInspectorShut();
  const isUp = new Int32Array(new SharedArrayBuffer(4));
  new Worker(WATCHDOG, { eval: true, execArgv: [], env: {}, workerData: { parent, isUp } }).unref();
  Atomics.wait(isUp, 0, 0); // no body before it watches
  if (process.ppid !== parent) process.exit(0);
  const end = new ReaderEnd();
  end.answer({ kind: 'ready' });
  for (let body = end.next(); body !== undefined; body = end.next()) {
    const outcome = outcomeOf(body, read);
    if (outcome.kind !== 'read') end.answer(outcome);
    else end.answer({ ...outcome, body: undefined } as AnswerHead, outcome.body);
  }
  process.exit(0);
}

type Read = RecordingOutcome | Extract<AnswerHead, { readonly kind: 'failed' }>;

function outcomeOf(body: Uint8Array, read: (body: Uint8Array) => RecordingOutcome): Read {
  try {
    return read(body);
  } catch (error) {
    const { name, stack = '' } = asError(error);
    const message = `${name} while a recording was read`;
    const frames = stack.split('\n').filter((line) => line.startsWith('    at '));
    const plain = { message, stack: [message, ...frames].join('\n'), isForOperator: false };
    return { kind: 'failed', error: plain };
  }
}
