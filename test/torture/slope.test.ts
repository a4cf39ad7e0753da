import t from 'tap';
import { seededRandom } from '#acuity/base/random.js';
import { isAbove, slopeOf, slopeText } from '#torture/slope.js';

const minutes = Array.from({ length: 300 }, (_, second) => second / 60);

t.test('a straight line has its slope, and no margin', async (t) => {
  const { perMinute, margin } = slopeOf(minutes.map((at) => ({ minutes: at, value: 7 + 3 * at })));
  t.ok(Math.abs(perMinute - 3) < 1e-9);
  t.ok(margin < 1e-9);
});

t.test('noise has a margin that holds nothing and finds growth', async (t) => {
  const random = seededRandom(1);
  const noise = minutes.map((at) => ({ minutes: at, value: 100 + 10 * (random() - 0.5) }));
  t.notOk(isAbove(slopeOf(noise), 1));
  t.ok(isAbove(slopeOf(noise.map((sample) => ({ ...sample, value: sample.value + 5 * sample.minutes }))), 1));
});

t.test('it is told with its sign', async (t) => {
  t.equal(slopeText({ perMinute: 1.234, margin: 0.5 }, 'MiB'), '+1.23 ± 0.50 MiB a minute');
  t.equal(slopeText({ perMinute: -1, margin: 0 }, 'ms', 0), '-1 ± 0 ms a minute');
});
