import t from 'tap';
import type { BatchTask } from '#acuity/score/protocol.js';
import {
  BATCHES_PER_WORKER,
  createTaskRing,
  TaskRingReader,
  TaskRingWriter,
} from '#acuity/score/taskRing.js';

const SENT_CELL = 0;

function task(blockIndex: number): BatchTask {
  return {
    variant: blockIndex % 2 === 0 ? 'base' : 'history',
    blockIndex,
    first: blockIndex % 3,
    rows: 1 + (blockIndex % 32),
  };
}

t.test('tasks arrive whole and in their order, as many at once as a worker holds', async (t) => {
  const ring = createTaskRing();
  const [writer, reader] = [new TaskRingWriter(ring), new TaskRingReader(ring)];
  for (let round = 0; round < 100; round += BATCHES_PER_WORKER) {
    for (let next = 0; next < BATCHES_PER_WORKER; next++) writer.send(task(round + next));
    for (let next = 0; next < BATCHES_PER_WORKER; next++) t.strictSame(reader.next(), task(round + next));
  }
});

t.test('the count of tasks may wrap around', async (t) => {
  const ring = createTaskRing();
  const [writer, reader] = [new TaskRingWriter(ring), new TaskRingReader(ring)];
  // As after 2³¹ − 2 tasks.
  for (const side of [writer, reader])
    (side as unknown as { cursor: { count: number } }).cursor.count = 2 ** 31 - 2;
  new Int32Array(ring)[SENT_CELL] = 2 ** 31 - 2;
  for (let blockIndex = 0; blockIndex < 5; blockIndex++) {
    writer.send(task(blockIndex));
    t.strictSame(reader.next(), task(blockIndex));
  }
  t.equal(new Int32Array(ring)[SENT_CELL], -(2 ** 31) + 3);
});
