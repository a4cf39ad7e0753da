import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Batcher } from '#acuity/scoring/batcher.js';
import { blocksFor } from '#acuity/scoring/pool.js';
import type { ScoreHandler } from '#acuity/scoring/scorer.js';
import { ageIn } from '../fixtures/ages.js';
import { FakePool, type FakeRun } from '../fixtures/fakePool.js';
import { manualClock, type ManualClock } from '../fixtures/manualClock.js';
import { requestOfAge } from '../fixtures/requests.js';

const BATCH_MAX = 4;
const DEADLINE_MS = 100;
const LINE_AGE = 30;
const SINGLE_AGE = 40;

class Caller implements ScoreHandler {
  isGone = false;
  told = '';
  constructor(readonly holder?: number) {}
  scored(): void {
    this.told = 'scored';
  }
  failed(cause: 'expired' | 'fault'): void {
    this.told = cause;
  }
}

interface Setup {
  readonly batcher: Batcher;
  readonly pool: FakePool;
  readonly clock: ManualClock;
  line(past?: number): Caller;
  single(): Caller;
  /** Ends the oldest run. */
  land(): Promise<void>;
}

/** `workers` with two batches each, as real ones have. */
function setUp(t: Test, { workers = 1, queueMax = 100, explainsEach = false, linesMax = 50 } = {}): Setup {
  const capacity = 2 * workers;
  const pool = new FakePool({
    capacity,
    batchMax: BATCH_MAX,
    blocks: blocksFor(queueMax, BATCH_MAX, workers),
  });
  const clock = manualClock();
  const batcher = new Batcher({
    model: { version: 'test', thresholds: { valence: 0.5, arousal: 0.5 } },
    pool,
    batchMax: BATCH_MAX,
    queueMax,
    linesMax,
    deadlineMs: DEADLINE_MS,
    hangMs: 10_000,
    explainsEach,
    clock,
    onFault: () => undefined,
    onHung: () => undefined,
  });
  t.teardown(() => batcher.close());
  return {
    batcher,
    pool,
    clock,
    line(past = 0) {
      const caller = new Caller();
      batcher.admitLine(requestOfAge(LINE_AGE, past), caller, clock.monotonicMs());
      return caller;
    },
    single() {
      const caller = new Caller();
      t.equal(batcher.admit(requestOfAge(SINGLE_AGE), caller), 'admitted');
      return caller;
    },
    async land() {
      first(pool).land();
      await turn();
    },
  };
}

function first({ runs }: FakePool): FakeRun {
  const [run] = runs;
  if (run === undefined) throw new Error('nothing runs');
  return run;
}

/** Hands lines in as long as there is room, as lists do. */
function feed({ batcher, line }: Setup, lines: number): Caller[] {
  const callers: Caller[] = [];
  while (callers.length < lines && batcher.hasLineRoom) callers.push(line());
  return callers;
}

t.test('places are taken for all lines or for none, and given back', async (t) => {
  const { batcher } = setUp(t, { queueMax: 10 });
  t.equal(batcher.reserve(6, undefined), 'admitted');
  t.equal(batcher.pending, 6);
  t.equal(batcher.reserve(5, undefined), 'saturated');
  t.equal(batcher.pending, 6);
  t.equal(batcher.reserve(4, undefined), 'admitted');
  batcher.release(10, undefined);
  t.equal(batcher.pending, 0);
  await batcher.drained();
});

t.test('lines and single requests take no places from each other', async (t) => {
  const setup = setUp(t, { queueMax: 10 });
  const { batcher, pool, single, land } = setup;
  t.equal(batcher.reserve(10, undefined), 'admitted');
  const callers = Array.from({ length: 10 }, single);
  t.equal(batcher.makeRoom(), false);
  t.equal(batcher.admit(requestOfAge(SINGLE_AGE), new Caller()), 'saturated');
  await turn();
  t.equal(batcher.pending, 20);
  for (let lines = 10; pool.runs.length > 0;) {
    lines -= feed(setup, lines).length;
    await land();
  }
  t.strictSame(new Set(callers.map(({ told }) => told)), new Set(['scored']));
  t.strictSame([batcher.pending, batcher.makeRoom()], [0, true]);
  t.equal(batcher.reserve(10, undefined), 'admitted', 'each has all its places again');
  batcher.release(10, undefined);
});

