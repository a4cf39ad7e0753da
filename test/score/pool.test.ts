import t from 'tap';
import { OUTPUT_COLUMNS } from '#acuity/model/tensors.js';
import { blockAt, blockCountOf, type Block } from '#acuity/score/batchBuffers.js';
import { openPool, runOnce, blocksFor } from '#acuity/score/pool.js';
import { BAD_AGES, writeAge } from '../fixtures/ages.js';
import { until } from '../fixtures/until.js';

const BATCH_MAX = 4;
const BLOCKS = 8;

const losses: Error[] = [];
const OPTIONS = {
  workers: 1,
  batchMax: BATCH_MAX,
  blocks: BLOCKS,
  session: { intraOpThreads: 1, interOpThreads: 1, spinning: false },
  onWorkerLost: (error: Error) => void losses.push(error),
};
const NO_GRAPHS = { base: '', history: '' };
const MOODY = new URL('../fixtures/moodyWorker.js', import.meta.url);

/**
 * One worker for all tests, without a network, that goes wrong where a row says so. Each loss is waited out by
 * the next run: ending a thread that is still starting can end the process.
 */
const pool = openPool({ ...OPTIONS, graphs: NO_GRAPHS, workerUrl: MOODY });
t.teardown(() => pool.close());

function block(blockIndex: number): Block {
  return blockAt(pool.buffers, BATCH_MAX, blockIndex);
}

/** Writes a row of each age to block `blockIndex` and runs them. */
function run(blockIndex: number, ages: readonly number[]): Promise<number> {
  ages.forEach((age, row) => writeAge(block(blockIndex), row, age));
  return runOnce(pool, { variant: 'base', blockIndex, first: 0, rows: ages.length });
}

function scores({ scores: all }: Block, column = 0): number[] {
  return Array.from({ length: BATCH_MAX }, (_, row) => all[row * OUTPUT_COLUMNS + column] ?? NaN);
}

t.test('it runs the rows that it is told to and no others', async (t) => {
  for (let row = 0; row < BATCH_MAX; row++) writeAge(block(3), row, 10 + row);
  t.equal(await runOnce(pool, { variant: 'base', blockIndex: 3, first: 1, rows: 2 }), 2);
  t.strictSame(scores(block(3)), [0, 11, 12, 0]);
});

t.test('a worker that exits fails what it had at hand, and another takes its place', async (t) => {
  await run(0, [1]);
  const [lost] = scores(block(0), 1);
  const outcomes = await Promise.allSettled([run(1, [BAD_AGES.exits]), run(2, [2])]);
  t.match(outcomes, [{ status: 'rejected' }, { status: 'rejected' }]);
  await run(3, [3]);
  t.equal(scores(block(3))[0], 3);
  t.not(scores(block(3), 1)[0], lost);
  t.equal(losses.length, 1);
  losses.length = 0;
});

t.test('a run that goes wrong in the worker rejects with its reason', async (t) => {
  for (const way of ['throws', 'rejects'] as const) await t.rejects(run(0, [BAD_AGES[way]]), /moody/, way);
});

t.test('no more batches at once than the workers hold', async (t) => {
  const held = [run(0, [5]), run(1, [6])];
  await t.rejects(run(2, [7]), RangeError);
  await Promise.all(held);
  t.strictSame([scores(block(0))[0], scores(block(1))[0]], [5, 6]);
});

t.test('workers that cannot start fail the warm-up', async (t) => {
  const graphs = { base: '/nowhere/base.onnx', history: '/nowhere/history.onnx' };
  const broken = openPool({ ...OPTIONS, workers: 2, graphs });
  t.teardown(() => broken.close());
  await t.rejects(broken.warmUp(), /nowhere/);
});

t.test('it says which workers are in a run; halted, it begins no other', async (t) => {
  const halted = openPool({ ...OPTIONS, workers: 2, graphs: NO_GRAPHS, workerUrl: MOODY });
  t.teardown(() => halted.close());
  t.equal(halted.isStarting, true);
  await halted.warmUp();
  t.equal(halted.isStarting, false);
  const runOf = (blockIndex: number, age: number): Promise<number> => {
    writeAge(blockAt(halted.buffers, BATCH_MAX, blockIndex), 0, age);
    return runOnce(halted, { variant: 'base', blockIndex, first: 0, rows: 1 });
  };
  const lagging = runOf(0, BAD_AGES.lags);
  t.match(halted.atWork, [{ name: 'worker 1 for scores' }]);
  halted.halt();
  void runOf(1, 1).then(() => t.fail('it began a run'));
  t.match(halted.atWork, [{ name: 'worker 1 for scores' }]);
  await lagging;
  await until(() => halted.atWork.length === 0);
});

t.test('blocks: of a full queue, being filled, of lines, under way, to be written', async (t) => {
  t.equal(blocksFor(2048, 32, 1), 64 + 2 + 3 + 2 + 32);
  t.equal(blocksFor(1, 32, 3), 1 + 2 + 3 + 6 + 1);
  t.equal(blockCountOf(pool.buffers, BATCH_MAX), BLOCKS);
});
