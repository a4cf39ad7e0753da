import { parentPort } from 'node:worker_threads';
import { messageOf } from '../base/errors.js';
import { errorCode } from './fileError.js';
import { type FileAnswer, type FileQuestion, runOperation, STARTED } from './files.js';

/** Code of a thread that runs file operations one by one, for `fileThreads.ts`. */

function answer({ operation, args }: FileQuestion): FileAnswer {
  try {
    return { value: runOperation(operation, args) };
  } catch (error) {
    return { error: { message: messageOf(error), code: errorCode(error) } };
  }
}

parentPort?.on('message', (question: FileQuestion) => parentPort?.postMessage(answer(question)));
parentPort?.postMessage(STARTED);
