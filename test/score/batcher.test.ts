import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { manualClock, type ManualClock } from '../fixtures/manualClock.js';
import { OUTPUT_COLUMNS } from '#acuity/model/tensors.js';
import type { PredictionRequest } from '#acuity/night/request.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { createReader } from '#acuity/read/read.js';
import type { BatcherOptions } from '#acuity/score/batcher.js';
import { scoreGolden } from '#acuity/score/golden.js';
import { RoutingScorer } from '#acuity/score/routingScorer.js';
import { blocksFor } from '#acuity/score/pool.js';
import type { AdmitOutcome, ScoredRow, ScoreHandler, Timing } from '#acuity/score/scorer.js';
import { AGES_MAX, ageIn } from '../fixtures/ages.js';
import { FakePool, batcherOf, type FakeRun } from '../fixtures/fakePool.js';
import { below, seededRandom } from '#acuity/base/random.js';
import { until } from '../fixtures/until.js';
import { requestOfAge } from '../fixtures/requests.js';

/** A caller that notes what it is told. */
class Caller implements ScoreHandler {
  isGone = false;
  expiresMs: number | undefined;
  isPatient = false;
  readonly told: string[] = [];
  score: number | undefined;
  timing: Timing | undefined;
  explanation: Float32Array | undefined;

  scored({ scores, offset, explanation }: ScoredRow, timing: Timing): void {
    this.explanation = explanation;
    this.told.push('scored');
    this.score = scores[offset];
    this.timing = timing;
  }

  failed(cause: 'expired' | 'fault'): void {
    this.told.push(cause);
  }
}

// The timer of the batcher ticks when a test says so.
mock.timers.enable({ apis: ['setInterval'] });
t.teardown(() => mock.timers.reset());

const DEADLINE_MS = 100;
const HANG_MS = 500;

type SetupOptions = Partial<BatcherOptions> & { readonly capacity?: number };

function setUp(t: Test, { capacity = 1, ...options }: SetupOptions = {}) {
  const { batchMax = 4, queueMax = 100 } = options;
  const pool = new FakePool({ capacity, batchMax, blocks: blocksFor(queueMax, batchMax, capacity) });
  const clock = manualClock();
  const faults: string[] = [];
  let hangs = 0;
  const batcher = batcherOf({
    pool,
    batchMax,
    queueMax,
    deadlineMs: DEADLINE_MS,
    hangMs: HANG_MS,
    clock,
    onFault: ({ message }) => void faults.push(message),
    onHung: () => void hangs++,
    ...options,
  });
  t.teardown(() => batcher.close());
  /** The oldest run that has not ended. */
  const firstRun = (): FakeRun => {
    const [run] = pool.runs;
    if (run === undefined) throw new Error('nothing runs');
    return run;
  };
  return {
    pool,
    batcher,
    clock,
    faults,
    hangs: () => hangs,
    /** Admits a request and returns its caller. */
    admit(age: number, past = 0): Caller {
      const caller = new Caller();
      const outcome = batcher.admit(requestOfAge(age, past), caller);
      if (outcome !== 'admitted') throw new Error(outcome);
      return caller;
    },
    /** What admission says. */
    outcome: (age: number): AdmitOutcome => batcher.admit(requestOfAge(age), new Caller()),
    firstRun,
    /** Ends every run, those included that begin meanwhile. */
    async landAll() {
      while (pool.runs.length > 0) {
        firstRun().land();
        await turn();
      }
    },
  };
}

/** Lets the batcher's own timer tick; the clock stands. */
function sweep(): void {
  mock.timers.tick(DEADLINE_MS / 20);
}

function rows(runs: readonly { readonly rows: number }[]): number[] {
  return runs.map((run) => run.rows);
}

t.test('while a worker is free, a request waits only for this turn of the loop', async (t) => {
  const { pool, admit, firstRun } = setUp(t);
  const caller = admit(40);
  t.equal(pool.tasks.length, 0);
  await turn();
  t.strictSame(pool.tasks, [{ variant: 'base', blockIndex: 0, first: 0, rows: 1 }]);
  firstRun().land(0.5);
  await turn();
  t.strictSame(caller.told, ['scored']);
  t.equal(caller.score, 40);
});

