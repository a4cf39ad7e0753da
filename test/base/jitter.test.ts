import fc from 'fast-check';
import t from 'tap';
import { jittered } from '#acuity/base/jitter.js';

const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

t.test('1 to 30 whole seconds, never less than the wait while that is no more than half of it', async () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e6, noNaN: true }), share, (waitS, drawn) => {
      const seconds = jittered(waitS, { random: () => drawn });
      return Number.isInteger(seconds) && seconds <= 30 && seconds >= Math.max(1, Math.min(waitS, 15));
    }),
  );
});

t.test('an operator may ask for more', async (t) => {
  t.equal(jittered(0, { random: () => 0, leastS: 9 }), 9);
  t.ok(jittered(0, { random: () => 0.99, leastS: 9 }) > 9);
  t.equal(jittered(0, { random: () => 0.99, leastS: 3600 }), 3600);
});
