import t from 'tap';
import { runFleets } from '../fixtures/fleet/run.js';
import { REDIS } from '../fixtures/redis.js';

/**
 * Three replicas at a real Redis that loses its last writes, on clocks that the test moves. ACUITY_FLEET_SEED draws the
 * runs of a failure again, ACUITY_FLEET_RUNS says how many,
 * ACUITY_FLEET_PATH which one of them, ACUITY_FLEET_SHRINK=1 makes a failing run smaller; `npm run torture -- store` is the long form.
 */
const seed = Number(process.env['ACUITY_FLEET_SEED'] ?? 1);
const runs = Number(process.env['ACUITY_FLEET_RUNS'] ?? 12);
const path = process.env['ACUITY_FLEET_PATH'];
/** Whether a failing run is made smaller, which takes minutes. */
const endOnFailure = process.env['ACUITY_FLEET_SHRINK'] === undefined;

t.test('a revoked key stays revoked, and quotas stay within their bound', { skip: REDIS.skip }, async (t) => {
  const replay = `ACUITY_FLEET_SEED=${seed} ACUITY_FLEET_RUNS=${runs} npm test -- auth/fleet`;
  t.comment(`the same again: ${replay}`);
  const figures = await runFleets(t, { runs, seed, path, endOnFailure });
  if (path === undefined) t.equal(figures.runs, runs);
  t.ok(figures.answered > 0 && figures.checks > 0, JSON.stringify(figures));
});
