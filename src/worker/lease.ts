import { Receiver, type BatchResult, type BatchTask, type Lease } from '../scoring/messages.js';

/**
 * Runs the batches of a lease, one after the other, for as long as the thread lives. Between two of them the thread
 * is blocked, which wakes it sooner than its event loop would; nothing else may wait for a turn of that loop.
 */
export async function serveLease(
  { mailbox, results }: Lease,
  runBatch: (task: BatchTask) => Promise<number>,
): Promise<never> {
  const receiver = new Receiver(mailbox);
  for (;;) {
    results.postMessage(await resultOf(runBatch, receiver.next()));
    receiver.notePosted();
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