t.test('while all workers are busy, requests gather, and leave together when one is free', async (t) => {
  const { pool, admit, firstRun } = setUp(t, { capacity: 2 });
  for (let age = 1; age <= 5; age++) {
    admit(age);
    await turn();
  }
  t.strictSame(rows(pool.tasks), [1, 1]);
  firstRun().land();
  await turn();
  t.strictSame(rows(pool.tasks), [1, 1, 3]);
});

t.test('requests with and without history never share a batch; the oldest goes first', async (t) => {
  const { pool, admit, landAll } = setUp(t);
  const past = [0, 1, 0, 5, 0];
  const callers = past.map((count, index) => admit(10 * (index + 1), count));
  await turn();
  await landAll();
  const tasks = pool.tasks.map(({ variant, rows }) => `${rows} ${variant}`);
  t.strictSame(tasks, ['3 base', '2 history']);
  for (const [index, { score }] of callers.entries()) t.equal(score, 10 * (index + 1));
});

/** Callers that wait: their own limit, and whether the service's does not bind them. */
const WAITING = [
  { expiresMs: 10 },
  { expiresMs: 10_000 },
  { expiresMs: 10 * DEADLINE_MS, isPatient: true },
] as const;

t.test(
  'each is told at the lesser of its limit and the deadline; who is no caller, at its own',
  async (t) => {
    const { clock, admit } = setUp(t);
    admit(1);
    await turn();
    const callers = WAITING.map((waits) => Object.assign(admit(2), waits));
    for (const [atMs, told] of [
      [9, ',,'],
      [10, 'expired,,'],
      [DEADLINE_MS, 'expired,,'],
      [DEADLINE_MS + 1, 'expired,expired,'],
      [10 * DEADLINE_MS - 1, 'expired,expired,'],
      [10 * DEADLINE_MS, 'expired,expired,expired'],
    ] as const) {
      clock.advance(atMs - clock.monotonicMs());
      sweep();
      t.equal(callers.map((caller) => caller.told.join()).join(), told, `after ${atMs} ms`);
    }
  },
);

t.test('a request that waited too long is shed; its late answer is thrown away', async (t) => {
  const { clock, batcher, pool, admit, firstRun } = setUp(t);
  const running = admit(1);
  await turn();
  const queued = admit(2);
  clock.advance(DEADLINE_MS);
  sweep();
  t.strictSame([running.told, queued.told], [[], []]);
  clock.advance(1);
  const fresh = admit(3);
  sweep();
  t.strictSame([running.told, queued.told, fresh.told], [['expired'], ['expired'], []]);
  t.equal(batcher.pending, 1);
  firstRun().land();
  await turn();
  t.strictSame(rows(pool.tasks), [1, 2]);
  firstRun().land();
  await turn();
  t.strictSame([running.told, queued.told, fresh.told], [['expired'], ['expired'], ['scored']]);
  t.equal(fresh.score, 3);
});

t.test('the deadline does not bound the golden check, however slow the machine', async (t) => {
  const { clock, batcher, pool } = setUp(t, { queueMax: 1, batchMax: 1 });
  const read = createReader(DEFAULT_SERIES_LIMITS);
  const golden = { name: 'slow', request: { current_session: { age: 40 } } };
  const scores = scoreGolden(golden, read, new RoutingScorer(batcher, () => batcher));
  scores.catch(() => undefined); // awaited below
  await until(() => pool.runs.length > 0);
  clock.advance(50 * DEADLINE_MS);
  sweep();
  pool.runs[0]?.land();
  t.equal((await scores)[0], 40);
});

/** Between two sweeps the clock advances by this much, all of which counts. */
const AWAKE_STEP_MS = 5;

/** Lets `ms` pass as they do for a process that is awake: a little between any two sweeps. */
function stayAwake(clock: ManualClock, ms: number): void {
  for (let passedMs = 0; passedMs < ms; passedMs += AWAKE_STEP_MS) {
    clock.advance(AWAKE_STEP_MS);
    sweep();
  }
}

t.test('a worker that hangs is told once, and everybody who waits is told', async (t) => {
  const { clock, batcher, hangs, admit } = setUp(t, { batchMax: 2 });
  const early = admit(1);
  await turn();
  stayAwake(clock, HANG_MS);
  t.equal(hangs(), 0);
  const callers = [early, admit(2), admit(3), admit(4), admit(5, 2)];
  stayAwake(clock, 3 * AWAKE_STEP_MS);
  t.equal(hangs(), 1);
  for (const { told } of callers) t.strictSame(told, ['expired']);
  t.equal(batcher.pending, 0);
  stayAwake(clock, 2 * HANG_MS);
  t.equal(hangs(), 1);
});

