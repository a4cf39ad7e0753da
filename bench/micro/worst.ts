import { seededRandom } from '#acuity/base/random.js';
import { textTable } from '#acuity/base/table.js';
import { bodiesOf } from '#acuity/load/payloads.js';
import { createReader } from '#acuity/reading/read.js';
import { FAMILIES, measure, measureBody, searchFamily, type SearchOptions } from '#bench/worst/search.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';

const MEBIBYTE = 1 << 20;
const BYTES = 65_536;

/**
 * The bodies that hold an event loop longest, by what they are full of: of each family the dearest that a search finds, and
 * the same at 4 MiB. Each answer is compared with that of plain code.
 */
export function worstTable(rounds: number): string {
  const options: SearchOptions = {
    read: createReader(DEFAULT_SERIES_LIMITS),
    isChecked: true,
    bytes: BYTES,
    starts: 4 * rounds,
    steps: 8 * rounds,
    measureMs: 5,
    random: seededRandom(1),
  };
  const rows = FAMILIES.map((family) => {
    const small = searchFamily(family, options);
    return { small, large: measure({ ...small.genome, bytes: 4 * MEBIBYTE }, options) };
  }).toSorted((a, b) => b.small.msPerToken - a.small.msPerToken);
  const plain = Buffer.from(bodiesOf('baseline', 1)[0] ?? '');
  const parseMs = measureBody(plain, (bytes) => JSON.parse(Buffer.from(bytes).toString()) as object, 20);
  const lines = rows.map(({ small: { genome, ms, msPerToken }, large }) => {
    const { item, place, size, spaces, ending, filler, isWithin } = genome;
    const figures = [ms, msPerToken, large.ms, large.msPerToken].map((value) => value.toFixed(2));
    const body = [place, `size ${size}`, `${spaces} spaces`, ending, filler, isWithin ? 'within bounds' : ''];
    return [item, ...figures, body.join(' ').trim()];
  });
  const header = ['family', 'ms', 'ms/token', '4 MiB: ms', 'ms/token', 'body'];
  return `JSON.parse of a plain body: ${(1000 * parseMs).toFixed(1)} µs; the dearest body of each family at ${BYTES} bytes\n\n${textTable([header, ...lines])}`;
}
