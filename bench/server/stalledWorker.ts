import { isMainThread } from 'node:worker_threads';

/**
 * Loaded before the service (`node --import`): slows every model run, so that the queue is always full. The event
 * loop's work is unchanged.
 */
const RUN_MS = 250;

if (!isMainThread) {
  const { InferenceSession } = await import('onnxruntime-node');
  const { prototype } = InferenceSession as unknown as { prototype: InferenceSession };
  const run = Reflect.get(prototype, 'run') as (...feeds: unknown[]) => Promise<unknown>;
  const never = new Int32Array(new SharedArrayBuffer(4));
  Reflect.set(prototype, 'run', function (this: unknown, ...feeds: unknown[]) {
    Atomics.wait(never, 0, 0, RUN_MS);
    return Reflect.apply(run, this, feeds) as unknown;
  });
}

type InferenceSession = import('onnxruntime-node').InferenceSession;
