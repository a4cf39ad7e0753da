import t from 'tap';
import { manualClock } from '../fixtures/manualClock.js';
import { RefusalThrottle } from '#acuity/http/refusalThrottle.js';
import { until } from '../fixtures/until.js';

t.test('some refusals a second are answered at once, the rest are not', async (t) => {
  const clock = manualClock();
  const refusals = new RefusalThrottle(clock);
  const atOnce = (): number =>
    Array.from({ length: 2000 }, () => refusals.mayAnswer(0)).filter(Boolean).length;
  t.equal(atOnce(), 500);
  clock.advance(999);
  t.equal(atOnce(), 0);
  clock.advance(1);
  t.equal(atOnce(), 500);
});

t.test('a long body that is thrown away counts for its length, but for the first', async (t) => {
  const refusals = new RefusalThrottle(manualClock());
  const long = 64 * 1024 * 1024;
  t.ok(refusals.mayAnswer(long));
  t.ok(refusals.mayAnswer(Infinity), 'one that only declares much takes no more than its share');
  for (let request = 0; request < 6; request++) t.ok(refusals.mayAnswer(long));
  t.notOk(refusals.mayAnswer(0));
});

t.test('a held refusal is answered once, in its time; one whose caller is gone never', async (t) => {
  const clock = manualClock();
  const refusals = new RefusalThrottle(clock);
  const answers: string[] = [];
  for (const name of ['first', 'gone', 'last']) {
    refusals.hold({ isGone: name === 'gone', answer: () => void answers.push(name) });
    clock.advance(50);
  }
  clock.advance(50);
  await until(() => answers.length > 0);
  t.strictSame(answers, ['first']);
  clock.advance(200);
  await until(() => answers.length > 1);
  refusals.release();
  t.strictSame(answers, ['first', 'last']);
});
