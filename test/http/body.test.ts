import fc from 'fast-check';
import t from 'tap';
import type { HttpResponse } from 'uWebSockets.js';
import { collectBody } from '#acuity/http/body.js';
import { BLOCK_BYTES, furtherBlocks } from '#acuity/http/prices.js';
import { BodyBuffers } from '#acuity/http/bodyBuffers.js';
import { BodyBudget, allocateBodyBudget } from '#acuity/http/bodyBudget.js';
import { budgetOf } from '../fixtures/loop.js';

const BYTES_MAX = 400_000;

interface Way {
  readonly declaredBytes?: number;
  readonly buffers?: BodyBuffers;
  readonly isKept?: boolean;
}

/** A body that is collected: `give` hands a piece on as the HTTP library does, `got` is what has come of it. */
function collecting(
  budget: BodyBudget,
  { declaredBytes = 0, buffers = new BodyBuffers(), isKept = false }: Way = {},
) {
  let handler: (chunk: ArrayBuffer, isLast: boolean) => void = () => undefined;
  const res = { onData: (given: typeof handler) => void (handler = given) } as unknown as HttpResponse;
  const got = {
    outcome: 'unfinished',
    bytes: new Uint8Array(0),
    blocks: 0,
    giveBack: () => undefined as void,
  };
  const options = { declaredBytes, bytesMax: BYTES_MAX, budget, buffers, holder: 3, isKept };
  const stop = collectBody(res, options, {
    complete: (bytes, giveBack) => Object.assign(got, { outcome: 'complete', bytes, giveBack }),
    tooLarge: () => (got.outcome = 'tooLarge'),
    overBudget: (cause) => (got.outcome = cause),
    moreBlocks: (more) => (got.blocks += more),
    tooManyPieces: () => (got.outcome = 'tooManyPieces'),
  });
  const give = (piece: Uint8Array, isLast: boolean) => handler(Uint8Array.from(piece).buffer, isLast);
  return { got, stop, give };
}

/** Hands on `pieces` of `NUMBERED`; the last one ends the body unless it is cut short. */
function read(pieces: readonly Uint8Array[], budget: BodyBudget, { isCut = false, declaredBytes = 0 } = {}) {
  const { got, stop, give } = collecting(budget, { declaredBytes });
  pieces.forEach((piece, index) => give(piece, !isCut && index === pieces.length - 1));
  if (isCut) stop();
  const isWhole = Buffer.compare(got.bytes, NUMBERED.subarray(0, got.bytes.length)) === 0;
  return { ...got, outcome: isWhole ? got.outcome : 'a byte is wrong' };
}

const NUMBERED = Uint8Array.from({ length: BYTES_MAX + 1000 }, (_, at) => at % 251);

function split(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const ends = [...at, bytes.length].toSorted((one, other) => one - other);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

t.test('a head in a packet of its own comes with an empty piece, for which nothing is held', async (t) => {
  const budget = budgetOf(BYTES_MAX);
  for (let request = 0; request < 3_000; request++) {
    const { outcome } = read([new Uint8Array(0), NUMBERED.subarray(0, 100)], budget);
    if (outcome !== 'complete') return t.fail(`request ${request}: ${outcome}`);
  }
  t.equal(budget.heldBytes, 0);
});

t.test('however a body comes, it is read whole, paid for, and then holds nothing', async () => {
  const budget = budgetOf(10 * BYTES_MAX);
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: BYTES_MAX + 1000 }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
      fc.boolean(),
      fc.boolean(),
      (length, cuts, isCut, isDeclared) => {
        const places = cuts.map((share) => Math.floor(share * length));
        const pieces = split(NUMBERED.subarray(0, length), places);
        const declaredBytes = isDeclared ? length : 0;
        const { outcome, bytes, blocks } = read(pieces, budget, { isCut, declaredBytes });
        if (budget.heldBytes !== 0) throw new Error(`${budget.heldBytes} bytes are held`);
        if (length > BYTES_MAX) return outcome === 'tooLarge';
        if (blocks !== furtherBlocks(length)) throw new Error(`${blocks} blocks`);
        return isCut ? outcome === 'unfinished' : outcome === 'complete' && bytes.length === length;
      },
    ),
    { numRuns: 300 },
  );
});

