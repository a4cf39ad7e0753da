// A thread that takes from one slot as fast as it can, together with another one.
import assert from 'node:assert';
import { parentPort, workerData } from 'node:worker_threads';
import { Limits, type KeyLimits } from '#acuity/auth/limits.js';

interface Task {
  readonly memory: SharedArrayBuffer;
  readonly slot: number;
  readonly key: KeyLimits;
  readonly nowMs: number;
  readonly attempts: number;
  /** Counts the threads that are ready. */
  readonly gun: SharedArrayBuffer;
}

const THREADS = 2;
const { memory, slot, key, nowMs, attempts, gun } = workerData as Task;
const limits = new Limits(memory);
const ready = new Int32Array(gun);

Atomics.add(ready, 0, 1);
Atomics.notify(ready, 0);
while (Atomics.load(ready, 0) < THREADS) Atomics.wait(ready, 0, 1, 10);

let admitted = 0;
for (let at = 0; at < attempts; at++) if (limits.take(slot, key, nowMs) >= 0) admitted++;

assert(parentPort !== null);
parentPort.postMessage(admitted);