t.test('halted, it waits for a run, but for one that hangs', async (t) => {
  const { clock, batcher, admit, firstRun } = setUp(t);
  admit(1);
  await turn();
  let isStill = false;
  const halted = batcher.halt().then(() => (isStill = true));
  await turn();
  t.notOk(isStill);
  firstRun().land();
  await halted;
  admit(2);
  await turn();
  stayAwake(clock, 2 * HANG_MS);
  await batcher.halt();
  t.ok(firstRun(), 'it hangs still');
});

t.test('no unsound score leaves; its neighbours’ do, and those at the ends of their range', async (t) => {
  const { faults, admit, firstRun } = setUp(t);
  const ends = [0, 100, 0, 100, 100, 0, 1];
  for (const [index, [column, value]] of [
    [3, NaN],
    [0, Infinity],
    [4, 100.01],
    [1, -0.01],
    [5, 1.01],
    [6, -0.01],
  ].entries() as Iterable<[number, [number, number]]>) {
    const callers = [10, 20, 30].map((age) => admit(age));
    await turn();
    firstRun().land(1, (scores) => {
      scores.set(ends);
      scores[OUTPUT_COLUMNS + column] = value;
    });
    await turn();
    const told = callers.map((caller) => caller.told.join());
    t.strictSame(told, ['scored', 'fault', 'scored'], `${value} of column ${column}`);
    t.equal(faults.length, index + 1);
    t.notMatch(faults[index], /\d/);
  }
});

t.test('drained: not while a run without waiting callers goes on', async (t) => {
  const { clock, batcher, admit, firstRun } = setUp(t);
  admit(1);
  await turn();
  clock.advance(DEADLINE_MS + 1);
  sweep();
  let isDrained = false;
  const drained = batcher.drained().then(() => (isDrained = true));
  await turn();
  t.equal(isDrained, false);
  firstRun().fail();
  await drained;
  t.equal(batcher.pending, 0);
});

t.test('the wait is told without the run', async (t) => {
  const { clock, admit, firstRun } = setUp(t);
  const caller = admit(1);
  await turn();
  clock.advance(10);
  firstRun().land(4);
  await turn();
  const run = { dispatchMs: 6, inferMs: 4, rows: 1, scoredMs: 10 };
  t.strictSame(caller.timing, { queueMs: 6, ...run, admittedMs: 0 });
});

t.test('offline, requests gather, and onAnswered comes after the answers', async (t) => {
  const { batcher, admit, pool, firstRun } = setUp(t, { gatherMs: 20 });
  const callers = [admit(30)];
  const told: (readonly number[])[] = [];
  batcher.onAnswered = (_, rows) => {
    t.ok(callers.every(({ timing }) => timing !== undefined));
    told.push(rows);
  };
  await turn();
  t.equal(pool.runs.length, 0);
  callers.push(admit(31));
  await until(() => pool.runs.length > 0);
  firstRun().land(1);
  await turn();
  t.strictSame(told, [[0, 1]], 'both in one run');
});

t.test('a request that cannot be written leaves the batch as it was', async (t) => {
  const { batcher, admit, firstRun } = setUp(t);
  const before = admit(20);
  const broken = new Proxy(requestOfAge(77), {
    get(target, name: keyof PredictionRequest) {
      if (name === 'pastCount') throw new Error('broken');
      return target[name];
    },
  });
  t.throws(() => batcher.admit(broken, new Caller()), { message: 'broken' });
  const alsoBroken = { ...requestOfAge(77, 1), targets: undefined as unknown as Float64Array };
  t.throws(() => batcher.admit(alsoBroken, new Caller()));
  const after = admit(30);
  const withPast = admit(45, 1);
  t.equal(batcher.pending, 3);
  await turn();
  t.equal(firstRun().task.rows, 2);
  firstRun().land();
  await turn();
  t.strictSame([before.score, after.score], [20, 30]);
  firstRun().land();
  await turn();
  t.strictSame([withPast.told, withPast.score], [['scored'], 45]);
});

