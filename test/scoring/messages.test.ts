import t from 'tap';
import { ROW_LENGTHS, blockAt, createArena, slotsOf, type Block } from '#acuity/scoring/messages.js';

const BATCH_MAX = 3;
const SLOTS = 4;
const PIECES = Object.keys(ROW_LENGTHS) as (keyof Block)[];

t.test('an arena holds its blocks and nothing else', async (t) => {
  const arena = createArena(SLOTS, BATCH_MAX);
  t.equal(slotsOf(arena, BATCH_MAX), SLOTS);
  const { session, scores } = blockAt(arena, BATCH_MAX, SLOTS - 1);
  t.equal(session.length, BATCH_MAX * ROW_LENGTHS.session);
  t.equal(scores.byteOffset + scores.byteLength, arena.byteLength);
  t.throws(() => blockAt(arena, BATCH_MAX, SLOTS), RangeError);
});

t.test('no piece of a block touches another one, nor another block', async (t) => {
  const arena = createArena(SLOTS, BATCH_MAX);
  const pieces = Array.from({ length: SLOTS }, (_, slot) => blockAt(arena, BATCH_MAX, slot)).flatMap(
    (block) => PIECES.map((name) => block[name]),
  );
  pieces.forEach((piece, index) => piece.fill(index + 1));
  pieces.forEach((piece, index) => t.ok(piece.every((value) => value === index + 1)));
  const floats = new Float32Array(arena);
  t.ok(floats.every((value) => value > 0));
});

t.test('two views of a block see the same floats', async (t) => {
  const arena = createArena(SLOTS, BATCH_MAX);
  blockAt(arena, BATCH_MAX, 2).present[1] = 7;
  t.equal(blockAt(arena, BATCH_MAX, 2).present[1], 7);
  t.equal(blockAt(arena, BATCH_MAX, 1).present[1], 0);
});
