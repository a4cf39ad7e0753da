import fc from 'fast-check';
import t from 'tap';
import { DEFAULT_RETRY, pauseBefore } from '#acuity/client/retry.js';

const attempt = (number: number, retryAfterS?: number) => ({ attempt: number, retryAfterS });

t.test('pauses double up to the longest, drawn from nothing to all of it', async (t) => {
  const options = { retries: 9, firstPauseMs: 100, pauseMaxMs: 1_000 };
  const longest = [1, 2, 3, 4, 5, 6].map((number) => pauseBefore(attempt(number), options, () => 1));
  t.strictSame(longest, [100, 200, 400, 800, 1_000, 1_000]);
  t.equal(
    pauseBefore(attempt(3), options, () => 0),
    0,
  );
});

t.test('after the last attempt there is no pause but an end', async (t) => {
  const options = { ...DEFAULT_RETRY, retries: 2 };
  t.type(
    pauseBefore(attempt(2), options, () => 0.5),
    'number',
  );
  t.equal(
    pauseBefore(attempt(3), options, () => 0.5),
    undefined,
  );
  t.equal(
    pauseBefore(attempt(1), { ...options, retries: 0 }, () => 0.5),
    undefined,
  );
});

t.test('a service that asks for longer than we wait is not waited for', async (t) => {
  t.equal(
    pauseBefore(attempt(1, 86_400), DEFAULT_RETRY, () => 0),
    undefined,
  );
});

t.test('what the service asks for is never undercut, and the longest pause never exceeded', async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: DEFAULT_RETRY.retries }),
      fc.double({ min: 0, max: 20, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (number, askedS, drawn) => {
        const pauseMs = pauseBefore(attempt(number, askedS), DEFAULT_RETRY, () => drawn);
        return pauseMs !== undefined && pauseMs >= askedS * 1000 && pauseMs <= DEFAULT_RETRY.pauseMaxMs;
      },
    ),
  );
});
