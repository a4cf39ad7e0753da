// A thread that takes from one keyIndex as fast as it can, together with another one.
import { workerData } from 'node:worker_threads';
import { Limits, type KeyLimits } from '#acuity/auth/limits/limits.js';

interface Task {
  readonly memory: SharedArrayBuffer;
  readonly keyIndex: number;
  readonly key: KeyLimits;
  readonly nowMs: number;
  readonly attempts: number;
  /** Two Int32: how many threads are ready; then, added up, how many requests were admitted. */
  readonly tally: SharedArrayBuffer;
}

const THREADS = 2;
const READY = 0;
const ADMITTED = 1;
const { memory, keyIndex, key, nowMs, attempts, tally } = workerData as Task;
const limits = new Limits(memory);
const counts = new Int32Array(tally);

Atomics.add(counts, READY, 1);
while (Atomics.load(counts, READY) < THREADS) Atomics.wait(counts, READY, 1, 1);

let admitted = 0;
for (let at = 0; at < attempts; at++) if (limits.take(keyIndex, key, nowMs) >= 0) admitted++;
Atomics.add(counts, ADMITTED, admitted);
