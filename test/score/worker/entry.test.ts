import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { OUTPUT_COLUMNS } from '#acuity/model/tensors.js';
import { blockAt, writeRow } from '#acuity/score/batchBuffers.js';
import { openPool, runOnce } from '#acuity/score/pool.js';
import { MODEL, graphsOf } from '../../fixtures/model.js';
import { requestBody } from '../../fixtures/bodies.js';
import { REPOSITORY } from '../../fixtures/repository.js';
import { requestOf } from '../../fixtures/requests.js';

const BATCH_MAX = 8;
const BLOCKS = 4;
const ROUNDS = 50;

t.test('batches handed to a worker at once do not see each other’s rows', async (t) => {
  const pool = openPool({
    workers: 1,
    batchMax: BATCH_MAX,
    blocks: BLOCKS,
    graphs: graphsOf(MODEL),
    session: { intraOpThreads: 1, interOpThreads: 1, spinning: false },
    onWorkerLost: (error) => t.fail(error.message),
  });
  t.teardown(() => pool.close());
  t.equal(pool.capacity, 2, 'a worker holds more than one batch, and every block has its turn');
  const blocks = Array.from({ length: BLOCKS }, (_, blockIndex) =>
    blockAt(pool.buffers, BATCH_MAX, blockIndex),
  );
  blocks.forEach((block, blockIndex) => {
    for (let row = 0; row < BATCH_MAX; row++)
      writeRow(block, row, requestOf(requestBody(0, blockIndex * BATCH_MAX + row)));
  });
  const run = (blockIndex: number) =>
    runOnce(pool, { variant: 'base', blockIndex, first: 0, rows: BATCH_MAX });
  const alone: Float32Array[] = [];
  for (let blockIndex = 0; blockIndex < BLOCKS; blockIndex++) {
    await run(blockIndex);
    alone.push(Float32Array.from(blocks[blockIndex]?.scores ?? []));
  }
  t.notSame(alone[0], alone[1], 'the rows tell the blocks apart');
  t.equal(alone[0]?.length, BATCH_MAX * OUTPUT_COLUMNS);
  for (let round = 0; round < ROUNDS; round++) {
    for (const { scores } of blocks) scores.fill(-1);
    for (let blockIndex = 0; blockIndex < BLOCKS; blockIndex += pool.capacity) {
      await Promise.all(Array.from({ length: pool.capacity }, (_, next) => run(blockIndex + next)));
    }
    const wrong = blocks.findIndex(({ scores }, blockIndex) =>
      scores.some((score, index) => score !== alone[blockIndex]?.[index]),
    );
    if (wrong !== -1) return t.fail(`block ${wrong} got other scores in round ${round}`);
  }
  t.pass('each block got its own scores');
});

/** What a compiled file imports when it runs, and what those files import; packages by their names. */
function importsOf(file: string, seen = new Set<string>()): Set<string> {
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/^import\b[^;]*?'([^']+)';/gm)) {
    const rules = name.startsWith('#rules/') && join(REPOSITORY, 'dist', name.slice(1));
    const path = rules || (name.startsWith('.') ? join(dirname(file), name) : name);
    if (!seen.has(path) && seen.add(path) && path !== name) importsOf(path, seen);
  }
  return seen;
}

t.test('a worker loads no parser, and no schemas, which take more memory than its network', async (t) => {
  const parser = join(REPOSITORY, 'dist/read/wasmParser.js');
  const worker = importsOf(join(REPOSITORY, 'dist/score/worker/entry.js'));
  t.ok(worker.has('onnxruntime-node'), 'its imports are followed');
  t.notOk(worker.has(parser) || [...worker].some((path) => path.startsWith('typebox')));
  const loop = importsOf(join(REPOSITORY, 'dist/serve/eventLoopServer.js'));
  t.ok(loop.has('typebox') && loop.has(parser), 'an event loop needs both');
});
