import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { RoutingScorer } from '#acuity/score/routingScorer.js';
import { blocksFor } from '#acuity/score/pool.js';
import type { ScoreHandler } from '#acuity/score/scorer.js';
import { FakePool, batcherOf } from '../fixtures/fakePool.js';
import { requestOfAge } from '../fixtures/requests.js';

const BATCH_MAX = 2;
const QUEUE_MAX = 4;

function setUp(t: Test, queueMax = QUEUE_MAX) {
  const sizes = { batchMax: BATCH_MAX, queueMax };
  const told = { onFault: ({ message }: Error) => t.fail(message), onHung: () => t.fail('no worker hangs') };
  const openPool = (): FakePool =>
    new FakePool({ capacity: 1, batchMax: BATCH_MAX, blocks: blocksFor(queueMax, BATCH_MAX, 1) });
  const plain = openPool();
  let explained: FakePool | undefined;
  const scorer = new RoutingScorer(batcherOf({ pool: plain, ...sizes, ...told }), () => {
    if (explained !== undefined) t.fail('opened twice');
    explained = openPool();
    return batcherOf({ pool: explained, ...sizes, ...told, explainsEach: true, linesMax: queueMax / 3 });
  });
  t.teardown(() => scorer.close());
  return { scorer, plain, explained: () => explained };
}

/** Notes `name` when it is told. */
function caller(told: string[], name: string): ScoreHandler {
  return {
    isGone: false,
    scored: () => void told.push(name),
    failed: (cause) => void told.push(`${name}: ${cause}`),
  };
}

t.test('plain requests run while explained ones wait for theirs', async (t) => {
  const { scorer, plain, explained } = setUp(t);
  const told: string[] = [];
  scorer.admit(requestOfAge(1), caller(told, 'first'));
  t.equal(explained(), undefined, 'no explanation was requested');
  for (const name of ['why', 'why too'])
    t.equal(scorer.admitExplained(requestOfAge(2), caller(told, name)), 'admitted');
  t.equal(scorer.queued, 3);
  await turn();
  scorer.admit(requestOfAge(3), caller(told, 'second'));
  plain.runs[0]?.land();
  plain.runs[0]?.land();
  t.strictSame(told, ['first', 'second']);
  t.equal(scorer.pending, 2);
  t.equal(explained()?.runs.length, 1, 'one run for both');
  let isDrained = false;
  const drained = scorer.drained().then(() => (isDrained = true));
  await turn();
  t.notOk(isDrained, 'explanations are owed as well');
  explained()?.runs[0]?.land();
  await drained;
  t.strictSame(told, ['first', 'second', 'why', 'why too']);
  await scorer.halt();
  await scorer.close();
  t.strictSame([plain.isClosed, explained()?.isClosed], [true, true]);
});

t.test('one key holds a third of the places for explained requests, and gets them back', async (t) => {
  const { scorer, explained } = setUp(t, 6);
  const told: string[] = [];
  const ask = (holder: number | undefined): string =>
    scorer.admitExplained(requestOfAge(1), { ...caller(told, 'why'), holder });
  t.strictSame([7, 7, 7, 7].map(ask), ['admitted', 'admitted', 'shareFull', 'shareFull']);
  t.equal(ask(8), 'admitted', 'other keys are not concerned');
  await turn();
  explained()?.runs[0]?.land();
  t.strictSame([7, 7, 7].map(ask), ['admitted', 'admitted', 'shareFull']);
  t.equal(ask(undefined), 'admitted', 'nor is what counts for no key');
  await turn();
  while (explained()?.runs.length !== 0) explained()?.runs[0]?.land();
});