/** Rows of lower ages are bad. */
const BAD_AGES_MAX = 9;

t.test('in every case each caller gets exactly one answer, and its own', async (t) => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = seededRandom(seed);
    const options = {
      capacity: 1 + below(random, 3),
      batchMax: 1 + below(random, 4),
      queueMax: 5 + below(random, 20),
    };
    const { pool, batcher, clock, admit } = setUp(t, options);
    const callers: { readonly caller: Caller; readonly age: number }[] = [];
    /** A run with a bad row fails, however often it is tried. */
    const end = (run: FakeRun | undefined): void => {
      if (run === undefined) return;
      const { first, rows } = run.task;
      const ages = Array.from({ length: rows }, (_, row) => ageIn(run.block, first + row));
      if (ages.some((age) => age < BAD_AGES_MAX)) run.fail();
      else run.land();
    };
    const act = async (): Promise<void> => {
      const run = pool.runs[below(random, Math.max(1, pool.runs.length))];
      const kind = random();
      if (kind < 0.4 && batcher.pending < options.queueMax) {
        const age = below(random, AGES_MAX);
        // Blocks of shed requests are still in use: then even fewer are admitted.
        const caller = new Caller();
        if (batcher.admit(requestOfAge(age, below(random, 3)), caller) === 'admitted')
          callers.push({ caller, age });
      } else if (kind < 0.65) end(run);
      else if (kind < 0.7) {
        const gone = callers[below(random, Math.max(1, callers.length))];
        if (gone?.caller.told.length === 0) gone.caller.isGone = true;
      } else if (kind < 0.72) clock.advance(DEADLINE_MS / 2);
      else await turn();
    };
    for (let step = 0; step < 300; step++) await act();
    const drained = batcher.drained();
    while (batcher.pending > 0 || pool.runs.length > 0) {
      end(pool.runs[0]);
      await turn();
    }
    await drained;
    for (const { caller, age } of callers) {
      const expected = caller.isGone ? 0 : 1;
      if (caller.told.length !== expected) t.fail(`seed ${seed}: told ${caller.told.join() || 'nothing'}`);
      if (caller.told[0] === 'scored' && caller.score !== age) t.fail(`seed ${seed}: another's score`);
      if (caller.told[0] === (age < BAD_AGES_MAX ? 'scored' : 'fault'))
        t.fail(`seed ${seed}: a fault that is another's`);
    }
    t.equal(batcher.pending, 0);
    for (let age = 0; age < options.queueMax; age++) admit(age);
  }
});

t.test('what is scored makes room before a refusal, and is answered after the turn', async (t) => {
  const { pool, batcher, admit, outcome, firstRun } = setUp(t, { queueMax: 8 });
  const callers = Array.from({ length: 8 }, (_, age) => admit(age));
  await turn();
  t.equal(outcome(50), 'saturated', 'nothing is scored yet');
  firstRun().post();
  t.ok(batcher.makeRoom());
  t.equal(batcher.pending, 4);
  for (const { told } of callers) t.strictSame(told, [], 'no answer is written in the middle of a request');
  t.equal(pool.runs.length, 1, 'the worker has its next batch already');
  const late = admit(60);
  await turn();
  await turn();
  const scores = callers.map(({ score = '-' }) => score);
  t.equal(scores.join(''), '0123----');
  firstRun().land();
  firstRun().land();
  t.equal(late.score, 60);
  await batcher.drained();
  t.equal(batcher.pending, 0);
});

/** Lines of lists beside single requests: a worker with two batches, as real ones have. */
const BATCH_MAX = 4;
const LINE_AGE = 30;
const SINGLE_AGE = 40;

function setUpLines(t: Test, queueMax = 100) {
  const setup = setUp(t, { capacity: 2, queueMax, linesMax: 50 });
  const { batcher, clock, admit, firstRun } = setup;
  return {
    ...setup,
    single: () => admit(SINGLE_AGE),
    line() {
      const caller = new Caller();
      batcher.admitLine(requestOfAge(LINE_AGE), caller, clock.monotonicMs());
      return caller;
    },
    /** Ends the oldest run. */
    async land() {
      firstRun().land();
      await turn();
    },
  };
}

