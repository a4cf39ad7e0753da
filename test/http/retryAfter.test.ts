import t from 'tap';
import { RetryAfter } from '#acuity/http/retryAfter.js';
import { manualClock } from '../fixtures/manualClock.js';

function scene() {
  const clock = manualClock();
  const retryAfter = new RetryAfter({ leastS: 1, clock, random: () => 0 });
  /** One second in which so many are scored and refused. */
  const second = (scored: number, refused: number): void => {
    for (let at = 0; at < scored; at++) retryAfter.served();
    for (let at = 0; at < refused; at++) retryAfter.secondsFor(0);
    clock.advance(1000);
  };
  return { clock, retryAfter, second };
}

t.test('the wait is what is pending and was refused, over what is scored in a second', async (t) => {
  const { retryAfter, second } = scene();
  second(100, 0);
  t.equal(retryAfter.secondsFor(450), 1 + 4, 'pending alone');
  second(100, 249);
  t.equal(retryAfter.secondsFor(450), 1 + 7, 'and 250 who were refused');
  second(50, 249);
  t.equal(retryAfter.secondsFor(0), 1 + 5, 'at half the pace');
});

t.test('before a second is known, and after a pause, it is the shortest', async (t) => {
  const { clock, retryAfter, second } = scene();
  t.equal(retryAfter.secondsFor(2000), 1);
  second(10, 500);
  t.ok(retryAfter.secondsFor(0) > 1);
  clock.advance(60_000);
  t.equal(retryAfter.secondsFor(2000), 1, 'what was a minute ago says nothing');
});

t.test('where nothing is scored it is the longest, and not more', async (t) => {
  const { retryAfter, second } = scene();
  second(0, 1000);
  t.equal(retryAfter.secondsFor(2000), 16);
});
