import t, { type Test } from 'tap';
import { recordingQueue } from '../../fixtures/loop.js';
import { manualClock } from '../../fixtures/manualClock.js';
import { until } from '../../fixtures/until.js';
import { systemClock } from '#acuity/base/clock.js';
import type { RecordingQueueOptions } from '#acuity/http/recordings/recordingQueue.js';
import type { RecordingResult } from '#acuity/http/recordings/recordingReader.js';

const LIMITS = { daySamplesMax: 10, nightSamplesMax: 10 };

type Settled = RecordingResult | 'expired';

function scene(t: Test, options: Partial<RecordingQueueOptions> = {}) {
  const clock = manualClock();
  const lost: string[] = [];
  const onLost = ({ message }: Error): void => void lost.push(message);
  const queue = recordingQueue(t, { deadlineMs: 100, clock, onLost, ...options });
  const alive = setInterval(() => undefined, 1_000); // a reader keeps no process
  t.teardown(() => clearInterval(alive));
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
  return { queue, clock, lost, order, send };
}

const kindOf = (settled: Settled): string =>
  typeof settled === 'string' ? settled : settled instanceof Error ? 'error' : settled.kind;

t.test('keys take turns, and the recordings of one are read in their order', async (t) => {
  const { send, order, queue } = scene(t);
  const sent = [send('a1', 1), send('a2', 1), send('a3', 1), send('b1', 2), send('c1', 3), send('own')];
  for (const { result } of sent) t.equal(kindOf(await result), 'absent');
  t.strictSame(order, ['a1', 'b1', 'c1', 'own', 'a2', 'a3']);
  await queue.drained();
  t.equal(queue.pending, 0);
});

t.test('a key holds half of the places, and all together hold all of them', async (t) => {
  const { send, queue } = scene(t);
  for (let count = 0; count < 4; count++) send('hang', 1);
  t.strictSame([queue.room(1), queue.room(2)], ['shareFull', 'admitted']);
  for (let count = 0; count < 4; count++) send('hang', 2);
  t.strictSame([queue.room(3), queue.room(undefined)], ['saturated', 'saturated']);
  t.equal(queue.pending, 8);
  const smallest = scene(t, { placesMax: 1 });
  t.equal(smallest.queue.room(1), 'admitted');
  smallest.send('hang', 1);
  t.equal(smallest.queue.room(1), 'saturated');
});

t.test('at its deadline, or without its caller, a recording gives its place back', async (t) => {
  const { send, queue, clock, order } = scene(t);
  await send('first').result;
  const read = send('hang', 1, 500);
  const late = send('late', 1, 500);
  const gone = send('gone', 2);
  send('patient', 3);
  clock.advance(499);
  gone.hangUp();
  t.equal(await gone.result, 'expired');
  clock.advance(1);
  t.equal(await late.result, 'expired');
  t.equal(await read.result, 'expired');
  t.equal(queue.pending, 2, 'the reader still reads the one that was given up');
  t.strictSame(order, ['first', 'gone', 'hang', 'late']);
});

t.test('a drain waits for no recording that was given up', async (t) => {
  const { send, queue, clock } = scene(t);
  await send('first').result;
  const read = send('hang', 1, 500);
  clock.advance(500);
  t.equal(await read.result, 'expired');
  await queue.drained();
  t.equal(queue.pending, 1);
});

t.test('a reader that ends or hangs takes one recording along; another one reads the rest', async (t) => {
  const clock = systemClock;
  for (const [word, told] of Object.entries({
    killed: 'error',
    leave: 'error',
    hang: 'expired',
    loop: 'expired',
  })) {
    const isHung = told === 'expired';
    const { send, lost, queue } = scene(t, { clock, ...(isHung ? { hangMs: 500 } : {}) });
    const [before, ill, after] = [send('before', 1), send(word, 1), send('after', 1)];
    t.equal(kindOf(await before.result), 'absent');
    t.equal(kindOf(await ill.result), told, word);
    t.equal(kindOf(await after.result), 'absent');
    t.match(lost, [isHung ? 'it hung' : /^it ended with (SIGKILL|3)$/]);
    await queue.drained();
    queue.close();
  }
});

t.test(
  'a reader is started once in a second at most, and what waits for it is lost by its deadline alone',
  async (t) => {
    const entry = new URL('../../fixtures/no-such-file.js', import.meta.url);
    const { send, lost, clock, queue } = scene(t, { reader: { limits: LIMITS, entry } });
    const waiting = send('a', 1, 2_000);
    for (let starts = 1; starts <= 2; starts++) {
      await until(() => lost.length === starts);
      t.match(lost.at(-1), 'it ended with 1');
      await new Promise((resolve) => setTimeout(resolve, 50)); // some sweeps
      t.equal(lost.length, starts);
      clock.advance(1_000);
    }
    t.equal(await waiting.result, 'expired');
    t.equal(queue.pending, 0);
  },
);

t.test('a closed queue takes nothing more, and ends its reader in the middle of a recording', async (t) => {
  const { queue, send } = scene(t);
  await send('first').result;
  const read = send('hang', 1);
  queue.close();
  t.equal(queue.room(1), 'saturated');
  t.equal(kindOf(await read.result), 'error');
});