/** Hands lines in as long as there is room, as lists do. */
function feed({ batcher, line }: ReturnType<typeof setUpLines>, lines: number): Caller[] {
  const callers: Caller[] = [];
  while (callers.length < lines && batcher.hasLineRoom) callers.push(line());
  return callers;
}

t.test('lines and single requests take no places from each other', async (t) => {
  const setup = setUpLines(t, 10);
  const { batcher, pool, single, land } = setup;
  t.equal(batcher.reserve(6, undefined), 'admitted');
  t.equal(batcher.reserve(5, undefined), 'saturated', 'places are taken for all lines or for none');
  t.equal(batcher.reserve(4, undefined), 'admitted');
  const callers = Array.from({ length: 10 }, single);
  t.equal(batcher.makeRoom(), false);
  t.equal(batcher.admit(requestOfAge(SINGLE_AGE), new Caller()), 'saturated');
  await turn();
  t.equal(batcher.pending, 20);
  for (let lines = 10; pool.runs.length > 0;) {
    lines -= feed(setup, lines).length;
    await land();
  }
  for (const { told } of callers) t.strictSame(told, ['scored']);
  t.strictSame([batcher.pending, batcher.makeRoom()], [0, true]);
  t.equal(batcher.reserve(10, undefined), 'admitted', 'each has all its places again');
  batcher.release(10, undefined);
});

t.test('lines that come in one turn leave in full batches, one at a time for each worker', async (t) => {
  const setup = setUpLines(t);
  const { batcher, pool, land } = setup;
  batcher.reserve(20, undefined);
  let woken = 0;
  batcher.onLineRoom = () => void woken++;
  t.equal(feed(setup, 20).length, BATCH_MAX);
  await turn();
  t.equal(woken, 1);
  t.strictSame(rows(pool.runs.map(({ task }) => task)), [BATCH_MAX]);
  t.equal(feed(setup, 16).length, BATCH_MAX);
  await turn();
  t.equal(pool.runs.length, 1, 'the next batch of lines waits, although the worker could hold it');
  t.equal(batcher.queued, BATCH_MAX);
  await land();
  t.strictSame(rows(pool.runs.map(({ task }) => task)), [BATCH_MAX]);
  await land();
  t.equal(batcher.pending, 20 - 2 * BATCH_MAX);
  batcher.release(20 - 2 * BATCH_MAX, undefined);
});

t.test('a single request passes every line that does not run', async (t) => {
  const setup = setUpLines(t);
  const { batcher, pool, single, land } = setup;
  batcher.reserve(8, undefined);
  feed(setup, 4);
  await turn();
  feed(setup, 4);
  const caller = single();
  await turn();
  t.strictSame(rows(pool.runs.map(({ task }) => task)), [4, 1], 'after the lines that run, at once');
  await land();
  await land();
  t.strictSame(caller.told, ['scored']);
  await land();
  await batcher.drained();
});

t.test('under a load of singles lines get their turn, but none waits for two batches', async (t) => {
  const setup = setUpLines(t, 200);
  const { batcher, pool, clock, single, firstRun } = setup;
  batcher.reserve(40, undefined);
  /** By request that waits: batches of lines that ended meanwhile. */
  const waiting = new Map<Caller, number>();
  let linesLeft = 40;
  let linesRan = 0;
  let most = 0;
  const landOne = async (): Promise<void> => {
    const run = firstRun();
    const isOfLines = ageIn(run.block, run.task.first) === LINE_AGE;
    run.land();
    if (isOfLines) linesRan++;
    for (const [caller, count] of waiting) {
      most = Math.max(most, count);
      if (caller.told.length > 0) waiting.delete(caller);
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
});

t.test('of places for explained lines no holder has more than its share', async (t) => {
  const { batcher } = setUp(t, { explainsEach: true, queueMax: 30, linesMax: 10 });
  t.equal(batcher.reserve(7, 1), 'admitted');
  t.equal(batcher.reserve(4, 1), 'shareFull');
  t.equal(batcher.reserve(4, 2), 'admitted');
  t.equal(batcher.pendingOf(1), 7);
  batcher.admitLine(requestOfAge(LINE_AGE), Object.assign(new Caller(), { holder: 1 }), 0);
  t.equal(batcher.pendingOf(1), 7, 'a line that came holds the place that was taken for it');
  batcher.release(6, 1);
  batcher.release(4, 2);
  t.equal(batcher.pendingOf(2), 0);
});