t.test('bodies that are kept never share memory, however often their memory is given back', async (t) => {
  const [budget, buffers] = [budgetOf(10 * BYTES_MAX), new BodyBuffers()];
  const keep = (byte: number) => {
    const { got, stop, give } = collecting(budget, { declaredBytes: 200_000, buffers, isKept: true });
    for (const piece of [1, 2]) give(new Uint8Array(100_000).fill(byte), piece === 2);
    stop(); // the request is aborted: what is kept stays
    t.equal(got.outcome, 'complete');
    return got;
  };
  const first = keep(1);
  t.equal(budget.heldBytes, 200_704, 'in whole units');
  first.giveBack();
  first.giveBack();
  t.equal(budget.heldBytes, 0);
  const [second, third] = [keep(2), keep(3)];
  t.equal(second.bytes.buffer, first.bytes.buffer, 'used again');
  first.giveBack();
  const fourth = keep(4);
  for (const [index, { bytes, giveBack }] of [second, third, fourth].entries()) {
    t.equal(bytes.length, 200_000);
    const isWhole = bytes.every((byte) => byte === index + 2);
    t.ok(isWhole, `body ${index + 2} is whole`);
    giveBack();
  }
  t.equal(budget.heldBytes, 0);
});

t.test('a block costs as it begins, the first one nothing', async (t) => {
  const lengths = [0, 1, BLOCK_BYTES, BLOCK_BYTES + 1, 2 * BLOCK_BYTES, 2 * BLOCK_BYTES + 1, 1_400_000, NaN];
  t.strictSame(lengths.map(furtherBlocks), [0, 0, 0, 1, 1, 2, 21, 0]);
});

t.test('what one key may hold leaves room for others, over all event loops', async (t) => {
  const memory = allocateBodyBudget(8);
  const [one, other] = [0, 1].map(
    () => new BodyBudget({ memory, bytesMax: 1_048_576, bodyBytesMax: 65_536 }),
  );
  if (one === undefined || other === undefined) throw new Error('two');
  for (let body = 0; body < 4; body++) t.equal((body % 2 === 0 ? one : other).take(5, 65_536), 'taken');
  t.equal(one.take(5, 1), 'shareFull');
  t.equal(other.take(5, 65_537, 65_536), 'shareFull', 'a buffer that grows counts the difference');
  t.equal(one.heldBytes, 131_072, 'each loop tells of its own');
  t.equal(one.take(6, 196_609), 'full', 'another key gets a quarter of the rest');
  t.equal(one.take(6, 196_608), 'taken');
  one.give(6, 196_608);
  for (let body = 0; body < 4; body++) (body % 2 === 0 ? one : other).give(5, 65_536);
  t.strictSame([one.heldBytes, other.heldBytes], [0, 0]);
  t.strictSame(new Int32Array(memory), new Int32Array(9));
});

t.test('no number of keys takes all that bodies may hold', async (t) => {
  const [bytesMax, keys] = [1_048_576, 20];
  const budget = new BodyBudget({ memory: allocateBodyBudget(keys + 1), bytesMax, bodyBytesMax: 65_536 });
  for (let key = 0; key < keys; key++) {
    const before = budget.heldBytes;
    while (budget.take(key, 1_024) === 'taken');
    const share = (bytesMax - before) / 4;
    t.ok(Math.abs(budget.heldBytes - before - share) < 1_024, `key ${key}: ${share}`);
  }
  t.equal(budget.take(keys, 512), 'taken', 'one more key has its part');
});

t.test(
  'the longest body fits while nothing else is held, and of more only one key has as much',
  async (t) => {
    const budget = new BodyBudget({
      memory: allocateBodyBudget(3),
      bytesMax: 1_048_576,
      bodyBytesMax: 524_288,
    });
    t.equal(budget.take(0, 524_288), 'taken');
    t.equal(budget.take(0, 1), 'shareFull');
    t.equal(budget.take(1, 131_073), 'full');
    t.equal(budget.take(1, 131_072), 'taken');
  },
);
