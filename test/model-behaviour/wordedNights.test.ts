import t, { type Test } from 'tap';
import { World } from '#training/cohort/population.js';
import {
  realNights,
  simulatedNights,
  tellLifesnaps,
  tellNights,
  type Told,
} from '#training/evaluation/wordedNights.js';

/** Nights that are right are never refused; in another unit, most are. */

const folder = process.env['VALIDATION_DATA'] ?? '';
const skip = folder === '' && 'VALIDATION_DATA names no folder';

t.test('of simulated nights none is refused', async (t) => {
  judge(t, tellNights(new Map([['simulated', simulatedNights(new World(43), 60, 6)]])));
});

t.test('of real nights none is refused', { skip }, async (t) => {
  const sets = realNights(folder);
  for (const [set, nights] of sets) t.ok((nights?.length ?? 0) > 50, set);
  judge(t, tellNights(sets));
  const lifesnaps = tellLifesnaps(folder);
  t.ok((lifesnaps?.requests ?? 0) > 1_000);
  t.equal(lifesnaps?.refused, 0);
});

function judge(t: Test, told: readonly Told[]): void {
  for (const { set, wording, isRight, requests, refused } of told) {
    if (isRight) t.equal(refused, 0, `${set}, ${wording}: ${refused} of ${requests} are refused`);
    else t.ok(refused > 0.3 * requests, `${set}, ${wording}: ${refused} of ${requests} are caught`);
  }
}
