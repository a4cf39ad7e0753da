import t from 'tap';
import { prepareEnvironment } from '#acuity/config/options.js';
import { FEATURE_COUNT } from '#acuity/contract/features.js';
import { PAST_MAX } from '#acuity/contract/request.js';
import { OUTPUT_COLUMNS } from '#acuity/model/manifest.js';
import { featurisePast, featuriseSession } from '#acuity/pipeline/featurise.js';
import {
  blockAt,
  createArena,
  type Block,
  type Lane,
  type SessionOptions,
} from '#acuity/scoring/messages.js';
import { requestBody } from '../fixtures/bodies.js';
import { MODEL, graphsOf } from '../fixtures/model.js';
import { below, seededRandom } from '../fixtures/random.js';
import { requestOf } from '../fixtures/requests.js';

// Before ONNX Runtime loads: it reports usage unless told not to.
prepareEnvironment();
const { openGraph } = await import('#acuity/worker/session.js');

const BATCH_MAX = 8;
const LANES: readonly Lane[] = ['base', 'history'];
const OPTIONS: SessionOptions = { intraOpThreads: 1, interOpThreads: 1, spinning: false };

function newBlock(): Block {
  return blockAt(createArena(1, BATCH_MAX), BATCH_MAX, 0);
}

/** Writes a request, another one for each seed, as the row of a lane. */
function fill(block: Block, row: number, lane: Lane, seed: number): void {
  const request = requestOf(requestBody(lane === 'history' ? 1 + (seed % PAST_MAX) : 0, seed));
  featuriseSession(request, 0, block.session, row * FEATURE_COUNT);
  if (lane === 'history') featurisePast(request, block, row);
}

function scoresOf(block: Block, row: number): number[] {
  return [...block.scores.subarray(row * OUTPUT_COLUMNS, (row + 1) * OUTPUT_COLUMNS)];
}

function areClose(one: readonly number[], other: readonly number[]): boolean {
  return one.every((value, index) => Math.abs(value - (other[index] ?? NaN)) <= 1e-3);
}

for (const lane of LANES) {
  t.test(`${lane}: each row of a batch has the scores that it has alone`, async (t) => {
    const graph = await openGraph(lane, graphsOf(MODEL)[lane], BATCH_MAX, OPTIONS);
    const batch = newBlock();
    for (let row = 0; row < BATCH_MAX; row++) fill(batch, row, lane, row);
    t.ok((await graph.run(batch, 0, BATCH_MAX)) >= 0);
    for (let row = 0; row < BATCH_MAX; row++) {
      const alone = newBlock();
      fill(alone, 0, lane, row);
      await graph.run(alone, 0, 1);
      t.ok(areClose(scoresOf(alone, 0), scoresOf(batch, row)), `row ${row}`);
    }
    t.notOk(areClose(scoresOf(batch, 0), scoresOf(batch, 1)), 'two people, two answers');
  });

  t.test(`${lane}: a part of a batch is read from its rows and written to them`, async (t) => {
    const graph = await openGraph(lane, graphsOf(MODEL)[lane], BATCH_MAX, OPTIONS);
    const whole = newBlock();
    const part = newBlock();
    for (let row = 0; row < BATCH_MAX; row++) {
      fill(whole, row, lane, row);
      fill(part, row, lane, row);
    }
    await graph.run(whole, 0, BATCH_MAX);
    await graph.run(part, 3, 2);
    for (let row = 0; row < BATCH_MAX; row++) {
      const expected = row === 3 || row === 4 ? scoresOf(whole, row) : [0, 0, 0, 0, 0, 0, 0];
      t.ok(areClose(scoresOf(part, row), expected), `row ${row}`);
    }
  });

  t.test(`${lane}: scores are 0 to 100 and probabilities 0 to 1, for anybody`, async (t) => {
    const graph = await openGraph(lane, graphsOf(MODEL)[lane], BATCH_MAX, OPTIONS);
    const random = seededRandom(9);
    for (let run = 0; run < 50; run++) {
      const block = newBlock();
      for (const piece of [block.session, block.past, block.targets]) {
        // Far outside of any cohort, at the ends of what featurising gives.
        piece.forEach((_, index) => (piece[index] = [0, 4, -4, 8 * random() - 4][below(random, 4)] ?? 0));
      }
      block.present.forEach((_, index) => (block.present[index] = below(random, 2)));
      await graph.run(block, 0, BATCH_MAX);
      for (let row = 0; row < BATCH_MAX; row++) {
        const [valence, arousal] = scoresOf(block, row).slice(5);
        const numbers = scoresOf(block, row).slice(0, 5);
        if (!numbers.every((score) => score >= 0 && score <= 100)) t.fail(numbers.join());
        if (![valence, arousal].every((share) => share !== undefined && share >= 0 && share <= 1)) {
          t.fail(`${valence} ${arousal}`);
        }
      }
    }
    t.pass();
  });
}

t.test('a batch above the most is refused', async (t) => {
  const graph = await openGraph('base', graphsOf(MODEL).base, 2, OPTIONS);
  await t.rejects(graph.run(blockAt(createArena(1, 4), 4, 0), 0, 3));
});

t.test('a file that is no graph is refused', async (t) => {
  await t.rejects(openGraph('base', `${MODEL}/manifest.json`, 2, OPTIONS));
});
