import t from 'tap';
import { RetryAfter } from '#acuity/http/retryAfter.js';
import { manualClock } from '../fixtures/manualClock.js';

function scene(random = (): number => 0) {
  const clock = manualClock();
  const retryAfter = new RetryAfter({ leastS: 1, clock, random });
  /** One second in which so many are scored. */
  const second = (scored: number): void => {
    for (let at = 0; at < scored; at++) retryAfter.served();
    clock.advance(1000);
  };
  return { clock, retryAfter, second };
}

t.test('the wait is the pending requests over those scored in a second', async (t) => {
  const { retryAfter, second } = scene();
  second(100);
  t.equal(retryAfter.secondsFor(450), 1 + 4);
  second(50);
  t.equal(retryAfter.secondsFor(450), 1 + 9, 'at half the pace');
});

t.test('refused callers count until they are due', async (t) => {
  const { retryAfter, second } = scene();
  second(10);
  const told = Array.from({ length: 30 }, () => retryAfter.secondsFor(0));
  t.strictSame([told[0], told[10], told[20], told[29]], [1, 2, 3, 3]);
  for (let passed = 0; passed < 4; passed++) {
    second(10);
    retryAfter.secondsFor(0);
  }
  t.equal(retryAfter.secondsFor(0), 1, 'all of them are due by now');
});

t.test('before a second is known, and after a pause, it is the shortest', async (t) => {
  const { clock, retryAfter, second } = scene();
  t.equal(retryAfter.secondsFor(2000), 1);
  second(10);
  t.ok(retryAfter.secondsFor(500) > 1);
  clock.advance(60_000);
  t.equal(retryAfter.secondsFor(2000), 1, 'what was a minute ago says nothing');
});

t.test('where nothing is scored the wait is half of the longest, or up to all of it', async (t) => {
  for (const [random, seconds] of [
    [0, 16],
    [0.999, 30],
  ] as const) {
    const { retryAfter, second } = scene(() => random);
    second(0);
    t.equal(retryAfter.secondsFor(2000), seconds);
  }
});
