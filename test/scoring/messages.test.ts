import t from 'tap';
import {
  ROW_LENGTHS,
  blockAt,
  createArena,
  readRow,
  slotsOf,
  writeRow,
  type Block,
} from '#acuity/scoring/messages.js';
import { requestBody } from '../fixtures/bodies.js';
import { requestOf } from '../fixtures/requests.js';

const BATCH_MAX = 3;
const SLOTS = 4;
const PIECES = Object.keys(ROW_LENGTHS) as (keyof Block)[];

t.test('an arena holds its blocks and nothing else', async (t) => {
  const arena = createArena(SLOTS, BATCH_MAX);
  t.equal(slotsOf(arena, BATCH_MAX), SLOTS);
  const { records, scores } = blockAt(arena, BATCH_MAX, SLOTS - 1);
  t.equal(records.length, BATCH_MAX * ROW_LENGTHS.records);
  const left = arena.byteLength - (scores.byteOffset + scores.byteLength);
  t.ok(left >= 0 && left < Float64Array.BYTES_PER_ELEMENT, 'but what the doubles’ bounds need');
  t.throws(() => blockAt(arena, BATCH_MAX, SLOTS), RangeError);
});

t.test('no piece of a block touches another one, nor another block', async (t) => {
  const arena = createArena(SLOTS, BATCH_MAX);
  const pieces = Array.from({ length: SLOTS }, (_, slot) => blockAt(arena, BATCH_MAX, slot)).flatMap(
    (block) => PIECES.map((name) => block[name]),
  );
  pieces.forEach((piece, index) => piece.fill(index + 1));
  pieces.forEach((piece, index) => t.ok(piece.every((value) => value === index + 1)));
});

t.test('two views of a block see the same floats', async (t) => {
  const arena = createArena(SLOTS, BATCH_MAX);
  blockAt(arena, BATCH_MAX, 2).pastCounts[1] = 7;
  t.equal(blockAt(arena, BATCH_MAX, 2).pastCounts[1], 7);
  t.equal(blockAt(arena, BATCH_MAX, 1).pastCounts[1], 0);
});

t.test('a request is read as it was written, and its neighbours are left alone', async (t) => {
  const block = blockAt(createArena(1, BATCH_MAX), BATCH_MAX, 0);
  const bodies = [requestBody(5, 1), requestBody(0, 2), requestBody(3, 3)];
  bodies.forEach((body, row) => writeRow(block, row, requestOf(body)));
  bodies.forEach((body, row) => {
    const { records, targets, pastCount } = requestOf(body);
    const found = readRow(block, row);
    t.equal(found.pastCount, pastCount);
    t.strictSame([...found.records.subarray(0, records.length)], [...records]);
    t.strictSame([...found.targets.subarray(0, targets.length)], [...targets]);
  });
});
