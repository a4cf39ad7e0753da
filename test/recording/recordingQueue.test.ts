import t, { type Test } from 'tap';
import { manualClock } from '../fixtures/manualClock.js';
import { RecordingQueue, type RecordingQueueOptions } from '#acuity/recording/recordingQueue.js';
import type { RecordingResult } from '#acuity/recording/recordingThread.js';

/**
 * A thread that does what the first byte of a body says: `h` hangs, `d` dies, `w` waits for the next body, anything
 * else comes back as it is.
 */
const CODE = `
import { parentPort } from 'node:worker_threads';
const waiting = [];
parentPort.on('message', (body) => {
  const kind = String.fromCharCode(body[0]);
  if (kind === 'h') for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  if (kind === 'd') process.exit(1);
  if (kind === 'e') throw new Error('lost');
  if (kind !== 'w') parentPort.postMessage({ kind: 'absent', body });
});
parentPort.postMessage({ kind: 'started' });
`;
const THREAD = new URL(`data:text/javascript,${encodeURIComponent(CODE)}`);
const LIMITS = { daySamplesMax: 10, nightSamplesMax: 10 };

type Settled = RecordingResult | 'expired';

function scene(t: Test, options: Partial<RecordingQueueOptions> = {}) {
  const clock = manualClock();
  let restarts = 0;
  const queue = new RecordingQueue({
    placesMax: 8,
    deadlineMs: 100,
    hangMs: 60_000,
    clock,
    thread: { limits: LIMITS, code: THREAD },
    onRestart: () => void restarts++,
    ...options,
  });
  t.teardown(() => queue.close());
  /** Names in the order in which they were settled. */
  const order: string[] = [];
  const send = (name: string, holder?: number, expiresMs = Infinity) => {
    let isGone = false;
    const result = new Promise<Settled>((resolve) => {
      queue.add({
        bytes: Uint8Array.from(Buffer.from(name)),
        holder,
        expiresMs,
        get isGone() {
          return isGone;
        },
        settle(settled) {
          order.push(name);
          resolve(settled);
        },
      });
    });
    return { name, result, hangUp: () => (isGone = true) };
  };
  return { queue, clock, restarts: () => restarts, order, send };
}

const textOf = (settled: Settled): string =>
  typeof settled === 'string' || settled instanceof Error || settled.kind !== 'absent'
    ? String(settled)
    : Buffer.from(settled.body).toString();

t.test('keys take turns, and the recordings of one are read in their order', async (t) => {
  const { send, order, queue } = scene(t);
  const sent = [send('a1', 1), send('a2', 1), send('a3', 1), send('b1', 2), send('c1', 3), send('own')];
  for (const { name, result } of sent) t.equal(textOf(await result), name);
  t.strictSame(order, ['a1', 'a2', 'b1', 'c1', 'own', 'a3']);
  await queue.drained();
  t.equal(queue.pending, 0);
});

t.test('a key holds half of the places, and all together hold all of them', async (t) => {
  const { send, queue } = scene(t);
  for (let count = 0; count < 4; count++) send('w', 1);
  t.strictSame(
    [1, 2].map((holder) => queue.room(holder)),
    ['shareFull', 'admitted'],
  );
  for (let count = 0; count < 4; count++) send('w', 2);
  t.strictSame(
    [3, undefined].map((holder) => queue.room(holder)),
    ['saturated', 'saturated'],
  );
  t.equal(queue.pending, 8);
  const smallest = scene(t, { placesMax: 1 });
  t.equal(smallest.queue.room(1), 'admitted');
  smallest.send('w', 1);
  t.equal(smallest.queue.room(1), 'saturated');
});

t.test('at its deadline, or without its caller, a recording gives its place back', async (t) => {
  const { send, queue, clock } = scene(t);
  const read = send('w', 1, 500);
  const late = send('late', 1, 500);
  const gone = send('gone', 2);
  send('patient', 3);
  clock.advance(499);
  gone.hangUp();
  t.equal(await gone.result, 'expired');
  clock.advance(1);
  t.equal(await late.result, 'expired');
  t.equal(await read.result, 'expired');
  t.equal(queue.pending, 2, 'the thread still reads the one that was given up');
});

t.test('a thread that is lost or hangs takes one recording along; another one reads the rest', async (t) => {
  for (const kind of ['d', 'e', 'h']) {
    const { send, restarts, queue } = scene(t, kind === 'h' ? { hangMs: 500 } : {});
    const [before, lost, after] = [send('before', 1), send(kind, 1), send('after', 1)];
    t.equal(textOf(await before.result), 'before');
    const told = await lost.result;
    t.ok(kind === 'h' ? told === 'expired' : told instanceof Error, `${kind}: ${String(told)}`);
    t.equal(textOf(await after.result), 'after');
    t.equal(restarts(), 1);
    await queue.drained();
  }
});

t.test('a halted queue takes nothing more, and starts no thread', async (t) => {
  const { queue } = scene(t);
  await queue.halt();
  t.equal(queue.room(1), 'saturated');
  await queue.close();
  const other = scene(t);
  const read = other.send('w', 1);
  await other.queue.close();
  t.type(await read.result, Error, 'closing ends the thread in the middle of a recording');
});
