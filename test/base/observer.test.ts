import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { jittered } from '#acuity/base/jitter.js';
import { Observer } from '#acuity/base/observer.js';

const NEVER_MS = 2 ** 30;

/** An observer that looks when the test says so. */
function scene(look: () => void | Promise<void>) {
  const problems: string[] = [];
  const observer = new Observer({ look, onProblem: (error) => void problems.push(error.message) }, NEVER_MS);
  return { observer, problems };
}

t.test('what a look throws ends nothing, and is told once for as long as it is the same', async (t) => {
  const outcomes = ['EMFILE', 'EMFILE', 'other', undefined, 'other'];
  const { observer, problems } = scene(() => {
    const message = outcomes.shift();
    if (message !== undefined) throw new Error(message);
  });
  for (let look = 0; look < 5; look++) await observer.look();
  t.strictSame(problems, ['EMFILE', 'other', 'other']);
});

t.test('one look at a time: those wished for meanwhile are one more', async (t) => {
  let running = 0;
  let looks = 0;
  const { observer } = scene(async () => {
    t.equal(++running, 1);
    looks++;
    await turn();
    running--;
  });
  await Promise.all([observer.look(), observer.look(), observer.look()]);
  t.equal(looks, 2);
});

t.test('it looks again and again until it is stopped, and then when it is asked to', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  let looks = 0;
  const observer = new Observer({ look: () => void looks++, onProblem: (error) => t.fail(error) }, 100);
  for (let look = 1; look <= 3; look++) {
    mock.timers.tick(100);
    await turn();
    t.equal(looks, look);
  }
  observer.stop();
  mock.timers.tick(1_000);
  await observer.look();
  t.equal(looks, 4);
});

t.test('what a look meets that a stop cuts off is not told', async (t) => {
  let fail = (): void => undefined;
  const { observer, problems } = scene(
    () => new Promise((_, reject) => (fail = () => reject(new Error('cut off')))),
  );
  const look = observer.look();
  observer.stop();
  fail();
  await look;
  t.strictSame(problems, []);
});

t.test('a wait is 1 to 30 whole seconds or what the operator asks, and no less than asked', async (t) => {
  const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e6, noNaN: true }), share, (waitS, drawn) => {
      const seconds = jittered(waitS, { random: () => drawn });
      return Number.isInteger(seconds) && seconds <= 30 && seconds >= Math.max(1, Math.min(waitS, 15));
    }),
  );
  t.equal(jittered(0, { random: () => 0, leastS: 9 }), 9);
  t.ok(jittered(0, { random: () => 0.99, leastS: 9 }) > 9);
  t.equal(jittered(0, { random: () => 0.99, leastS: 3600 }), 3600);
});
