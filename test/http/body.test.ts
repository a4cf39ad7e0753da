import fc from 'fast-check';
import t from 'tap';
import type { HttpResponse } from 'uWebSockets.js';
import { collectBody } from '#acuity/http/body.js';
import { BLOCK_BYTES, furtherBlocks } from '#acuity/http/prices.js';
import { BodyBuffers } from '#acuity/http/bodyBuffers.js';
import { BodyBudget, allocateBodyBudget } from '#acuity/http/bodyBudget.js';
import { budgetOf } from '../fixtures/loop.js';

const BYTES_MAX = 400_000;

interface Reading {
  readonly outcome: string;
  readonly bytes: number;
  readonly blocks: number;
}

/** Hands `pieces` on as the HTTP library does; the last one ends the body unless it is cut short. */
function read(
  pieces: readonly Uint8Array[],
  budget: BodyBudget,
  { isCut = false, declaredBytes = 0 } = {},
): Reading {
  let handler: (chunk: ArrayBuffer, isLast: boolean) => void = () => undefined;
  const res = { onData: (given: typeof handler) => void (handler = given) } as unknown as HttpResponse;
  let outcome = 'unfinished';
  let bytes = 0;
  let blocks = 0;
  const end = collectBody(
    res,
    { declaredBytes, bytesMax: BYTES_MAX, budget, buffers: new BodyBuffers(), holder: 3 },
    {
      complete: (whole) => {
        outcome = 'complete';
        bytes = whole.length;
        if (Buffer.compare(whole, NUMBERED.subarray(0, bytes)) !== 0) outcome = 'a byte is wrong';
      },
      tooLarge: () => (outcome = 'tooLarge'),
      overBudget: (cause) => (outcome = cause),
      moreBlocks: (more) => (blocks += more),
    },
  );
  pieces.forEach((piece, index) => {
    handler(Uint8Array.from(piece).buffer, !isCut && index === pieces.length - 1);
  });
  if (isCut) end();
  return { outcome, bytes, blocks };
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
        const pieces = split(
          NUMBERED.subarray(0, length),
          cuts.map((share) => Math.floor(share * length)),
        );
        const { outcome, bytes, blocks } = read(pieces, budget, {
          isCut,
          declaredBytes: isDeclared ? length : 0,
        });
        if (budget.heldBytes !== 0) throw new Error(`${budget.heldBytes} bytes are held`);
        if (length > BYTES_MAX) return outcome === 'tooLarge';
        if (blocks !== furtherBlocks(length)) throw new Error(`${blocks} blocks`);
        return isCut ? outcome === 'unfinished' : outcome === 'complete' && bytes === length;
      },
    ),
    { numRuns: 300 },
  );
});

t.test('bodies that are kept never share memory, however often their memory is given back', async (t) => {
  const [budget, buffers] = [budgetOf(10 * BYTES_MAX), new BodyBuffers()];
  const keep = (byte: number): { readonly bytes: Uint8Array; giveBack(): void } => {
    let handler: (chunk: ArrayBuffer, isLast: boolean) => void = () => undefined;
    const res = { onData: (given: typeof handler) => void (handler = given) } as unknown as HttpResponse;
    const kept: { bytes: Uint8Array; giveBack: () => void }[] = [];
    const unexpected = (): void => void t.fail('refused');
    const options = { declaredBytes: 200_000, bytesMax: BYTES_MAX, budget, buffers, holder: 3, isKept: true };
    const stop = collectBody(res, options, {
      complete: (bytes, giveBack) => void kept.push({ bytes, giveBack }),
      tooLarge: unexpected,
      overBudget: unexpected,
      moreBlocks: () => undefined,
    });
    for (const piece of [1, 2]) handler(new Uint8Array(100_000).fill(byte).buffer, piece === 2);
    stop(); // the request is aborted: what is kept stays
    const [body] = kept;
    if (body === undefined) throw new Error('not complete');
    return body;
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
    t.ok(
      bytes.every((byte) => byte === index + 2),
      `body ${index + 2} is whole`,
    );
    giveBack();
  }
  t.equal(budget.heldBytes, 0);
});

t.test('a block costs as it begins, the first one nothing', async (t) => {
  t.strictSame(
    [0, 1, BLOCK_BYTES, BLOCK_BYTES + 1, 2 * BLOCK_BYTES, 2 * BLOCK_BYTES + 1, 1_400_000, NaN].map(
      furtherBlocks,
    ),
    [0, 0, 0, 1, 1, 2, 21, 0],
  );
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
  for (const holder of [1, 2, 6])
    for (let body = 0; body < 4; body++) t.equal(one.take(holder, 65_536), 'taken');
  t.ok(other.isExhausted);
  t.equal(other.take(7, 1), 'full');
  for (const holder of [1, 2, 6]) for (let body = 0; body < 4; body++) one.give(holder, 65_536);
  for (let body = 0; body < 4; body++) (body % 2 === 0 ? one : other).give(5, 65_536);
  t.strictSame([one.heldBytes, other.heldBytes, one.isExhausted], [0, 0, false]);
  t.strictSame(
    [...new Int32Array(memory)],
    Array.from({ length: 9 }, () => 0),
  );
});
