import t from 'tap';
import {
  BATCHES_PER_WORKER,
  createMailbox,
  Receiver,
  Sender,
  type BatchTask,
} from '#acuity/scoring/messages.js';

const SENT_CELL = 0;

function task(slot: number): BatchTask {
  return { lane: slot % 2 === 0 ? 'base' : 'history', slot, first: slot % 3, rows: 1 + (slot % 32) };
}

t.test('tasks arrive whole and in their order, as many at once as a worker holds', async (t) => {
  const mailbox = createMailbox();
  const [sender, receiver] = [new Sender(mailbox), new Receiver(mailbox)];
  for (let round = 0; round < 100; round += BATCHES_PER_WORKER) {
    for (let next = 0; next < BATCHES_PER_WORKER; next++) sender.send(task(round + next));
    for (let next = 0; next < BATCHES_PER_WORKER; next++) {
      t.strictSame(receiver.next(), task(round + next));
    }
  }
});

t.test('the count of tasks may wrap around', async (t) => {
  const mailbox = createMailbox();
  const [sender, receiver] = [new Sender(mailbox), new Receiver(mailbox)];
  // As after 2³¹ − 2 tasks.
  for (const side of [sender, receiver])
    (side as unknown as { turn: { count: number } }).turn.count = 2 ** 31 - 2;
  new Int32Array(mailbox)[SENT_CELL] = 2 ** 31 - 2;
  for (let slot = 0; slot < 5; slot++) {
    sender.send(task(slot));
    t.strictSame(receiver.next(), task(slot));
  }
  t.equal(new Int32Array(mailbox)[SENT_CELL], -(2 ** 31) + 3);
});