t.test('lines that come in one turn leave in full batches, one at a time for each worker', async (t) => {
  const setup = setUp(t);
  const { batcher, pool, land } = setup;
  batcher.reserve(20, undefined);
  let woken = 0;
  batcher.onLineRoom = () => void woken++;
  t.equal(feed(setup, 20).length, BATCH_MAX);
  await turn();
  t.equal(woken, 1);
  t.strictSame(
    pool.runs.map(({ task }) => task.rows),
    [BATCH_MAX],
  );
  t.equal(feed(setup, 16).length, BATCH_MAX);
  await turn();
  t.equal(pool.runs.length, 1, 'the next batch of lines waits, although the worker could hold it');
  await land();
  t.strictSame(
    pool.runs.map(({ task }) => task.rows),
    [BATCH_MAX],
  );
  await land();
  t.equal(batcher.pending, 20 - 2 * BATCH_MAX);
  batcher.release(20 - 2 * BATCH_MAX, undefined);
});

t.test('a single request passes every line that does not run', async (t) => {
  const setup = setUp(t);
  const { batcher, pool, single, land } = setup;
  batcher.reserve(8, undefined);
  feed(setup, 4);
  await turn();
  feed(setup, 4);
  const caller = single();
  await turn();
  t.strictSame(
    pool.runs.map(({ task }) => task.rows),
    [4, 1],
    'after the lines that run, at once',
  );
  await land();
  await land();
  t.equal(caller.told, 'scored');
  await land();
  await batcher.drained();
});

t.test(
  'under a load of single requests lines get their turn, but no request waits for two batches',
  async (t) => {
    const setup = setUp(t, { queueMax: 200 });
    const { batcher, pool, clock, single } = setup;
    batcher.reserve(40, undefined);
    /** By request that waits: batches of lines that ended meanwhile. */
    const waiting = new Map<Caller, number>();
    let linesLeft = 40;
    let linesRan = 0;
    let most = 0;
    const landOne = async (): Promise<void> => {
      const run = first(pool);
      const isOfLines = ageIn(run.block, run.task.first) === LINE_AGE;
      run.land();
      if (isOfLines) linesRan++;
      for (const [caller, count] of waiting) {
        most = Math.max(most, count);
        if (caller.told !== '') waiting.delete(caller);
        else if (isOfLines) waiting.set(caller, count + 1);
      }
      await turn();
    };
    for (let round = 0; round < 100; round++) {
      // As many as a run takes, so that the queue of the first round never empties.
      const coming = round === 0 ? 8 * BATCH_MAX : BATCH_MAX;
      for (let count = 0; count < coming; count++) waiting.set(single(), 0);
      linesLeft -= feed(setup, linesLeft).length;
      await turn();
      clock.advance(2);
      await landOne();
    }
    t.ok(linesRan >= 2, `${linesRan} batches of lines ran`);
    t.equal(most, 1);
    batcher.release(linesLeft, undefined);
    while (pool.runs.length > 0) await landOne();
    await batcher.drained();
  },
);

t.test('of places for explained lines no holder has more than its share', async (t) => {
  const { batcher } = setUp(t, { explainsEach: true, queueMax: 30, linesMax: 10 });
  t.equal(batcher.reserve(7, 1), 'admitted');
  t.equal(batcher.reserve(4, 1), 'shareFull');
  t.equal(batcher.reserve(4, 2), 'admitted');
  t.equal(batcher.pendingOf(1), 7);
  batcher.admitLine(requestOfAge(LINE_AGE), new Caller(1), 0);
  t.equal(batcher.pendingOf(1), 7, 'a line that came holds the place that was taken for it');
  batcher.release(6, 1);
  batcher.release(4, 2);
  t.equal(batcher.pendingOf(2), 0);
});
