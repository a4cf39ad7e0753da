/** Code of a thread that runs file operations one by one, for `fileThreads.ts`. */
import { parentPort } from 'node:worker_threads';
import { answer, type Call } from '../calls.js';
import { type FileQuestion, runOperation } from './files.js';

parentPort?.on(
  'message',
  (call: Call<FileQuestion>) => void answer(call, ({ operation, args }) => runOperation(operation, args)),
);
parentPort?.postMessage('its code is loaded');
