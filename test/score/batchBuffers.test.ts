import t from 'tap';
import {
  adjustmentsAt,
  ROW_LENGTHS,
  blockAt,
  createBatchBuffers,
  EXPLAINED_ROWS_MAX,
  blockCountOf,
  usualAt,
  writeRow,
  writeExplained,
  type Block,
} from '#acuity/score/batchBuffers.js';
import { requestBody } from '../fixtures/bodies.js';
import { requestOf } from '../fixtures/requests.js';

const BATCH_MAX = 3;
const BLOCKS = 4;
const PIECES = Object.keys(ROW_LENGTHS) as (keyof Block)[];

t.test('buffers hold their blocks and nothing else', async (t) => {
  const buffers = createBatchBuffers(BLOCKS, BATCH_MAX);
  t.equal(blockCountOf(buffers, BATCH_MAX), BLOCKS);
  const { records, explanations } = blockAt(buffers, BATCH_MAX, BLOCKS - 1);
  t.equal(records.length, BATCH_MAX * ROW_LENGTHS.records);
  const left = buffers.byteLength - (explanations.byteOffset + explanations.byteLength);
  t.ok(left >= 0 && left < Float64Array.BYTES_PER_ELEMENT, 'but what the doubles’ bounds need');
  t.throws(() => blockAt(buffers, BATCH_MAX, BLOCKS), RangeError);
});

t.test('no piece of a block touches another one, nor another block', async (t) => {
  const buffers = createBatchBuffers(BLOCKS, BATCH_MAX);
  const pieces = Array.from({ length: BLOCKS }, (_, blockIndex) =>
    blockAt(buffers, BATCH_MAX, blockIndex),
  ).flatMap((block) => PIECES.map((name) => block[name]));
  pieces.forEach((piece, index) => piece.fill(index + 1));
  pieces.forEach((piece, index) => t.ok(piece.every((value) => value === index + 1)));
});

t.test('a request is read as it was written, and its neighbours are left alone', async (t) => {
  const block = blockAt(createBatchBuffers(1, BATCH_MAX), BATCH_MAX, 0);
  const bodies = [requestBody(5, 1), requestBody(0, 2), requestBody(3, 3)];
  bodies.forEach((body, row) => writeRow(block, row, requestOf(body)));
  bodies.forEach((body, row) => {
    const { records, targets, pastCount } = requestOf(body);
    t.equal(block.pastCounts[row], pastCount);
    const [record, target] = [row * ROW_LENGTHS.records, row * ROW_LENGTHS.targets];
    t.strictSame([...block.records.subarray(record, record + records.length)], [...records]);
    t.strictSame([...block.targets.subarray(target, target + targets.length)], [...targets]);
  });
});

t.test('what else explains a row is read as it was written, and a row without it has none', async (t) => {
  const block = blockAt(createBatchBuffers(1, BATCH_MAX), BATCH_MAX, 0);
  const usual = Float64Array.from({ length: ROW_LENGTHS.usuals }, (_, at) => (at === 7 ? NaN : at));
  const adjustments = Float64Array.from({ length: ROW_LENGTHS.adjustments }, (_, index) => 1 + index);
  const plain = requestOf(requestBody(5));
  for (const [more, readAt, whole] of [
    [{ usual }, (row: number) => usualAt(block, row)?.slice(1), usual.slice(1)],
    [{ adjustments }, (row: number) => adjustmentsAt(block, row), adjustments],
  ] as const) {
    for (let row = 0; row < EXPLAINED_ROWS_MAX; row++)
      writeExplained(block, row, { ...requestOf(requestBody(0)), ...more });
    t.strictSame(readAt(1), whole);
    writeExplained(block, 1, plain);
    t.strictSame([readAt(0), readAt(1)], [whole, undefined]);
  }
  writeExplained(block, 1, { ...plain, usual });
  t.equal(adjustmentsAt(block, 1), undefined);
});
