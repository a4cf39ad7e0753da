import { TaskRingReader, type BatchResult, type BatchTask, type WorkerChannel } from '../scoring/protocol.js';

/**
 * Runs the batches of a channel, one after the other, for as long as the thread lives. Between two of them the thread
 * is blocked, which wakes it sooner than its event loop would; nothing else may wait for a turn of that loop.
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
    return error instanceof Error ? error : new Error(String(error));
  }
}
