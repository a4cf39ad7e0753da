import t from 'tap';
import { OUTCOMES, rawCases } from '../fixtures/rawCases.js';
import { expectedOutcome, observedOutcome } from '../fixtures/rawOutcome.js';
import { startServer } from '../fixtures/server.js';

/**
 * What the HTTP library makes of odd bytes, pinned: `docs/HTTP-EDGES.md` promises this and no more. Where a case comes
 * out otherwise with another version of the library, the document is what to change, once it is
 * clear that a proxy in front still reads the same requests as we do.
 */

const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'fatal' } });
const cases = rawCases(server.key);
// Most of the time goes into waiting for time-outs: all of them wait at once.
const outcomes = await Promise.all(cases.map((rawCase) => observedOutcome(server, rawCase)));

for (const what of new Set(cases.map((rawCase) => rawCase.what))) {
  t.test(what, async (t) => {
    for (const [index, rawCase] of cases.entries()) {
      if (rawCase.what !== what) continue;
      t.equal(outcomes[index], expectedOutcome(rawCase), JSON.stringify(rawCase.pieces.map(shortened)));
    }
  });
}

/** Keys and long values don't help the reader of a failure. */
function shortened(piece: string): string {
  return piece
    .replaceAll(server.key, 'KEY')
    .replace(/a{100,}/, 'a…a')
    .slice(0, 300);
}

t.test('the document lists these cases, and no others', async (t) => {
  t.strictSame(new Set(cases.map(({ what }) => what)), new Set(OUTCOMES.keys()));
});
