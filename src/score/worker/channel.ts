import type { BatchResult, BatchTask, WorkerChannel } from '../protocol.js';
import { TaskRingReader } from '../taskRing.js';
import { asError } from '../../base/errors.js';

/**
 * Runs the batches of a channel one by one while the thread lives. Between batches the thread is blocked, because
 * that wakes up sooner than its event loop; so nothing else may rely on a turn of that loop.
 */
export async function serveChannel(
  { ring, results }: WorkerChannel,
  runBatch: (task: BatchTask) => Promise<number>,
): Promise<never> {
  const reader = new TaskRingReader(ring);
  for (;;) {
    results.postMessage(await resultOf(runBatch, reader.next()));
    reader.notePosted();
  }
}

async function resultOf(
  runBatch: (task: BatchTask) => Promise<number>,
  task: BatchTask,
): Promise<BatchResult> {
  try {
    return await runBatch(task);
  } catch (error) {
    return asError(error);
  }
}
