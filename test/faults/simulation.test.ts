import t from 'tap';
import { hunt } from './simulation/defects.js';
import type { Replica } from './simulation/replica.js';
import { World } from './simulation/world.js';
import { heldOf } from '../fixtures/garbage.js';
import { ended } from '../fixtures/scripts.js';

const MAIN = '.build/test/faults/simulation/main.js';

/** `npm run faults -- simulate` in a process of its own, whose timers and clocks it takes over. */
async function simulate(...options: readonly string[]) {
  const { code, stdout, stderr } = await ended(process.execPath, [MAIN, ...options]);
  return { code, lines: `${stdout}${stderr}`.split('\n') };
}

t.test('what must hold holds, and the same seeds are the same runs', async (t) => {
  const form = ['--seeds', '8', '--hours', '0.02'];
  const [first, second] = [await simulate(...form), await simulate(...form, '--revision', 'another')];
  t.equal(first.code, 0, first.lines.join('\n'));
  const [traces = [], same] = [first, second].map(({ lines }) =>
    lines.filter((one) => one.startsWith('seed ')),
  );
  t.equal(traces.length, 8);
  t.equal(new Set(traces).size, 8, 'each seed is a run of its own');
  t.same(same, traces);
  t.match(second.lines[0], /^this tree is .*, not another: /, 'a run of another revision is told apart');
});

t.test('nothing of a process is kept once it has ended', async (t) => {
  const world = new World(206, 0.05);
  const started: WeakRef<Replica>[] = [];
  const start = world.start.bind(world);
  world.start = (at) => {
    start(at);
    for (const { replica } of world.seats.slice(at, at + 1)) started.push(new WeakRef(replica));
  };
  await world.run();
  const seats = world.seats.length;
  t.ok(started.length > 2 * seats, `${started.length} processes took ${seats} places`);
  t.equal(await heldOf(started), seats, 'those in the places are kept');
});

/** A seed that finds each, and what it sees. */
const FOUND = [
  ['bodyBudgetLeak', 1, /bytes of bodies are held|KiB of bodies are counted/],
  ['unrevokedKey', 7, /honours key_\w+, which is revoked/],
  ['undividedQuota', 1, /without an answer of the store, a process admitted \d+ of key_\w+/],
  ['emptyStoreTaken', 2, /refuses key_\w+ since the store is empty/],
  ['reportAdded', 1, /admitted of key_\w+ on \d+, whose quota of \d+ was used up|counted of key_/],
] as const;

for (const [defect, first, sees] of FOUND) {
  t.test(`${defect}: found, and found again by the seed and revision that are printed`, async (t) => {
    const found = hunt(defect, { first, seeds: 1, hours: 0.05 });
    t.equal(found.seed, first);
    t.match(found.violation, sees);
    t.match(found.again, /^--defect \w+ --seed \d+ --hours 0\.05 --revision [0-9a-f]{12}$/);
    t.ok(found.isReplayed);
  });
}
