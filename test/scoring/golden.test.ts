import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { createReader } from '#acuity/reading/read.js';
import { scoreGolden } from '#acuity/scoring/golden.js';
import { RoutingScorer } from '#acuity/scoring/routingScorer.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { batcherOf, FakePool } from '../fixtures/fakePool.js';
import { until } from '../fixtures/until.js';

t.test('a slow machine may serve: the deadline of callers does not bound the golden check', async (t) => {
  const pool = new FakePool({ capacity: 1, batchMax: 1, blocks: 8 });
  const deadlineMs = 2;
  const batcher = batcherOf({ pool, batchMax: 1, queueMax: 1, deadlineMs });
  t.teardown(() => batcher.close());
  const golden = { name: 'slow', request: { current_session: { age: 40 } } };
  const scores = scoreGolden(
    golden,
    createReader(DEFAULT_SERIES_LIMITS),
    new RoutingScorer(batcher, () => batcher),
  );
  scores.catch(() => undefined); // awaited below
  await until(() => pool.runs.length > 0);
  await pause(50 * deadlineMs); // several looks at what waits
  pool.runs[0]?.land();
  t.equal((await scores)[0], 40);
});
